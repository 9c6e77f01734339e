// The functions of texts that count characters.
// CEL counts code points. The functions of @bufbuild/cel count code units, so that an emoji is two characters and may
// be cut in half.
import { CelScalar, celFunc, celMethod, listType } from "@bufbuild/cel";

const { BOOL, INT, STRING } = CelScalar;
const LIST = listType(CelScalar.DYN);

/** The functions, to be given to the environment behind the library's own. */
export const strings = [
  celMethod("charAt", STRING, [INT], STRING, function (index) {
    const points = codePoints(this);
    return points[place(index, points.length)] ?? "";
  }),
  ...["indexOf", "lastIndexOf"].flatMap((name) => [
    celMethod(name, STRING, [STRING], INT, function (part) {
      return BigInt(pointsBefore(this, this[name](part)));
    }),
    celMethod(name, STRING, [STRING, INT], INT, function (part, start) {
      const from = unitsBefore(this, place(start, codePoints(this).length));
      return BigInt(pointsBefore(this, this[name](part, from)));
    }),
  ]),
  celMethod("replace", STRING, [STRING, STRING], STRING, replaced),
  celMethod("replace", STRING, [STRING, STRING, INT], STRING, replaced),
  celMethod("reverse", STRING, [], STRING, function () {
    return codePoints(this).reverse().join("");
  }),
  celMethod("split", STRING, [STRING], LIST, split),
  celMethod("split", STRING, [STRING, INT], LIST, split),
  celMethod("substring", STRING, [INT], STRING, substring),
  celMethod("substring", STRING, [INT, INT], STRING, substring),
  celFunc("_<_", [STRING, STRING], BOOL, (one, other) => compared(one, other) < 0),
  celFunc("_<=_", [STRING, STRING], BOOL, (one, other) => compared(one, other) <= 0),
  celFunc("_>_", [STRING, STRING], BOOL, (one, other) => compared(one, other) > 0),
  celFunc("_>=_", [STRING, STRING], BOOL, (one, other) => compared(one, other) >= 0),
];

const codePoints = (text) => Array.from(text);

/** A place as a number of JavaScript, from 0 up to behind the last one. */
function place(index, length) {
  if (index < 0n || index > length) throw new Error(`${index} is no place in a text of ${length} characters`);
  return Number(index);
}

/** How many code points stand before a code unit; -1 stays. */
const pointsBefore = (text, units) => (units < 1 ? units : codePoints(text.slice(0, units)).length);

/** How many code units the first code points take. */
const unitsBefore = (text, points) => codePoints(text).slice(0, points).join("").length;

function substring(start, end) {
  const points = codePoints(this);
  const from = place(start, points.length);
  const to = end === undefined ? points.length : place(end, points.length);
  if (from > to) throw new Error(`substring from ${from} to ${to}: it ends before it starts`);
  return points.slice(from, to).join("");
}

/** The parts between separators; with a limit, the last one is all that is left. A limit below 0 is none. */
function split(separator, limit = -1n) {
  if (limit === 0n) return [];
  const parts = separator === "" ? codePoints(this) : this.split(separator);
  if (limit < 0n || limit >= parts.length) return parts;
  const max = Number(limit) - 1;
  return [...parts.slice(0, max), parts.slice(max).join(separator)];
}

/** With the first so many replaced, or all of them below 0. An empty part stands between all characters. */
function replaced(part, by, limit = -1n) {
  if (limit < 0n && part !== "") return this.replaceAll(part, () => by);
  const parts = part === "" ? ["", ...codePoints(this), ""] : this.split(part);
  const count = limit < 0n ? parts.length : Number(limit);
  return parts.reduce((text, next, index) => text + (index <= count ? by : part) + next);
}

/** Compares by code points: a code point of two code units comes after every one of a single unit. */
function compared(one, other) {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (left !== right) return (isSurrogate(left) ? 1 : 0) - (isSurrogate(right) ? 1 : 0) || left - right;
  }
  return one.length - other.length;
}

const isSurrogate = (unit) => unit >= 0xd800 && unit <= 0xdfff;
