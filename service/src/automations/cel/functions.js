// Functions in place of those of @bufbuild/cel that give a wrong value, or a value where CEL has an error.
import {
  CelScalar,
  celEnv,
  celFunc,
  celList,
  celMap,
  celMethod,
  isCelError,
  isCelList,
  isCelMap,
  isCelUint,
  listType,
  objectType,
} from "@bufbuild/cel";
import { strings as upstreamStrings } from "@bufbuild/cel/ext";
import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { joined } from "./lists.js";

/** The longest text, bytes or list that a sum may give: four times what a whole step may. */
const MAX_SUM_LENGTH = 2 ** 20;
/** From year 1 to year 9999, in seconds. */
export const FIRST_SECOND = -62_135_596_800n;
export const LAST_SECOND = 253_402_300_799n;
const { BOOL, BYTES, DOUBLE, DYN, INT, STRING } = CelScalar;
const LIST = listType(DYN);
const TIMESTAMP = objectType(TimestampSchema);
const upstream = new Map([...celEnv({ funcs: upstreamStrings }).funcs].map((func) => [func.id, func]));

/** The functions, to be given to the environment behind the library's own. */
export const functions = [
  sumOf(
    STRING,
    ({ length }) => length,
    (one, other) => one + other,
  ),
  sumOf(
    BYTES,
    ({ length }) => length,
    (one, other) => new Uint8Array(Buffer.concat([one, other])),
  ),
  sumOf(LIST, ({ size }) => size, joined),
  fromText("int", /^[-+]?[0-9]+$/),
  fromText("uint", /^[0-9]+$/),
  celFunc("double", [STRING], DOUBLE, doubleOf),
  fromText("duration", /[0-9]/),
  fromText("timestamp", { test: isDate }),
  celFunc("timestamp", [INT], TIMESTAMP, (seconds) => {
    if (seconds < FIRST_SECOND || seconds > LAST_SECOND) throw new Error("timestamp out of range");
    return create(TimestampSchema, { seconds });
  }),
  celFunc("matches", [STRING, STRING], BOOL, (text, pattern) =>
    called("string.matches(string)", text, pattern),
  ),
  celMethod("format", STRING, [LIST], STRING, function (values) {
    return called("string.format(list)", this, withDoubles(this, values));
  }),
  celFunc("@entries", [DYN], LIST, entriesOf),
  celFunc("@merged", [LIST], DYN, merged),
];

/** `+` of a type, in the place of the library's own, which gives whatever doubling leads to. */
function sumOf(type, lengthOf, sum) {
  return celFunc("_+_", [type, type], type, (one, other) => {
    if (lengthOf(one) + lengthOf(other) > MAX_SUM_LENGTH) throw new RangeError("Invalid string length");
    return sum(one, other);
  });
}

/** The library's own conversion, for texts of a form only. */
function fromText(name, form) {
  const { id, result } = upstream.get(`${name}(string)`);
  return celFunc(name, [STRING], result, (text) => {
    if (!form.test(text)) throw new Error(`${JSON.stringify(text)} is no ${name}`);
    return called(id, undefined, text);
  });
}

/**
 * The time that a text in RFC 3339 says, as a value of CEL.
 *
 * @throws {Error} for a text that is none
 */
export function timestampOf(text) {
  if (!isDate(text)) throw new Error(`${JSON.stringify(text.slice(0, 100))} is no timestamp`);
  return called("timestamp(string)", undefined, text);
}

function called(id, target, ...args) {
  const value = upstream.get(id).call(0, target, args);
  if (isCelError(value)) throw value;
  return value;
}

function doubleOf(text) {
  if (/^[-+]?(?:inf|infinity|nan)$/i.test(text))
    return /nan/i.test(text) ? Number.NaN : text.startsWith("-") ? -Infinity : Infinity;
  const isNumber = /^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?$/i.test(text);
  if (!isNumber || !Number.isFinite(Number(text))) throw new Error(`${JSON.stringify(text)} is no double`);
  return Number(text);
}

/** Whether the date and the time of a text exist: 30 February becomes another day when it is read and written. */
function isDate(text) {
  const time = text.slice(0, 19);
  const date = new Date(`${time}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(time);
}

/** The values for a text's clauses, as doubles where the clause is one of doubles: whole numbers may stand there. */
function withDoubles(text, values) {
  const clauses = [...text.matchAll(/%(?:%|(?:\.[0-9]+)?([a-zA-Z]))/g)].flatMap(([, letter]) => letter ?? []);
  const doubleFor = (value, letter) => {
    if (letter !== "e" && letter !== "f") return value;
    return isCelUint(value) ? Number(value.value) : typeof value === "bigint" ? Number(value) : value;
  };
  return celList(Array.from(values, (value, index) => doubleFor(value, clauses[index])));
}

/** What a macro with two variables goes through: pairs of an index or a key, and a value. */
function entriesOf(range) {
  if (isCelMap(range)) return Array.from(range, ([key, value]) => celList([key, value]));
  if (isCelList(range)) return Array.from(range, (value, index) => celList([BigInt(index), value]));
  throw new Error("a macro goes through a list or a map, and this is neither");
}

/** The entries of all maps, of which no two may have the same key: 1 and 1u are the same. */
function merged(maps) {
  const entries = new Map();
  const keys = new Set();
  for (const map of maps) {
    if (!isCelMap(map)) throw new Error("an entry is a map, such as {key: value}");
    for (const [key, value] of map) {
      const plain = isCelUint(key) ? key.value : key;
      if (keys.has(plain)) throw new Error(`map key conflict: ${plain}`);
      keys.add(plain);
      entries.set(key, value);
    }
  }
  return celMap(entries);
}
