// What a command, a flag and an argument are, as data.
import type { Config } from "./config/config.js";
import type { Io } from "./io.js";
import type { GlobalFlags, Output } from "./output.js";
import { WAITED } from "./times.js";

/** What completes a value on the command line, besides the choices of a flag. */
export type Completion =
  | ("target" | "profile" | "kid" | "event" | "code" | "file")
  | ("operation" | "fault" | "automation" | "wire-name");

/** A flag as data; yargs parses it, help and docs show it. */
export interface Flag {
  readonly describe: string;
  readonly type: "string" | "number" | "boolean" | "duration";
  readonly alias?: string;
  readonly choices?: readonly string[];
  readonly default?: string | number | boolean;
  /** The smallest and the largest number that is allowed, of a duration in milliseconds. */
  readonly range?: readonly [min: number, max: number];
  /** May be given several times. */
  readonly repeatable?: boolean;
  /** The placeholder of the value in help, such as `<file>`. */
  readonly value?: string;
  readonly hidden?: boolean;
  /** A boolean that is shown, and used, as `--no-name`. */
  readonly negated?: boolean;
  readonly completes?: Completion;
}

/** A positional argument as data. */
export interface Positional {
  readonly name: string;
  readonly describe: string;
  readonly required: boolean;
  readonly choices?: readonly string[];
  readonly completes?: Completion;
}

/** What a command is given. */
export interface Context {
  readonly io: Io;
  readonly out: Output;
  readonly args: Args;
  readonly global: GlobalFlags & { readonly timeoutMs: number };
  readonly config: Config;
}

/** Parsed flags and positionals, read by name and kind. */
export interface Args {
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
  number(name: string): number | undefined;
  flag(name: string): boolean;
  /** A duration in milliseconds. */
  durationMs(name: string): number | undefined;
  /** Whether the command line itself has the flag. */
  isGiven(name: string): boolean;
}

/** A command as data: help is made from it, and `run` gives the exit code. */
export interface Command {
  readonly name: string;
  /** What the summary in `registry.ts` does not say; help shows both. */
  readonly details?: string;
  readonly positionals?: readonly Positional[];
  readonly flags: Readonly<Record<string, Flag>>;
  /** Command lines with what they do; at least two. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  /** The exit codes beyond 0, 1 and 2. */
  readonly exits: readonly (readonly [code: number, when: string])[];
  /** May be called for a profile that no file has yet. */
  readonly acceptsNewProfile?: boolean;
  /** Writes a configuration, so that the one that --config names need not be there. */
  readonly createsConfig?: boolean;
  /** Shows every setting, also those that it does not use. */
  readonly showsAll?: boolean;
  run(context: Context): Promise<number>;
}

/** The flags that every command has. */
export const GLOBAL_FLAGS = {
  profile: {
    type: "string",
    alias: "p",
    value: "<name>",
    describe: "the profile whose target, secret or key is used",
    completes: "profile",
  },
  config: {
    type: "string",
    value: "<file>",
    describe: "instead of ./hookproof.config.json",
    completes: "file",
  },
  json: { type: "boolean", describe: "stdout is JSON and nothing else" },
  quiet: { type: "boolean", alias: "q", describe: "no hints and no warnings" },
  verbose: {
    type: "boolean",
    alias: "v",
    describe: "more detail on stderr; -vv for all of it",
  },
  color: { type: "boolean", describe: "colour on, or off with --no-color" },
  input: { type: "boolean", negated: true, describe: "never ask, even in a terminal" },
  timeout: {
    type: "duration",
    value: "<dur>",
    range: WAITED,
    default: "10s",
    describe: "limit for one call, such as 10s",
  },
  help: { type: "boolean", alias: "h", describe: "show help" },
} as const satisfies Record<string, Flag>;

/** The flag of commands that show a table: its rows. */
export const ROWS_FLAG = {
  limit: {
    type: "number",
    value: "<n>",
    range: [1, 1_000_000],
    default: 50,
    describe: "at most this many",
  },
} as const satisfies Record<string, Flag>;
