// Names the option behind a failure of the system, of a driver or of the library.
import type { Args } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { reasonOf } from "../files/files.js";

/** What a command was given, by the name under which help shows it. */
type Given = readonly (readonly [shown: string, value: string])[];

/**
 * A failure of a command with the option that led to it, where its value shows which: an error of the system names a
 * path, one of URL its input, and the library's errors of wrong options begin with the option's name. Others stay.
 */
export function withOption(error: unknown, args: Args, names: readonly string[]): unknown {
  const given = names.flatMap((name) =>
    args.texts(name).map((value): readonly [string, string] => [name, value]),
  );
  if (error instanceof CliError) return OF_FILES.has(error.code) ? named(error, given) : error;
  if (!(error instanceof Error)) return error;
  const { code, path, input } = error as NodeJS.ErrnoException & { input?: unknown };
  if (code === "ERR_INVALID_URL" && typeof input === "string") return notUrl(input, given) ?? error;
  if (typeof path === "string" && code !== undefined) return unusable(path, error, given);
  return error instanceof TypeError || error instanceof RangeError ? wrongOption(error, given) : error;
}

const OF_FILES: ReadonlySet<string> = new Set([
  "FILE_UNREADABLE",
  "FILE_UNWRITABLE",
  "FILE_IS_LINK",
  "TEXT_ENCODING",
]);

/** Errors of the system that only writing gives. */
const OF_WRITING: ReadonlySet<string> = new Set([
  "EISDIR",
  "EROFS",
  "ENOSPC",
  "EDQUOT",
  "EEXIST",
  "ENOTEMPTY",
]);

function named(error: CliError, given: Given): CliError {
  const { exit, code, message, hint, next, answer } = error;
  const [option] = given.find(([, value]) => message.startsWith(`${fileOf(value)} `)) ?? [];
  return option === undefined
    ? error
    : new CliError(exit, code, `--${option}: ${message}`, { hint, next, answer });
}

/** `@file` is how data names one. */
function fileOf(value: string): string {
  return value.startsWith("@") ? value.slice(1) : value;
}

function notUrl(input: string, given: Given): CliError | undefined {
  const [option] = given.find(([, value]) => value === input || input.startsWith(value)) ?? [];
  return option === undefined ? undefined : usageError(`--${option} is not a URL: ${JSON.stringify(input)}.`);
}

function unusable(path: string, error: NodeJS.ErrnoException, given: Given): CliError {
  const [option] = given.find(([, value]) => value !== "" && path.startsWith(value)) ?? [];
  const prefix = option === undefined ? "" : `--${option}: `;
  const isWriting = OF_WRITING.has(error.code ?? "");
  return new CliError(
    EXIT.setup,
    isWriting ? "FILE_UNWRITABLE" : "FILE_UNREADABLE",
    `${prefix}${path} cannot be ${isWriting ? "written" : "used"}: ${reasonOf(error)}.`,
  );
}

/** `retireAfterMs must be …` is said of `--retire-after`. */
function wrongOption(error: Error, given: Given): Error {
  const [, name = "", rest = ""] = /^([a-z][A-Za-z0-9]*)( must .+)$/s.exec(error.message) ?? [];
  const [, stem = "", unit] = /^(.*?)(Ms|Seconds)?$/.exec(name) ?? [];
  const flag = stem.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (name === "" || !given.some(([option]) => option === flag)) return error;
  return usageError(`--${flag}${unit === "Ms" ? " in ms" : unit === undefined ? "" : " in seconds"}${rest}.`);
}
