import { type Command, GLOBAL_FLAGS } from "./src/command.js";
import { describeArgument, descriptionOf, exitsOf, shownFlags, usageOf } from "./src/command-line/help.js";
import { COMMANDS, GROUPS, SECTIONS } from "./src/command-line/registry.js";

/** What the pages are of: a version, and the day of its release, if it has one. */
interface Release {
  readonly version: string;
  readonly date: string;
}

/**
 * The manual pages by their file names: hookproof(1), and one for each word of its overview, a group such as `keys`
 * with all its commands. They are made from the same data as help and docs/cli.md.
 */
export async function manPages(release: Release): Promise<Map<string, string>> {
  const words = SECTIONS.flatMap(([, words]) => words);
  const pages = new Map([["hookproof.1", firstPage(words, release)]]);
  for (const word of words) pages.set(`hookproof-${word}.1`, await pageOf(word, release));
  return pages;
}

function firstPage(words: readonly string[], release: Release): string {
  return [
    ...head("hookproof", "send signed webhooks, and say why a signature fails", release),
    ".SH SYNOPSIS",
    `${bold("hookproof")} ${italic("command")} [${italic("argument")} ...] [${italic("flag")} ...]`,
    ".SH COMMANDS",
    ...SECTIONS.flatMap(([heading, words]) => [
      `.SS ${quoted(heading)}`,
      ...words.flatMap((word) => item(`hookproof-${word}(1)`, summaryOf(word))),
    ]),
    ".SH OPTIONS",
    "Every command has these:",
    ...flags(GLOBAL_FLAGS),
    ...item("-V, --version", "show the version"),
    ".SH SEE ALSO",
    ...seeAlso(words.map((word) => `hookproof-${word}`)),
    "",
  ].join("\n");
}

async function pageOf(word: string, release: Release): Promise<string> {
  const names = Object.keys(COMMANDS).filter((name) => name === word || name.startsWith(`${word} `));
  const commands = await Promise.all(
    names.map((name) => (COMMANDS[name] as (typeof COMMANDS)[string]).load()),
  );
  const isGroup = !(word in COMMANDS);
  return [
    ...head(`hookproof-${word}`, summaryOf(word), release),
    ".SH SYNOPSIS",
    ...commands.flatMap((command, index) => [...(index === 0 ? [] : [".br"]), synopsis(command)]),
    ...(isGroup ? [".SH DESCRIPTION", ...text(sentence(summaryOf(word)))] : []),
    ...commands.flatMap((command) => sections(command, isGroup)),
    ".SH SEE ALSO",
    ...seeAlso(["hookproof"]),
    "",
  ].join("\n");
}

/** The sections of a command: of its own page, or all of them under one heading where it is one of a group. */
function sections(command: Command, isInGroup: boolean): string[] {
  const heading = (text: string) => (isInGroup ? `.SS ${text}` : `.SH ${text.toUpperCase()}`);
  return [
    isInGroup ? `.SH ${quoted(`hookproof ${command.name}`.toUpperCase())}` : ".SH DESCRIPTION",
    ...text(descriptionOf(command)),
    ...argumentsOf(command, heading("Arguments")),
    ...(shownFlags(command.flags).length > 0 ? [heading("Options"), ...flags(command.flags)] : []),
    heading("Exit status"),
    ...exits(command),
    heading("Examples"),
    ...examples(command),
  ];
}

function head(name: string, purpose: string, { version, date }: Release): string[] {
  return [
    `.TH ${name.toUpperCase()} 1 "${date}" "hookproof ${version}" "Hookproof"`,
    ".SH NAME",
    ...lines(`${escaped(name)} \\- ${escaped(purpose)}`),
  ];
}

function synopsis(command: Command): string {
  const [, ...words] = `hookproof ${usageOf(command)}`.split(" ");
  const shown = words.map((word) =>
    /^[<[]/.test(word) ? escaped(word).replace(/[\w|-]+/, (name) => italic(name)) : bold(word),
  );
  return [bold("hookproof"), ...shown, `[${italic("flag")} ...]`].join(" ");
}

function argumentsOf({ positionals = [] }: Command, heading: string): string[] {
  if (positionals.length === 0) return [];
  return [heading, ...positionals.flatMap((one) => item(one.name, describeArgument(one)))];
}

function flags(all: Command["flags"]): string[] {
  return shownFlags(all).flatMap(([written, does]) => item(written, does));
}

function exits(command: Command): string[] {
  return exitsOf(command).flatMap(([code, when]) => item(String(code), when));
}

function examples(command: Command): string[] {
  return command.examples.flatMap(([line, does], index) => [
    ...(index === 0 ? [] : [".PP"]),
    ...text(`${does}:`),
    ".PP",
    ".RS 4",
    ".nf",
    escaped(line),
    ".fi",
    ".RE",
  ]);
}

function seeAlso(names: readonly string[]): string[] {
  return names.map((name, index) => `.BR ${escaped(name)} (1)${index < names.length - 1 ? "," : ""}`);
}

function summaryOf(word: string): string {
  return COMMANDS[word]?.summary ?? GROUPS[word] ?? "";
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

/** A row: its name in bold, what it is below. */
function item(name: string, what: string): string[] {
  return [".TP", bold(name), ...lines(escaped(what))];
}

/** A paragraph, each sentence on a line of its own, as roff wants it. */
function text(words: string): string[] {
  return words.split(/(?<=[.:?]) (?=[A-Z`])/).flatMap((sentence) => lines(escaped(sentence)));
}

/** Lines of at most 78 characters, broken between words; no line begins with what roff would read as a request. */
function lines(words: string): string[] {
  return words.match(/\S.{0,77}(?= [^.']|$)|\S+/g) ?? [];
}

function bold(words: string): string {
  return `\\fB${escaped(words)}\\fR`;
}

function italic(words: string): string {
  return `\\fI${escaped(words)}\\fR`;
}

function quoted(words: string): string {
  return `"${escaped(words).replaceAll('"', "\\(dq")}"`;
}

/** What roff would read as its own: a backslash, a hyphen that is to be copied as one, a dot or quote that begins a line. */
function escaped(words: string): string {
  return words
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replace(
      /[^\x20-\x7e]/g,
      (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replace(/^([.'])/, "\\&$1");
}
