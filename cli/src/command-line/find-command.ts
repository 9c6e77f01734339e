// Finds the command that a line of words names, or refuses it.
import { GLOBAL_FLAGS } from "../command.js";
import { type CliError, closest, usageError } from "../failure.js";
import { COMMANDS, GROUPS } from "./registry.js";

/** Words that people try, and the command that they mean. */
const MEANT: Readonly<Record<string, string>> = {
  check: "verify",
  diagnose: "verify",
  debug: "verify",
  probe: "test",
  probes: "test",
  version: "--version",
  log: "events list",
  logs: "events list",
  history: "events list",
  trigger: "send --event",
  forward: "listen --forward-to <url>",
  serve: "listen",
  server: "listen",
  start: "listen",
  rotate: "keys rotate",
  login: "secret set",
  set: "secret set, or hookproof inspect for a security event token",
  jwt: "inspect",
  token: "inspect",
  decode: "inspect",
  ui: "listen --open",
  config: "profile explain",
  flags: "--help",
};

/** The same for words of a group that mean no command. */
const NOT_COMMANDS: Readonly<Record<string, string>> = {
  "service stop": "Ctrl-C ends hookproof service start, and so does SIGTERM.",
  "events search": "hookproof events list <text> searches them.",
  "events find": "hookproof events list <text> finds them.",
  "service restart": "Ctrl-C ends hookproof service start; start it again with the same --db.",
};

/**
 * Puts flags of every command that come before the command after it: `--json send` is `send --json`. What is not such
 * a flag stays where it is.
 */
export function withCommandFirst(argv: readonly string[]): readonly string[] {
  let at = 0;
  while (at < argv.length) {
    const [, long, short, joined] =
      /^(?:--(?:no-)?([^=]+)|-([^-=v]|v+))(?:=(.*))?$/s.exec(argv[at] ?? "") ?? [];
    const flag = Object.entries(GLOBAL_FLAGS).find(
      ([name, one]) => name === long || ("alias" in one && one.alias === short?.[0]),
    )?.[1];
    if (flag === undefined || flag === GLOBAL_FLAGS.help) break;
    at += flag.type === "boolean" || joined !== undefined ? 1 : 2;
  }
  const [leading, rest] = [argv.slice(0, at), argv.slice(at)];
  const words = commandOf(rest)?.split(" ").length ?? Math.min(rest.length, 1);
  return [...rest.slice(0, words), ...leading, ...rest.slice(words)];
}

/** The command that the words begin with. */
export function commandOf([first = "", second]: readonly string[]): string | undefined {
  return [`${first} ${second}`, first].find((candidate) => Object.hasOwn(COMMANDS, candidate));
}

/** Whether a word is a group of commands. */
export function isGroup(word: string): boolean {
  return Object.hasOwn(GROUPS, word);
}

/** The refusal of words that begin with no command. */
export function unknownCommand([first = "", second]: readonly string[]): CliError {
  if (first.startsWith("-"))
    return usageError(`Unknown flag ${first} before the command.`, "hookproof <command> [flags]");
  if (isGroup(first)) {
    const members = Object.keys(COMMANDS).filter((name) => name.startsWith(`${first} `));
    const words = `${first} ${second}`;
    const meant = closest(words, members);
    const hint = meant ? `Did you mean ${meant}?` : members.map((name) => `hookproof ${name}`).join(", ");
    return usageError(
      `Unknown command ${JSON.stringify(words)}.`,
      Object.hasOwn(NOT_COMMANDS, words) ? NOT_COMMANDS[words] : hint,
    );
  }
  const words = new Set(Object.keys(COMMANDS).map((name) => name.split(" ")[0] ?? name));
  const own = Object.hasOwn(MEANT, first) ? MEANT[first] : undefined;
  const meant = own === undefined ? closest(first, words) : `hookproof ${own}`;
  return usageError(
    `Unknown command ${JSON.stringify(first)}.`,
    meant ? `Did you mean ${meant}?` : "hookproof --help",
  );
}
