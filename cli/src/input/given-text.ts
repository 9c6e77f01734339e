// Refuses a text of the command line or the environment that was no UTF-8.
import { readFileSync } from "node:fs";
import { CliError, EXIT } from "../failure.js";

/**
 * Refuses a text with U+FFFD, unless it was typed: Node puts it without a word where it could not read the bytes of such a
 * text. Only Linux shows the bytes themselves.
 */
export function requireReadable(text: string, name: string): void {
  const given = ["/proc/self/cmdline", "/proc/self/environ"].map(wordsOf);
  const isTyped = given.some((words) => words?.some((word) => isTail(word, text)));
  if (isTyped) return;
  const isKnown = given.every((words) => words !== undefined);
  throw new CliError(
    EXIT.setup,
    "TEXT_ENCODING",
    isKnown
      ? `${name} has bytes that are not UTF-8.`
      : `${name} has bytes that are not UTF-8, or the character U+FFFD, which stands for such.`,
    { hint: "Give it as a file that is saved as UTF-8." },
  );
}

/** The words that this process was started with, as bytes; undefined where the system does not show them. */
function wordsOf(file: string): Buffer[] | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const words: Buffer[] = [];
    const bytes = readFileSync(file);
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(0, start);
      words.push(bytes.subarray(start, end < 0 ? bytes.length : end));
      start = end < 0 ? bytes.length : end + 1;
    }
    return words;
  } catch {
    return undefined; // a container may hide it
  }
}

/** Whether a word is this text, or ends with it behind `=`, as in `--data=…` and in a variable. */
function isTail(word: Buffer, text: string): boolean {
  const bytes = Buffer.from(text);
  const start = word.length - bytes.length;
  if (start < 0 || !word.subarray(start).equals(bytes)) return false;
  return start === 0 || word[start - 1] === 0x3d || /^-[^-]+$/.test(word.subarray(0, start).toString());
}
