import type { Io } from "./io.js";
import type { GlobalFlags, Output } from "./output.js";

/** A flag as data; yargs parses it, help and docs show it. */
export interface Flag {
  readonly describe: string;
  readonly type: "string" | "number" | "boolean";
  readonly alias?: string;
  readonly choices?: readonly string[];
  readonly default?: string | number | boolean;
  /** May be given several times. */
  readonly repeatable?: boolean;
  /** What stands for the value in help, such as `<file>`. */
  readonly value?: string;
  readonly hidden?: boolean;
}

/** A positional argument as data. */
interface Positional {
  readonly name: string;
  readonly describe: string;
  readonly required: boolean;
}

/** What a command is given. */
export interface Context {
  readonly io: Io;
  readonly out: Output;
  readonly args: Args;
  readonly global: GlobalFlags & { readonly timeoutMs: number };
}

/** Parsed flags and positionals, read by name and kind. */
export interface Args {
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
  number(name: string): number | undefined;
  flag(name: string): boolean;
}

/** A command as data: help is made from it, and `run` gives the exit code. */
export interface Command {
  readonly name: string;
  readonly describe: string;
  readonly positionals?: readonly Positional[];
  readonly flags: Readonly<Record<string, Flag>>;
  /** Command lines with what they do; at least two. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  /** The exit codes beyond 0, 1 and 2. */
  readonly exits: readonly (readonly [code: number, when: string])[];
  run(context: Context): Promise<number>;
}
