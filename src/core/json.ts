// Strict JSON: one value, in UTF-8, with its doubled members found.
import { decodeUtf8 } from "./bytes.js";

/** The value of strict JSON bytes: UTF-8, no byte order mark, exactly one value. */
type JsonResult = { ok: true; value: unknown } | { ok: false; reason: "not-utf8" | "not-json" };

/** Parses a body as received. */
export function parseJson(bytes: Uint8Array): JsonResult {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { ok: false, reason: "not-utf8" };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, reason: "not-json" };
  }
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Each level makes every line within it longer: a text of 64 KiB can become gigabytes. No person nests this deep. */
const MAX_INDENTED_LEVELS = 32;

/** A JSON text written again by `JSON.stringify`; `undefined` for what is no JSON, or too deep to be written. */
export function rewrittenJson(text: string, space?: number): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (space !== undefined && isDeeper(MAX_INDENTED_LEVELS, value)) return undefined;
    return JSON.stringify(value, null, space);
  } catch {
    return undefined;
  }
}

function isDeeper(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(levels - 1, one));
}

/** A text ends with its quote or with everything, or each quote of one that is not closed would begin another. */
const TOKEN = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[{}[\],:]/g;

/**
 * The first member name that stands twice in one object of a valid JSON text, at any depth.
 * `JSON.parse` keeps the last of them, other parsers the first: two readers, two meanings.
 */
export function duplicateMember(validJson: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let expectsName = false;
  for (const [token] of validJson.matchAll(TOKEN)) {
    if (token === "{") {
      open.push(new Set());
      expectsName = true;
    } else if (token === "[") {
      open.push(undefined);
      expectsName = false;
    } else if (token === "}" || token === "]") {
      open.pop();
      expectsName = false;
    } else if (token === ",") {
      expectsName = open.at(-1) !== undefined;
    } else if (expectsName && token !== ":") {
      const name = JSON.parse(token) as string;
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
      expectsName = false;
    }
  }
  return undefined;
}

/** What of a valid JSON text would be another one if it were parsed and written again, in words. */
export function lostByParsing(validJson: string): string | undefined {
  const number = roundedNumber(validJson);
  if (number !== undefined) return `the number ${number.slice(0, 40)}, which JavaScript rounds`;
  return duplicateMember(validJson) === undefined ? undefined : "a member that stands twice in one object";
}

/** A text, which may hold digits, or a number. */
const NUMBER = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|-?\d[0-9.eE+-]*/g;

/** The first number of a valid JSON text that `JSON.parse` rounds, so that it would be written as another number. */
function roundedNumber(validJson: string): string | undefined {
  for (const [token] of validJson.matchAll(NUMBER))
    if (!token.startsWith('"') && decimal(token) !== decimal(String(Number(token)))) return token;
  return undefined;
}

/** A number's digits and exponent in one spelling. */
function decimal(number: string): string {
  const [, sign, whole = "", part = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + part).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1; // an expression would begin again at each zero
  const short = digits.slice(0, end);
  return short === ""
    ? "0"
    : `${sign}${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}
