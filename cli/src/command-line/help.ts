// Lays out help for people.
import { type Command, type Flag, GLOBAL_FLAGS, type Positional } from "../command.js";
import type { Io, Terminal } from "../io.js";
import { NARROWEST, type Paint, painter } from "../output.js";
import { COMMANDS, GROUPS, SECTIONS } from "./registry.js";

/** The width of text that goes to no terminal, and the widest that is still good to read. */
const WIDTH = 80;
const WIDEST = 120;
const COMMON_EXITS = [
  [0, "success"],
  [1, "unexpected failure"],
  [2, "usage: unknown flag, bad value, data that is refused"],
] as const;

/** How help is laid out: in this many columns, with these colours. */
interface Look {
  readonly width: number;
  readonly paint: Paint;
}

/** The look for a stream: its own width, or what COLUMNS says where it is no terminal. */
export function lookFor(stream: Terminal, io: Io, color: boolean | undefined): Look {
  const columns = stream.columns || Number(io.env.COLUMNS) || WIDTH;
  return {
    width: Math.max(NARROWEST, Math.min(WIDEST, columns)),
    paint: painter(stream, io, color),
  };
}

/** The overview of all commands. */
export function overview(look: Look): string {
  return page([
    title("hookproof <command>", look),
    wrapped("Sends signed webhooks, and says why a signature fails.", 0, look),
    ...SECTIONS.map(([heading, words]) => section(look, heading, words.map(rowOf))),
    section(look, "Flags of every command", [
      ...shownFlags(GLOBAL_FLAGS),
      ["-V, --version", "show the version"],
    ]),
    wrapped(
      "hookproof help <command> shows a command with examples and exit codes; hookproof explain <code> what an error code, a status or an exit code means.",
      0,
      look,
    ),
  ]);
}

/** The commands of a group such as `keys`. */
export function groupHelp(group: string, look: Look): string {
  const members = Object.keys(COMMANDS).filter((name) => name.startsWith(`${group} `));
  return page([
    title(`hookproof ${group} <command>`, look),
    wrapped(sentence(GROUPS[group] ?? ""), 0, look),
    section(look, "Commands", members.map(rowOf)),
    wrapped(`hookproof help ${members[0]} shows that command with examples.`, 0, look),
  ]);
}

/** A command's help: what it does, its arguments and flags, examples, exit codes. */
export function commandHelp(command: Command, look: Look): string {
  const { positionals = [], flags, examples } = command;
  const exits = exitsOf(command).map(([code, when]) => [String(code), when] as const);
  return page([
    title(`hookproof ${usageOf(command)}`, look),
    wrapped(descriptionOf(command), 0, look),
    section(
      look,
      "Arguments",
      positionals.map((one) => [placeholder(one), describeArgument(one)]),
    ),
    section(look, "Flags", shownFlags(flags)),
    wrapped("hookproof --help lists the flags of every command, such as --json and --profile.", 0, look),
    [heading(look, "Examples"), ...examples.flatMap(([line, does]) => example(line, does, look))],
    section(look, "Exit codes", exits),
  ]);
}

/** What a command does, in sentences: the summary of the registry, and the command's own details. */
export function descriptionOf({ name, details }: Command): string {
  return [sentence(COMMANDS[name]?.summary ?? ""), details ?? ""].join(" ").trimEnd();
}

/** A command's name with its arguments. */
export function usageOf({ name, positionals = [] }: Command): string {
  return [name, ...positionals.map(placeholder)].join(" ");
}

/** Every exit code of a command. */
export function exitsOf(command: Command): readonly (readonly [code: number, when: string])[] {
  return [...COMMON_EXITS, ...command.exits];
}

/** The flags that help shows, each as it is written and what it does. */
export function shownFlags(flags: Readonly<Record<string, Flag>>): Row[] {
  return Object.entries(flags)
    .filter(([, { hidden }]) => !hidden)
    .map(([name, flag]) => [spelling(name, flag), `${flag.describe}${remarks(flag)}`] as const);
}

/** What an argument is, with the values that it may have. */
export function describeArgument({ describe, choices }: Positional): string {
  return choices ? `${describe}: ${choices.join(", ")}` : describe;
}

type Row = readonly [name: string, text: string];

/** A word of the overview, or a whole command's name, with what it does. */
function rowOf(word: string): Row {
  return [word, COMMANDS[word]?.summary ?? GROUPS[word] ?? ""];
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

function placeholder({ name, required }: Positional): string {
  return required ? `<${name}>` : `[${name}]`;
}

function spelling(name: string, { alias, value, negated, choices }: Flag): string {
  const shown = value ?? (choices ? `<${choices.join("|")}>` : undefined);
  return `${alias ? `-${alias}, ` : ""}--${negated ? "no-" : ""}${name}${shown ? ` ${shown}` : ""}`;
}

function remarks({ repeatable, default: fallback }: Flag): string {
  return `${repeatable ? "; repeatable" : ""}${fallback === undefined ? "" : `; default ${fallback}`}`;
}

function page(sections: readonly (readonly string[])[]): string {
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function title(text: string, look: Look): string[] {
  return wrapped(text, 0, look).map((line) => look.paint("bold", line));
}

function heading({ paint }: Look, text: string): string {
  return paint("bold", `${text}:`);
}

/** A heading over two columns; where the second would be too narrow, each text is below its name. */
function section(look: Look, title: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const column = Math.min(Math.max(...rows.map(([name]) => name.length)), 34) + 4;
  const isNarrow = look.width - column < 30;
  const indent = isNarrow ? 6 : column;
  const lines = rows.flatMap(([name, text]) => {
    const [first = "", ...rest] = wrapped(text, indent, look);
    return isNarrow || name.length + 4 > column
      ? [...wrapped(name, 2, look), first, ...rest]
      : [`  ${name}`.padEnd(column) + first.trimStart(), ...rest];
  });
  return [heading(look, title), ...lines];
}

/** A command line that can be copied as it is shown: where it is too long it goes on after a backslash. */
function example(line: string, does: string, look: Look): string[] {
  // A part in quotes is not broken.
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const lines = filled(words, look.width - 6);
  const shown = lines.map((text, at) => `${at === 0 ? "  " : "    "}${text}${lines[at + 1] ? " \\" : ""}`);
  return [...shown, ...wrapped(does, 6, look).map((text) => look.paint("dim", text))];
}

function wrapped(text: string, indent: number, { width }: Look): string[] {
  return filled(text.split(" "), width - indent).map((line) => " ".repeat(indent) + line);
}

/** Lines of whole words, each at most this long where its words are. */
function filled(words: readonly string[], length: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= length)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
