// Makes inputs for a parser: its examples, its corpus and pieces of its grammar, changed in every way that breaks readers.
import fc from "fast-check";
import type { Parser } from "./parser.js";

const MAX = 65_536;

/** What breaks readers of all kinds: signs of grammars, names that every object has, numbers at limits, bytes that are no text. */
const WORDS = [
  ..."{}[]()<>\"'`\\/|,;:.=&%$#@!?*+-_~^ \t\r\n0a",
  ...[
    "\r\n",
    "\n\n",
    "\\u0000",
    "\\ud800",
    "\0",
    "\u001b[2J",
    "\u009b",
    "\u202e",
    "\u2028",
    "\ufeff",
    "é",
    "😀",
  ],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "null",
    "true",
    "[]",
    "{}",
    '""',
    "-0",
    "1e999",
  ],
  ...[
    "9007199254740993",
    "-1",
    "2147483648",
    "99999999999999999999",
    "0x10",
    "1e-7",
    "NaN",
    "Infinity",
    "..",
    "//",
  ],
];

/** Values that stand where others are meant. */
const ODD: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e21, Number.MAX_SAFE_INTEGER + 1, "", "x", "\u001b[2J", "\ud800", "__proto__"],
  ...[
    [],
    {},
    [[]],
    { __proto__: null, constructor: 1 },
    "9".repeat(400),
    { toString: 1, length: -1 },
    [null, null],
  ],
];

type Edit = (bytes: Buffer) => Buffer;

const within = fc.integer({ min: 0, max: 999_999 });
const place = (at: number, length: number) => Math.floor((at / 1_000_000) * (length + 1));
const replaced = (bytes: Buffer, from: number, to: number, by: Buffer) =>
  Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);

function edits(words: readonly string[], others: readonly Buffer[]): fc.Arbitrary<Edit> {
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words).map((word) => Buffer.from(word)) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
    },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 6 }).map((text) => Buffer.from(text)) },
  );
  return fc.oneof(
    fc.tuple(within, piece).map(
      ([at, by]): Edit =>
        (bytes) => {
          const from = place(at, bytes.length);
          return replaced(bytes, from, from, by);
        },
    ),
    fc.tuple(within, fc.nat(12), piece).map(
      ([at, length, by]): Edit =>
        (bytes) => {
          const from = place(at, bytes.length);
          return replaced(bytes, from, Math.min(from + length, bytes.length), by);
        },
    ),
    fc.tuple(within, fc.nat(200)).map(
      ([at, length]): Edit =>
        (bytes) => {
          const from = place(at, bytes.length);
          return replaced(bytes, from, Math.min(from + length, bytes.length), Buffer.alloc(0));
        },
    ),
    fc.tuple(within, within, fc.nat(80)).map(
      ([at, to, length]): Edit =>
        (bytes) => {
          const [from, behind] = [place(at, bytes.length), place(to, bytes.length)];
          return replaced(bytes, behind, behind, bytes.subarray(from, from + length));
        },
    ),
    // What is read in more than linear time shows at thousands of the same piece.
    fc.tuple(within, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 2, max: 20_000 })).map(
      ([at, length, times]): Edit =>
        (bytes) => {
          const from = place(at, bytes.length);
          const row = bytes.subarray(from, from + length);
          return replaced(
            bytes,
            from,
            from,
            Buffer.concat(Array.from({ length: times }, () => row).slice(0, MAX)),
          );
        },
    ),
    fc.tuple(fc.constantFrom(...others), within, within).map(
      ([other, at, to]): Edit =>
        (bytes) => {
          return Buffer.concat([
            bytes.subarray(0, place(at, bytes.length)),
            other.subarray(place(to, other.length)),
          ]);
        },
    ),
    fc.tuple(within, fc.nat(7)).map(
      ([at, bit]): Edit =>
        (bytes) => {
          if (bytes.length === 0) return bytes;
          const changed = Buffer.from(bytes);
          const where = place(at, bytes.length - 1);
          changed[where] = (changed[where] ?? 0) ^ (1 << bit);
          return changed;
        },
    ),
  );
}

/** Changes one value or one name of a JSON text, wherever it stands. */
function jsonEdit(text: string): fc.Arbitrary<Buffer> | undefined {
  let count = 0;
  try {
    JSON.parse(text, (_name, value) => {
      count++;
      return value;
    });
  } catch {
    return undefined;
  }
  const odd = fc.oneof(fc.constantFrom(...ODD), fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined));
  return fc.array(fc.tuple(fc.nat(count - 1), odd), { minLength: 1, maxLength: 3 }).map((changes) => {
    let at = 0;
    const changed: unknown = JSON.parse(text, (_name, value) => {
      const change = changes.find(([index]) => index === at++);
      return change === undefined ? value : change[1];
    });
    return Buffer.from(JSON.stringify(changed) ?? "");
  });
}

/** Inputs for a parser; `kept` is what its corpus holds. */
export function inputsFor(
  { examples, words = [], most = MAX }: Parser,
  kept: readonly Buffer[],
): fc.Arbitrary<Buffer> {
  const known = [...examples.map((example) => Buffer.from(example as string)), ...kept];
  const all = [...words, ...words, ...WORDS];
  const edit = edits(all, known);
  const changed = fc
    .tuple(fc.constantFrom(...known), fc.array(edit, { maxLength: 5 }))
    .map(([start, list]) => list.reduce((bytes, one) => one(bytes).subarray(0, most), start));
  const shaped = examples.flatMap((example) =>
    typeof example === "string" ? (jsonEdit(example) ?? []) : [],
  );
  const made = fc
    .array(fc.constantFrom(...all), { maxLength: 40 })
    .map((pieces) => Buffer.from(pieces.join("")).subarray(0, most));
  return fc.oneof(
    { weight: 6, arbitrary: changed },
    { weight: 2, arbitrary: made },
    ...(shaped.length === 0 ? [] : [{ weight: 5, arbitrary: fc.oneof(...shaped) }]),
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)) },
  );
}
