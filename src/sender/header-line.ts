import { HookproofError } from "../errors.js";
import type { HeaderPair } from "../protocol/headers.js";

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that are the protocol's own, or that say how the connection is used. */
const RESERVED =
  /^(?:webhook-.*|authorization|content-(?:type|length|encoding)|transfer-encoding|te|trailer|host|connection|keep-alive|upgrade|expect|proxy-.*)$/i;

/** A header line that cannot break out of its line, or a refusal. */
export function headerLine([name, value]: HeaderPair): HeaderPair {
  if (isLine(name, value)) return [name, value];
  throw new HookproofError(
    "HEADER_INVALID",
    `The header ${JSON.stringify(name)} has characters that are not allowed, such as a line break.`,
  );
}

/** A caller's headers as lines, or a refusal of the first one that cannot be sent along. */
export function extraHeaders(headers: Readonly<Record<string, string>> = {}): HeaderPair[] {
  return Object.entries(headers).map((line) => {
    if (RESERVED.test(line[0]))
      throw new TypeError(`headers must not set ${line[0]}: it belongs to the protocol`);
    return headerLine(line);
  });
}

/** Whether a line that an observer added may be sent along; watching never harms delivery, so others are left out. */
export function isExtra([name, value]: HeaderPair): boolean {
  return isLine(name, value) && !RESERVED.test(name);
}

function isLine(name: string, value: string): boolean {
  return TOKEN.test(name) && FIELD_VALUE.test(value);
}
