// Takes apart a command line of cmd.exe, as browsers on Windows copy it.
import { usageError } from "../failure.js";

/**
 * Whether a command is written for cmd.exe: with a caret before a quote, an operator or the end of a line, and ahead of
 * any word in single quotes, which a shell takes as they are and cmd.exe does not know.
 */
export function isForCmd(text: string): boolean {
  const plain = text.replace(/"[^"^]*"/g, "");
  return /\s\$?'|\^(?:"|\\\^"|[&|<>%{}]|\r?\n)/.exec(plain)?.[0].startsWith("^") === true;
}

/** The words of the first command: first the carets of cmd.exe are taken away, then the quotes as a program does it. */
export function cmdWords(text: string): string[] {
  // Browsers double every backslash; Microsoft's library halves only those before a quote.
  return words(unescaped(text), text.includes('^"'));
}

/**
 * What cmd.exe hands to a program. Inside of its quotes a caret is a character as any other; older browsers wrote carets
 * there all the same, always before a backslash of `\"`, and meant them as they do outside.
 */
function unescaped(text: string): string {
  const escapesInQuotes = text.includes('^\\^"');
  const given: string[] = [];
  let isQuoted = false;
  let from = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const char = text[at];
    if (char === "^" && (!isQuoted || escapesInQuotes)) {
      given.push(text.slice(from, at));
      at += 1;
      // A line that goes on: the break is dropped, and what follows it stands for itself.
      if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
      if (text[at] === "\n") {
        at += 1;
        if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
      }
      from = at;
    } else if (char === '"') isQuoted = !isQuoted;
    else if (char === "\n" && !isQuoted) break;
  }
  given.push(text.slice(from, at));
  return given.join("");
}

/** A program's arguments by the rules of Microsoft's C library; `isCopied` says that all backslashes are doubled. */
function words(line: string, isCopied: boolean): string[] {
  const found: string[] = [];
  let parts: string[] | undefined;
  let isQuoted = false;
  for (let at = 0; at < line.length; ) {
    const char = line[at] ?? "";
    if (char === "\\") {
      let end = at;
      while (line[end] === "\\") end++;
      const count = end - at;
      const beforeQuote = line[end] === '"';
      parts ??= [];
      parts.push("\\".repeat(beforeQuote || isCopied ? Math.floor(count / 2) : count));
      if (beforeQuote && count % 2 === 1) {
        parts.push('"');
        end += 1;
      }
      at = end;
    } else if (char === '"') {
      parts ??= [];
      if (isQuoted && line[at + 1] === '"') {
        parts.push('"');
        at += 2;
      } else {
        isQuoted = !isQuoted;
        at += 1;
      }
    } else if (!isQuoted && isBlank(char)) {
      if (parts !== undefined) found.push(parts.join(""));
      parts = undefined;
      at += 1;
    } else {
      let end = at + 1;
      while (
        end < line.length &&
        line[end] !== "\\" &&
        line[end] !== '"' &&
        (isQuoted || !isBlank(line[end]))
      )
        end++;
      parts ??= [];
      parts.push(line.slice(at, end));
      at = end;
    }
  }
  if (isQuoted) throw cutCommand();
  return parts === undefined ? found : [...found, parts.join("")];
}

/** The refusal of a command whose last quotation has no end. */
export function cutCommand(): Error {
  return usageError(
    "This command ends inside of a quotation, or where a further line has to follow: it was cut.",
    "Copy all of it; of a long one, save it to a file.",
  );
}

function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\t" || char === "\r" || char === "\n";
}
