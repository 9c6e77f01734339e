// Reads the headers of a request from the JSON forms that programs keep them in.
import type { HeaderPair } from "hookproof";
import { usageError } from "../failure.js";
import { parseHeaderLines } from "./raw-request.js";

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Headers as lines, as pairs, as Node's flat list, as `{name, value}` or `{key, value}`, or as an object, whose values may be
 * lists. Names as CGI has them become those of the headers.
 */
export function pairsOf(headers: unknown): HeaderPair[] {
  if (typeof headers === "string")
    return /^\s*[{[]/.test(headers) ? pairsOf(inJson(headers)) : parseHeaderLines(headers.split(/\r?\n/));
  const pairs = Array.isArray(headers) ? pairsOfList(headers) : pairsOfObject(headers);
  const isCgi = pairs.some(([name]) => /^HTTP_[A-Z0-9_]+$/.test(name));
  return isCgi ? pairs.map(([name, value]) => [ofCgi(name), value]) : pairs;
}

function inJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unknownHeaders();
  }
}

function pairsOfList(list: readonly unknown[]): HeaderPair[] {
  const texts = list.filter((one) => typeof one === "string");
  if (texts.length === list.length) {
    if (texts.every((text) => /^[^\s:]+:/.test(text))) return parseHeaderLines(texts);
    if (texts.length % 2 === 1) throw unknownHeaders();
    return texts.flatMap((name, at): HeaderPair[] => (at % 2 === 0 ? [[name, texts[at + 1] ?? ""]] : []));
  }
  return list.flatMap((one): HeaderPair[] => {
    // Clients keep those that are switched off.
    const { disabled, isDisabled, enabled = true, active = true } = objectOf(one) ?? {};
    if (disabled === true || isDisabled === true || enabled === false || active === false) return [];
    const found = Array.isArray(one) ? { name: one[0], value: one[1] } : (objectOf(one) ?? {});
    const members = Object.fromEntries(
      Object.entries(found).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const name = members.name ?? members.key;
    if (typeof name !== "string") throw unknownHeaders();
    return [[name, plainHeader(members.value)]];
  });
}

function pairsOfObject(headers: unknown): HeaderPair[] {
  return Object.entries(objectOf(headers) ?? {}).flatMap(([name, value]) =>
    [value].flat().flatMap((one): HeaderPair[] => {
      // CloudFront has a list of { key, value } for each name.
      const text = objectOf(one)?.value ?? one;
      return text === null || text === undefined ? [] : [[name, plainHeader(text)]];
    }),
  );
}

function plainHeader(value: unknown): string {
  if (typeof value === "object" && value !== null) throw unknownHeaders();
  return plain(value);
}

function ofCgi(name: string): string {
  const bare =
    /^HTTP_([A-Z0-9_]+)$/.exec(name)?.[1] ?? (/^CONTENT_(?:TYPE|LENGTH)$/.test(name) ? name : undefined);
  return bare === undefined ? name : bare.replaceAll("_", "-");
}

function unknownHeaders(): Error {
  return usageError(
    "The headers in this capture are in a form that is not known.",
    'They may be an object, a list of pairs, of { name, value } or of "Name: value", or Node\'s rawHeaders.',
  );
}

/** Headers that are JSON. */
export function headersInText(text: string): HeaderPair[] {
  return pairsOf(inJson(text));
}

/** A value as an object, where it is one and no list. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** A text or a number as a text; nothing for what could be nested without end, or has a toString of its own. */
export function plain(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? `${value}`
    : "";
}
