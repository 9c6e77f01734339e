// Reads JSON and writes it again without changing a number or losing a member.
import { randomUUID } from "node:crypto";

const TOKEN = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)(\s*:)?|-?[0-9][0-9.eE+-]*/g;

/** Begins the texts that stand for numbers which JavaScript would write differently; nobody can know it before. */
const MARK = `"number-${randomUUID()}:`;

/**
 * The value of a JSON text, for `writeExact` alone: a number that JavaScript would round or write differently is a text.
 *
 * @throws {SyntaxError} if it is no JSON
 * @throws {RangeError} if a member stands twice in one object, so that reading would lose one
 */
export function readExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  let names = 0;
  const marked = text.replace(TOKEN, (token, colon?: string) => {
    if (colon !== undefined) names++;
    const isKept = token.startsWith('"') || String(Number(token)) === token;
    return isKept ? token : `${MARK}${token}"`;
  });
  if (names !== namesIn(value)) throw new RangeError("a member stands twice");
  return JSON.parse(marked);
}

/** The JSON text of what `readExact` read, and of what was added to it, with the numbers as they were written. */
export function writeExact(value: unknown): string {
  const [first = "", ...marked] = JSON.stringify(value).split(MARK);
  return first + marked.map((part) => part.replace('"', "")).join("");
}

function namesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let names = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const inner of Object.values(value)) names += namesIn(inner);
  return names;
}
