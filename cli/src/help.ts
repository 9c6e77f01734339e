import { type Command, type Flag, GLOBAL_FLAGS, type Positional } from "./command.js";
import { COMMANDS } from "./registry.js";

const WIDTH = 100;
const COMMON_EXITS = [
  [0, "success"],
  [1, "unexpected failure"],
  [2, "usage: unknown flag, bad value, data that is refused"],
] as const;

/** The overview of all commands. */
export function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary] as const);
  return [
    "hookproof <command>",
    "",
    "Sends signed webhooks, and says why a signature fails.",
    "",
    "Commands:",
    ...table(rows),
    "",
    "Flags of every command:",
    ...flagRows(GLOBAL_FLAGS),
    "  -V, --version         show the version",
    "",
    "hookproof <command> --help shows examples and exit codes; hookproof explain <code> what a code means.",
  ].join("\n");
}

/** The commands of a group such as `keys`. */
export function groupHelp(group: string): string {
  const rows = Object.entries(COMMANDS).flatMap(([name, { summary }]) =>
    name.startsWith(`${group} `) ? [[name, summary] as const] : [],
  );
  return [`hookproof ${group} <command>`, "", "Commands:", ...table(rows)].join("\n");
}

/** A command's help: what it does, its arguments and flags, examples, exit codes. */
export function commandHelp(command: Command): string {
  const positionals = command.positionals ?? [];
  const sections = [
    [`hookproof ${usageOf(command)}`],
    wrapped(descriptionOf(command), 0),
    positionals.length === 0
      ? []
      : ["Arguments:", ...table(positionals.map((one) => [placeholder(one), one.describe]))],
    Object.keys(command.flags).length === 0 ? [] : ["Flags:", ...flagRows(command.flags)],
    ["Flags of every command:", ...flagRows(GLOBAL_FLAGS)],
    ["Examples:", ...command.examples.flatMap(([line, does]) => [`  ${line}`, `      ${does}`])],
    ["Exit codes:", ...table(exitsOf(command).map(([code, when]) => [String(code), when]))],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** What a command does, in sentences: the summary of the registry, and the command's own details. */
export function descriptionOf({ name, details }: Command): string {
  const summary = COMMANDS[name]?.summary ?? "";
  return [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, details ?? ""].join(" ").trimEnd();
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
export function shownFlags(
  flags: Readonly<Record<string, Flag>>,
): (readonly [written: string, does: string])[] {
  return Object.entries(flags)
    .filter(([, { hidden }]) => !hidden)
    .map(([name, flag]) => [spelling(name, flag), `${flag.describe}${remarks(flag)}`] as const);
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

function flagRows(flags: Readonly<Record<string, Flag>>): string[] {
  return table(shownFlags(flags));
}

function table(rows: readonly (readonly [name: string, text: string])[]): string[] {
  const longest = Math.max(...rows.map(([name]) => name.length));
  const column = Math.min(longest, 34) + 4;
  return rows.flatMap(([name, text]) => {
    const [first = "", ...rest] = wrapped(text, column);
    return name.length + 4 > column
      ? [`  ${name}`, `${" ".repeat(column)}${first.trimStart()}`, ...rest]
      : [`  ${name}`.padEnd(column) + first.trimStart(), ...rest];
  });
}

function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(" ".repeat(indent) + line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, " ".repeat(indent) + line];
}
