// Lays out lines for a terminal: whole words, under the column where a text begins, and no command in two.
import stringWidth from "string-width";
import { type Layout, NARROWEST, type Paint } from "../output.js";

const WIDEST = 200;
/** Where a text would have fewer columns than this, it goes below its label. */
const READABLE = 24;

/** A word with which something begins that is copied. */
const COMMAND = /^\W*(hookproof|npm|curl)$/;
/** How a word begins that can only belong to a command: flags, addresses, files, what is quoted, and the last event. */
const OF_COMMAND = /^(?:--?[a-zA-Z]|-$|[<'"./@~]|:\d|https?:|last$)/;
/** A flag, whose value is of the command too; behind one that takes none it may be a word of prose, which does no harm. */
const FLAG = /^--?[a-zA-Z][\w-]*$/;
/** The words that take a second one. The registry has them as well; but it leads to every command, and one leads here. */
const GROUPS: ReadonlySet<string> = new Set([
  "keys",
  "jwks",
  "outbox",
  "service",
  "events",
  "profile",
  "secret",
]);
const OF_SUBCOMMAND = /^[a-z][a-z-]*\W?$/;
/** What a command is given without a flag, such as a profile: told from prose by the flag behind it. */
const NAME = /^[a-z][a-z0-9-]*$/;
/** The most words of an argument in quotes. */
const MAX_QUOTED = 20;
/** The most of what is in quotes that stays on one line, outside of a command. */
const QUOTED = 40;

/** The layout of terminals. */
export const terminalLayout: Layout = {
  line: (text, columns, hang) => laidOut(text, widthOf(columns), hang),
  table: (head, rows, columns) => table(head, rows, widthOf(columns)),
  highlighted,
  labelled,
  noted,
};

function widthOf(columns: number): number {
  return Math.max(NARROWEST, Math.min(WIDEST, columns));
}

function laidOut(text: string, width: number, hang = hangOf(text, width)): string {
  if (stringWidth(text) <= width) return text;
  const { before, command, about } = noteIn(text) ?? {};
  if (command !== undefined && about) {
    // The command is left whole, and what it does goes below it.
    const below = filled(about.trimStart(), width - 6).map((line) => `      ${line}`);
    return [`${before}next: ${command}`, ...below].join("\n");
  }
  if (/^\S*next: /.test(text)) return text;
  const [head, rest] = split(text, hang);
  if (width - hang < READABLE) {
    const below = filled(rest, width - 4).map((line) => `    ${line}`);
    return [head.trimEnd(), ...below].filter((line) => line.trim() !== "").join("\n");
  }
  const [first = "", ...more] = filled(rest, width - hang);
  return [`${head}${first}`, ...more.map((line) => `${" ".repeat(hang)}${line}`)].join("\n");
}

/** The column under which a text goes on: behind its label, if that takes less than half of the line. */
function hangOf(text: string, width: number): number {
  const plain = text.replace(ESCAPES, "");
  const [indent = ""] = /^ */.exec(plain) ?? [];
  const label = labelIn(plain.slice(indent.length));
  const column = label === "" ? 0 : indent.length + stringWidth(label);
  return column > 0 && column <= width / 2 ? column : indent.length + 2;
}

/** A label with the blanks behind it, at least two; empty where a text begins with none. */
function labelIn(text: string): string {
  const gap = text.indexOf("  ", /^[✔✖!=?*~+-] /.test(text) ? 2 : 0);
  const label = text.slice(0, Math.max(0, gap));
  const behind = text.slice(label.length);
  const blanks = behind.length - behind.trimStart().length;
  if (gap < 1 || blanks === behind.length || /["{]/.test(label)) return "";
  return text.slice(0, label.length + blanks);
}

/** What is before `next: `, the command behind it, and after three blanks what that does; `undefined` for another line. */
function noteIn(text: string): { before: string; command: string; about: string } | undefined {
  const at = text.indexOf("next: ");
  if (at < 0) return undefined;
  const rest = text.slice(at + "next: ".length);
  const gap = rest.trimEnd().indexOf("   ");
  const end = gap < 0 ? rest.length : gap;
  return { before: text.slice(0, at), command: rest.slice(0, end), about: rest.slice(end) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are the colours that were put in
const ESCAPES = /\u001b\[[0-9;]*m/g;

/** What is before a column and what follows, colours included. */
function split(text: string, column: number): [string, string] {
  let at = 0;
  for (let seen = 0; at < text.length && seen < column; ) {
    ESCAPES.lastIndex = at;
    const colour = ESCAPES.exec(text);
    if (colour?.index === at) at += colour[0].length;
    else {
      const one = String.fromCodePoint(text.codePointAt(at) ?? 0);
      seen += stringWidth(one);
      at += one.length;
    }
  }
  const head = text.slice(0, at);
  // A text without a label begins at its own indent and goes on two further in.
  return head.replace(ESCAPES, "").endsWith("  ") ? [head, text.slice(at)] : withoutLabel(text);
}

function withoutLabel(text: string): [string, string] {
  const [indent = ""] = /^ */.exec(text) ?? [];
  return [indent, text.slice(indent.length)];
}

/** Lines of whole words; a word that is longer than a line stays whole, so that it can be copied. */
function filled(text: string, length: number): string[] {
  const lines: string[] = [];
  let used = 0;
  for (const word of copiedAsOne(text.split(/(?<=\S) (?=\S)/))) {
    const wide = stringWidth(word);
    if (lines.length > 0 && used + 1 + wide <= length) {
      lines[lines.length - 1] += ` ${word}`;
      used += 1 + wide;
    } else {
      lines.push(word);
      used = wide;
    }
  }
  return lines;
}

/** What is copied as one: commands, with those that they are piped into, and what is in quotes. */
function copiedAsOne(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (let at = 0; at < words.length; ) {
    const end = Math.max(endOfCommand(words, at), endOfShort(words, at));
    joined.push(words.slice(at, end).join(" "));
    at = end;
  }
  return joined;
}

/** Where a command ends that begins at a word, with those that it is piped into; the next word, where none does. */
function endOfCommand(words: readonly string[], at: number): number {
  let end = endOfOne(words, at);
  while (end > at + 1 && words[end] === "|" && COMMAND.test(words[end + 1] ?? ""))
    end = endOfOne(words, end + 1);
  return end;
}

function endOfOne(words: readonly string[], at: number): number {
  const [, name] = COMMAND.exec(words[at] ?? "") ?? [];
  let end = at + 1;
  if (name === undefined) return end;
  if (name === "hookproof") {
    if (words[end] === "help") end++;
    if (GROUPS.has(words[end] ?? "") && OF_SUBCOMMAND.test(words[end + 1] ?? "")) end++;
    if (OF_SUBCOMMAND.test(words[end] ?? "")) end++;
    if (NAME.test(words[end] ?? "") && words[end + 1]?.startsWith("--")) end++;
  }
  const isOfIt = (word: string, before: string) =>
    !/[,;]$/.test(before) && (OF_COMMAND.test(word) || (FLAG.test(before) && /^\w/.test(word)));
  while (end < words.length && isOfIt(words[end] ?? "", words[end - 1] ?? "")) end = endOfQuoted(words, end);
  return end;
}

/** Where what is quoted at a word ends, behind the word with the other quote. */
function endOfQuoted(words: readonly string[], at: number): number {
  const word = words[at] ?? "";
  const [open = ""] = /^["'<]/.exec(word) ?? [];
  if (open === "" || word.slice(1).includes(open === "<" ? ">" : open)) return at + 1;
  const close = open === "<" ? ">" : open;
  const more = words.slice(at + 1, at + MAX_QUOTED).findIndex((one) => one.includes(close));
  return at + more + 2;
}

/** The same outside of a command, for what is short. */
function endOfShort(words: readonly string[], at: number): number {
  const word = words[at] ?? "";
  const open = word.indexOf('"');
  if (open < 0 || word.includes('"', open + 1)) return at + 1;
  let length = word.length - open;
  for (let end = at + 1; end < words.length && length <= QUOTED; end++) {
    const next = words[end] ?? "";
    if (next.includes('"')) return end + 1;
    length += 1 + next.length;
  }
  return at + 1;
}

/** Columns as wide as their widest cell; the last one is wrapped, below the others where it would be too narrow. */
function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  width: number,
): string[] {
  const all = [...(head.length > 0 ? [head] : []), ...rows].map((row) => row.map(String));
  const columns = Math.max(...all.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(...all.map((row) => stringWidth(row[at] ?? ""))),
  );
  const isNumber = widths.map((_, at) => rows.some((row) => typeof row[at] === "number"));
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  const last = widths.at(-1) ?? 0;
  const isBelow = width - before < Math.min(last, READABLE);
  return all.flatMap((row) => {
    const cells = row.map((cell, at) => {
      const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - stringWidth(cell)));
      return isNumber[at] ? space + cell : cell + space;
    });
    const text = (row.at(-1) ?? "").trim();
    const start = cells.slice(0, -1).join("  ");
    if (isBelow) {
      const below = filled(text, width - 4).filter((line) => line !== "");
      return [
        ...cellsBelow(start.trimEnd(), cells.slice(0, -1), width),
        ...below.map((line) => `    ${line}`),
      ];
    }
    const [first = "", ...more] =
      last <= width - before ? [cells.at(-1) ?? ""] : filled(text, width - before);
    return [`${start}  ${first}`.trimEnd(), ...more.map((line) => `${" ".repeat(before)}${line}`)];
  });
}

/** The first columns of a row: one line where they fit it, else cell after cell, each of them whole. */
function cellsBelow(line: string, cells: readonly string[], width: number): string[] {
  if (stringWidth(line) <= width) return [line];
  const lines: string[] = [];
  for (const cell of cells.map((one) => one.trim()).filter((one) => one !== "")) {
    const longer = `${lines.at(-1) ?? ""}  ${cell}`;
    if (lines.length > 0 && stringWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(lines.length === 0 ? cell : `    ${cell}`);
  }
  return lines;
}

const TOKENS =
  /("(?:[^"\\\n]|\\[^\n])*"?)(\s*:)?|\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b/g;

/** JSON with its names, texts and other values in colours of their own. */
function highlighted(json: string, paint: Paint): string {
  return json.replace(TOKENS, (token, text: string | undefined, colon: string | undefined) => {
    if (text === undefined) return paint("yellow", token);
    return colon === undefined ? paint("green", text) : `${paint("cyan", text)}${colon}`;
  });
}

function labelled(text: string, paint: Paint): string {
  return text.replace(
    /^( {2,8})([a-z][a-z ]{0,15}?)( {2,})(?=\S)/,
    (_, indent: string, label: string, gap: string) => `${indent}${paint("cyan", label)}${gap}`,
  );
}

function noted(text: string, paint: Paint): string {
  const { before = "", command = "", about = "" } = noteIn(text) ?? {};
  if (command === "") return paint("dim", text);
  return `${before === "" ? "" : paint("dim", before)}${paint("cyan", "next:")} ${paint("bold", command)}${about === "" ? "" : paint("dim", about)}`;
}
