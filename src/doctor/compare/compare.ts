// Names what was changed on a request's way.

import { bodyBytes } from "../../core/bytes.js";
import { type HeadersInput, headerLines } from "../../core/headers.js";
import { checkOptions } from "../../core/options.js";
import { type Mistake, withoutFunctions } from "../rows/mistake.js";
import { changesInBody } from "./body.js";
import { changesInHeaders, headerLinesOf, passedThrough } from "./headers.js";
import { changesInTarget } from "./target.js";
import { BODY_CHANGES } from "./way-body-changes.js";
import { HEADER_CHANGES, TARGET_CHANGES, type WayChange } from "./way-changes.js";

/** One side of a comparison: a request as it was sent, or as it was received. */
export interface ComparedRequest {
  /** The HTTP method, such as `POST`. */
  readonly method?: string | undefined;
  /** The whole URL, or its path. */
  readonly url?: string | undefined;
  /** The header lines as captured. */
  readonly headers: HeadersInput;
  /** The body as captured; a text stands for its UTF-8 bytes. Empty if it is missing. */
  readonly body?: string | Uint8Array | undefined;
}

/** Something that happened to a request on its way. */
export interface Change extends Mistake {
  /** Whether it can be why the request is refused. Other changes, such as headers that proxies add, are normal. */
  readonly matters: boolean;
  /** What is known to do it: products, and their settings. */
  readonly by: readonly string[];
}

/** What `compare` found. */
export interface Comparison {
  /** Whether both requests are the same. Then whatever is wrong happens after the request was received. */
  readonly equal: boolean;
  /** What has changed; what matters first. */
  readonly changes: readonly Change[];
  /** The proxies, gateways and platforms that left their headers in the received request. */
  readonly through: readonly string[];
}

/**
 * Names what was changed on a request's way, given as it was sent and as it was received: headers renamed, lost or joined, the
 * body written again, re-encoded, cut or decompressed, the path or host rewritten, the token moved or replaced. It
 * needs no secret. Like `diagnose` it is a tool for developers; its cost grows with the length of both requests.
 *
 * The result contains no body, no signature and no token: of values that may be secret it says their lengths only.
 *
 * @throws {TypeError} for a request without headers, or a body of another type
 *
 * @example
 * ```ts
 * import { compare } from "hookproof/diagnose";
 *
 * const headers = { "Content-Type": "application/json", "Webhook-Signature": "5IR7O7M7coTagTYFSQcd_pWFTM8MOOcTqzRb4CF0BqA" };
 * const { changes } = await compare({
 *   sent: { headers, body: '{"b":1,"a":2}' },
 *   received: { headers, body: '{"a":2,"b":1}' },
 * });
 * changes[0]?.id; // "body-json-order"
 * ```
 */
export async function compare(input: {
  /** The request as it was sent. */
  sent: ComparedRequest;
  /** The request as it was received. */
  received: ComparedRequest;
}): Promise<Comparison> {
  checkOptions("compare", input, { sent: "object", received: "object" });
  const [sent, received] = [read(input.sent, "sent"), read(input.received, "received")];
  const found = [
    ...changesInTarget(sent.target, received.target),
    ...changesInHeaders(sent.headers, received.headers),
    ...(await changesInBody(sent.body, received.body)),
  ];
  const hasToken = sent.headers.values.has("authorization");
  const changes = found.map((change) => changeOf(change, hasToken));
  return {
    equal: changes.length === 0,
    changes: [...changes.filter(({ matters }) => matters), ...changes.filter(({ matters }) => !matters)],
    through: passedThrough(sent.headers, received.headers),
  };
}

/** Every change that `compare` can find, for tools that list or explain them. Ids are stable. */
export const changes: readonly Change[] = [TARGET_CHANGES, HEADER_CHANGES, BODY_CHANGES].flatMap(
  (table: Readonly<Record<string, WayChange>>) =>
    Object.values(table).map((change) => changeOf(change, true)),
);

function changeOf({ matters, by, ...row }: WayChange, hasToken: boolean): Change {
  return {
    ...withoutFunctions(row),
    matters: matters === undefined || (matters === "with a token" && hasToken),
    by,
  };
}

function read(request: ComparedRequest, name: string) {
  const { method, url, headers, body = "" } = request ?? {};
  if (typeof headers !== "object" || headers === null)
    throw new TypeError(`${name}.headers must be a Headers object, pairs or a record`);
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError(`${name}.body must be the exact text or bytes (string or Uint8Array)`);
  const lines = headerLinesOf(headerLines(headers));
  return {
    target: { method, url, host: lines.values.get("host")?.[0] },
    headers: lines,
    body: bodyBytes(body),
  };
}
