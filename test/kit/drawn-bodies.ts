// Bodies as programs write them, random damage, and how many requests the tests for false causes draw.
import fc from "./fast-check.js";

const names = fc.constantFrom("id", "userId", "user_name", "Type", "at", "z", "a", "note", "größe", "x-y");
const leaves = fc.oneof(
  fc.jsonValue({ maxDepth: 0 }),
  fc.constantFrom("", " trimmed ", "2026-01-01T00:00:00Z", "a/b?c=<d>&e", "Zoë", 3, 1.5, 1e25, null, "12"),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    leaves,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 7 }),
  ),
}));

/** JSON with names of every style, nulls, dates and empty strings, in all the ways to print it. */
export const printed = fc.tuple(value, fc.constantFrom(0, 2, " : ")).map(([payload, how]) => {
  if (how === " : ") return JSON.stringify(payload).replaceAll('":', '" : ').replaceAll(",", ", ");
  return JSON.stringify(payload, null, how);
});

/** The long form is 100,000 requests in parts, so that it shows how far it is. */
const [parts, numRuns] = process.env.HOOKPROOF_LONG ? [20, 5_000] : [1, 120];

/** The parts by their numbers. */
export const PARTS = Array.from({ length: parts }, (_, part) => part + 1);

/** How many requests a part draws, and from which seed. */
export const drawnIn = (part: number) => ({ numRuns, seed: (fc.readConfigureGlobal().seed ?? 0) + part });

/** Bytes of which one is another. */
export function withOneByteChanged(bytes: Uint8Array, at: number) {
  const changed = Uint8Array.from(bytes);
  const place = at % changed.length;
  changed[place] = ((changed[place] ?? 0) + 1 + ((at >> 8) % 255)) % 256;
  return changed;
}

/** A text whose last part is base64 of bytes, of which one bit is another. */
export function withOneBitChanged(text: string, at: number): string {
  return text.replace(/([\w+/-]+)(=*:?)$/, (_, base64: string, end: string) => {
    const bytes = Buffer.from(base64, "base64");
    const place = at % bytes.length;
    bytes[place] = (bytes[place] ?? 0) ^ (1 << ((at >> 8) % 8));
    return bytes.toString(end === "" ? "base64url" : "base64").replace(/=+$/, "") + end;
  });
}
