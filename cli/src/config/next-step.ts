// The command that is worth running next, about what this one was about.
import { wordOf } from "../shell-word.js";

/** The flags that say where something is, by the first word of the commands that take them. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  jwks: ["store"],
  keys: ["store"],
  outbox: ["outbox", "schema"],
  service: ["db"],
};

/** Of a database's URL: a password may stand in it. */
const PARAMETERS = /^([a-z]+:\/\/[^?]*)\?.*$/s;

/** The flags that a command was given. */
export interface GivenFlags {
  isGiven(name: string): boolean;
  texts(name: string): readonly string[];
}

/**
 * The command, as it is to be printed, with the flags that said where this one was to look, and those of `more`: without
 * them it would look elsewhere, and say something about another outbox or profile.
 */
export function nextStep(args: GivenFlags, command: string, more: readonly string[] = []): string {
  const words = command.split(" ");
  const flags = [
    ...more,
    ...(PLACES[words[1] ?? ""] ?? []),
    "config",
    ...(words[1] === "profile" ? [] : ["profile"]), // the commands about profiles name them as an argument
  ];
  const given = flags.flatMap((flag) =>
    args.isGiven(flag) && !words.includes(`--${flag}`)
      ? args.texts(flag).map((value) => `--${flag} ${wordOf(value.replace(PARAMETERS, "$1?…"))}`)
      : [],
  );
  return [command, ...given].join(" ");
}
