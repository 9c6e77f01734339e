// Cuts a text at every character that is not seen.
/** A stretch of text: as it stands, or one character that would not be seen, with what stands for it. */
interface Stretch {
  readonly text: string;
  /** What the character is, for people who wonder. */
  readonly hidden?: string;
}

const NAMED: Readonly<Record<string, readonly [sign: string, name: string]>> = {
  "\n": ["⏎\n", "line feed"],
  "\r": ["␍", "carriage return"],
  "\t": ["→\t", "tab"],
  "\u00a0": ["⍽", "no-break space"],
  "\ufeff": ["BOM", "byte order mark"],
};

/**
 * What a reader cannot see, or what turns the direction of the text around it: what the library's `shown` escapes
 * (test/core/steering.test.ts; the page imports nothing of it), and spaces of other widths, private use and halves.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Co}\p{Cs}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/u;

/**
 * What is marked: what hides; every byte that is no letter, where bytes count; what hides in a text that was set
 * on lines here.
 */
export type Marking = "hidden" | "bytes" | "on-lines";

const MARKED: Readonly<Record<Marking, RegExp>> = {
  hidden: new RegExp(`(${HIDDEN.source})`, "u"),
  bytes: new RegExp(`(${HIDDEN.source}| +)`, "u"),
  "on-lines": new RegExp(`((?!\\n)${HIDDEN.source})`, "u"),
};

/** More signs than this are set into the text without a mark of their own, so that the page stays quick. */
export const MAX_PIECES = 2_000;

export function visible(text: string, marking: Marking = "hidden"): Stretch[] {
  const stretches = text
    .split(MARKED[marking])
    .map((piece, index) => (index % 2 === 0 ? { text: piece } : sign(piece)))
    .filter((stretch) => stretch.text !== "");
  if (stretches.length <= MAX_PIECES) return stretches;
  const rest = stretches.slice(MAX_PIECES).map(({ text: piece, hidden }) => (hidden ? inOne(piece) : piece));
  return [...stretches.slice(0, MAX_PIECES), { text: rest.join("") }];
}

/** Whether a text has anything that is not seen, or that turns what is around it. */
export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}

function sign(character: string): Stretch {
  if (character.startsWith(" ")) return { text: "·".repeat(character.length), hidden: "space" };
  const [text, hidden] = NAMED[character] ?? [codePoint(character), codePoint(character)];
  return { text, hidden };
}

/** Where there are thousands, a control character has a sign of one character: a browser takes long over long lines. */
function inOne(piece: string): string {
  const code = /^U\+00([01][0-9A-F])$/.exec(piece)?.[1];
  return code === undefined ? `‹${piece}›` : String.fromCharCode(0x2400 + Number.parseInt(code, 16));
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
