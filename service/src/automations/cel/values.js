// Turns JSON into values of CEL, and back.
import { isCelList, isCelMap, isCelType, isCelUint } from "@bufbuild/cel";
import { toJson } from "@bufbuild/protobuf";
import { Failure } from "./failure.js";

const MAX_DEPTH = 500;

/**
 * Objects become maps, so that a member named `constructor` or `__proto__` is a member like any other.
 *
 * @param Members the kind of map
 */
export function celValue(json, depth = 0, Members = Map) {
  if (depth > MAX_DEPTH) throw new Failure("CONTEXT_TOO_DEEP", `deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(json)) return json.map((item) => celValue(item, depth + 1, Members));
  if (json === null || typeof json !== "object") return json;
  return new Members(
    Object.entries(json).map(([name, value]) => [name, celValue(value, depth + 1, Members)]),
  );
}

/** What the service gave is read as the API writes it, `displayName`, and as guides do, `display_name`. */
export class BothSpellings extends Map {
  get(key) {
    return super.get(this.has(key) ? key : camelCase(key));
  }
}

function camelCase(key) {
  return typeof key === "string" ? key.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase()) : key;
}

/** `ctx` from its JSON. A step may have given what it looked up; the event is what its sender wrote. */
export function contextValue(text) {
  const parts = Object.entries(JSON.parse(text));
  return new Map(
    parts.map(([name, part]) => [name, celValue(part, 1, name === "trigger" ? Map : BothSpellings)]),
  );
}

/** A value as JSON; where JSON has no such type, as protobuf's mapping to JSON writes it. */
export function jsonValue(value, depth = 0) {
  if (depth > MAX_DEPTH) throw new Failure("RESULT_TOO_LARGE", `deeper than ${MAX_DEPTH} levels`);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (isCelUint(value)) return integer(value.value);
  if (typeof value === "bigint") return integer(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (isCelList(value)) return Array.from(value, (item) => jsonValue(item, depth + 1));
  if (isCelMap(value))
    return Object.fromEntries(
      Array.from(value, ([key, item]) => [String(jsonValue(key)), jsonValue(item, depth + 1)]),
    );
  if (isCelType(value)) return value.name;
  if (value !== null && typeof value === "object") return toJson(value.desc, value.message);
  return value;
}

/** A whole number that a double would round is written as text. */
function integer(value) {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
