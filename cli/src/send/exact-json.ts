// Reads JSON and writes it again without changing a number or losing a member.
import { randomUUID } from "node:crypto";

const TOKEN = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)(\s*:)?|-?[0-9][0-9.eE+-]*/g;

/** Begins the texts that stand for numbers which JavaScript would write differently; nobody can know it before. */
const MARK = `"number-${randomUUID()}:`;

/** A member stands twice in one object of a JSON text. */
export class DoubledMember extends Error {}

/**
 * The value of a JSON text, for `writeExact` alone: a number that JavaScript would round or write differently is a text.
 *
 * @throws {SyntaxError} if it is no JSON
 * @throws {DoubledMember} if a member stands twice in one object, so that reading would lose one
 */
export function readExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  let names = 0;
  const marked = text.replace(TOKEN, (token, colon?: string) => {
    if (colon !== undefined) names++;
    const isKept = token.startsWith('"') || String(Number(token)) === token;
    return isKept ? token : `${MARK}${token}"`;
  });
  if (names !== namesIn(value)) throw new DoubledMember();
  return JSON.parse(marked);
}

/**
 * The JSON text of what `readExact` read, and of what was added to it, with the numbers as they were written.
 *
 * @throws {RangeError} if it is nested too deeply for `JSON.stringify`
 */
export function writeExact(value: unknown): string {
  const [first = "", ...marked] = JSON.stringify(value).split(MARK);
  return first + marked.map((part) => part.replace('"', "")).join("");
}

/** Without recursion: how deep a text is nested, its writer decides. */
function namesIn(value: unknown): number {
  let names = 0;
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== "object" || one === null) continue;
    const inner = Object.values(one);
    if (!Array.isArray(one)) names += inner.length;
    for (const each of inner) open.push(each);
  }
  return names;
}
