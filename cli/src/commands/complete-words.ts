// The hidden command that gives completion scripts their candidates.
import { type Command, type Completion, type Flag, GLOBAL_FLAGS } from "../command.js";
import { COMMANDS, GROUPS } from "../command-line/registry.js";
import { knownProfiles, loadConfig } from "../config/config.js";
import { EXIT } from "../failure.js";
import type { Io } from "../io.js";
import { sessionPorts } from "../serve/sessions.js";

/** A word that needs no quoting in any shell; others are not offered, as the shells insert candidates unquoted. */
const PLAIN_WORD = /^[A-Za-z0-9_.:/@%+=,-]+$/;

/** A word that may come next, and what it does. */
interface Candidate {
  readonly word: string;
  readonly does?: string;
}

/**
 * Prints the candidates for the last of the given words, one a line, for the completion scripts; with `--describe`
 * first, what each does after a tab. It prints nothing if the shell should offer files, or if any value is possible.
 */
export async function completeWords(given: readonly string[], io: Io): Promise<number> {
  const describes = given[0] === "--describe";
  const words = describes ? given.slice(1) : given;
  const last = words.at(-1) ?? "";
  let candidates: readonly Candidate[];
  try {
    candidates = await candidatesFor(words.slice(0, -1), last, io);
  } catch {
    // An error message would be of no use in the middle of the line that a person types.
    return EXIT.ok;
  }
  const fitting = candidates.filter(({ word }) => word.startsWith(last) && PLAIN_WORD.test(word));
  const lines = fitting.map(({ word, does }) => (describes && does ? `${word}\t${does}` : word));
  if (lines.length > 0) io.stdout.write(`${lines.join("\n")}\n`);
  return EXIT.ok;
}

async function candidatesFor(before: readonly string[], last: string, io: Io): Promise<readonly Candidate[]> {
  const [first = "", second = ""] = before;
  if (first === "help") return commandWords(before.slice(1));
  const name = [`${first} ${second}`, first].find((candidate) => Object.hasOwn(COMMANDS, candidate));
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || !entry) return commandWords(before);
  const command = await entry.load();
  return argumentsOf(command, before.slice(name.split(" ").length), last, io);
}

function commandWords(before: readonly string[]): Candidate[] {
  const prefix = before.map((word) => `${word} `).join("");
  const words = Object.keys(COMMANDS)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length).split(" ")[0] ?? "");
  return [...new Set(words)].sort().map((word) => {
    const name = `${prefix}${word}`;
    const does = COMMANDS[name]?.summary ?? GROUPS[name];
    return { word, ...(does === undefined ? {} : { does }) };
  });
}

async function argumentsOf(
  command: Command,
  before: readonly string[],
  last: string,
  io: Io,
): Promise<readonly Candidate[]> {
  const flags: Record<string, Flag> = { ...command.flags, ...GLOBAL_FLAGS };
  const flag = flagOf(flags, before.at(-1));
  if (flag && flag.type !== "boolean") return valuesOf(flag, before, io);
  if (last.startsWith("-"))
    return Object.entries(flags).flatMap(([name, { hidden, negated, describe }]) =>
      hidden ? [] : [{ word: `--${negated ? "no-" : ""}${name}`, does: describe }],
    );
  const given = before.filter(
    (word, index) => !word.startsWith("-") && !takesValue(flags, before[index - 1]),
  );
  const positional = command.positionals?.[given.length];
  return positional ? valuesOf(positional, before, io) : [];
}

function takesValue(flags: Readonly<Record<string, Flag>>, word: string | undefined): boolean {
  const flag = flagOf(flags, word);
  return flag !== undefined && flag.type !== "boolean";
}

function flagOf(flags: Readonly<Record<string, Flag>>, word = ""): Flag | undefined {
  if (word.startsWith("--")) return flags[word.slice(2)];
  return word.startsWith("-") ? Object.values(flags).find(({ alias }) => alias === word.slice(1)) : undefined;
}

async function valuesOf(
  { choices, completes }: { readonly choices?: readonly string[]; readonly completes?: Completion },
  before: readonly string[],
  io: Io,
): Promise<readonly Candidate[]> {
  if (choices) return plain(choices);
  switch (completes) {
    case "target":
      return [...localListeners(io), ...plain(knownProfiles(configOf(before, io).files))];
    case "profile":
      return plain(knownProfiles(configOf(before, io).files));
    case "kid":
      return plain(await kids(before, io));
    case "event":
      return plain(["last", ...(await eventIds(io))]);
    case "code":
      return plain(await (await import("../explain/find-explanation.js")).explainableNames());
    case "operation":
      return plain(await operations());
    case "fault":
      return plain((await operations()).map((id) => `${id}=503`));
    case "automation":
      return (await import("../serve/known-automations.js")).knownAutomations(
        before,
        configOf(before, io),
        io,
      );
    case "wire-name":
      return plain((await import("hookproof-service")).DOCUMENT_NAMES.map((name) => `${name}=`));
    default:
      return [];
  }
}

function plain(words: readonly string[]): Candidate[] {
  return words.map((word) => ({ word }));
}

/** `:4400` for each listener that runs here. */
function localListeners(io: Io): Candidate[] {
  return sessionPorts(io).map((port) => ({ word: `:${port}`, does: "a listener of this machine" }));
}

function configOf(before: readonly string[], io: Io) {
  const valueAfter = (...names: readonly string[]) =>
    before[before.findIndex((word) => names.includes(word)) + 1];
  return loadConfig(io, {
    config: before.includes("--config") ? valueAfter("--config") : undefined,
    profile: before.some((word) => word === "-p" || word === "--profile")
      ? valueAfter("-p", "--profile")
      : undefined,
    given: (flag) => (before.includes(`--${flag}`) ? [valueAfter(`--${flag}`) ?? ""] : []),
  });
}

async function kids(before: readonly string[], io: Io): Promise<string[]> {
  const [{ storeFolder }, { storeOf }, { openKeyStore }] = await Promise.all([
    import("../keys/keys.js"),
    import("../config/folder-file.js"),
    import("hookproof/node"),
  ]);
  const records = await openKeyStore(storeFolder(io, storeOf(configOf(before, io)))).load();
  return records.map(({ kid }) => kid);
}

async function eventIds(io: Io): Promise<string[]> {
  const { readHistory } = await import("../history/history.js");
  const records = await readHistory(io, { warn: () => {} });
  return records.map(({ eventId }) => eventId).reverse();
}

/** The operations of the local service that can be made to fail, and that its journal knows. */
async function operations(): Promise<readonly string[]> {
  return (await import("hookproof-service")).FAULT_OPERATION_IDS;
}
