// Names the option behind a failure of the system, of a driver or of the library.
import { DeliveryError, HookproofError } from "hookproof";
import { type Args, type Command, type Flag, GLOBAL_FLAGS } from "../command.js";
import type { Config } from "../config/config.js";
import { SETTING_NAMES, SETTINGS, type SettingName, type SettingRule } from "../config/settings.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { reasonOf } from "../files/files.js";
import type { Io } from "../io.js";

/** A value that a command was given. */
interface GivenValue {
  /** The option that it is a value of, whoever gave it. */
  readonly name: string;
  /** Where it came from: `--ca`, `HOOKPROOF_CA`, a configuration and its member; undefined for an argument. */
  readonly shown: string | undefined;
  readonly value: string;
  /** Whether it names a file or a folder. */
  readonly isPath: boolean;
}

/** Everything that a command was given. */
type Given = readonly GivenValue[];

/** What a command was given by its line, its environment and its configuration, which is undefined where it cannot be read. */
export function givenTo(
  { flags, positionals = [] }: Pick<Command, "flags" | "positionals">,
  { args, io, config }: { readonly args: Args; readonly io: Io; readonly config: Config | undefined },
): Given {
  const typed = Object.entries<Flag>({ ...flags, config: GLOBAL_FLAGS.config });
  return [
    ...typed.flatMap(([name, { value = "" }]) =>
      valuesOf(name, `--${name}`, args.texts(name), /file|path|dir|@/.test(value)),
    ),
    ...positionals.flatMap(({ name }) => valuesOf(name, undefined, args.texts(name), false)),
    ...ofVariable("config", "HOOKPROOF_CONFIG", io),
    ...ofVariable("outbox", SETTINGS.outbox.envFile, io),
    ...(config ? SETTING_NAMES.flatMap((name) => settled(config, name)) : []),
  ];
}

function valuesOf(
  name: string,
  shown: string | undefined,
  values: readonly string[],
  isPath: boolean,
): GivenValue[] {
  return values.filter((value) => value !== "").map((value) => ({ name, shown, value, isPath }));
}

/** What a variable that names a file says. */
function ofVariable(name: string, variable: string, { env }: Io): GivenValue[] {
  return valuesOf(name, variable, [env[variable] ?? ""], true);
}

/** What a variable or a configuration says of a setting. */
function settled(config: Config, name: SettingName): GivenValue[] {
  const { kind, flag = name }: SettingRule = SETTINGS[name];
  try {
    const { value = [], origin = "default" } = config.find(name) ?? {};
    const isElsewhere = origin === "default" || origin.startsWith("--");
    return isElsewhere
      ? []
      : valuesOf(flag, origin, [value].flat().map(String), /^(?:paths?|key)$/.test(kind));
  } catch {
    return []; // a value that cannot be, which its own error names
  }
}

/**
 * A failure of a command with the option that led to it, where its value shows which: an error of the system names a
 * path, one of URL its input, and the library's errors of wrong options begin with the option's name. Others stay.
 */
export function withOption(error: unknown, given: Given): unknown {
  if (!(error instanceof Error) || error instanceof DeliveryError) return error;
  if (error instanceof CliError) return named(error, given);
  if (error instanceof HookproofError) {
    const { code, message, cause } = error;
    const shown = behind(code, message, given);
    return shown === undefined ? error : new HookproofError(code, `${shown}: ${message}`, { cause });
  }
  const { code, path, input } = error as NodeJS.ErrnoException & { input?: unknown };
  if (code === "ERR_INVALID_URL" && typeof input === "string") return notUrl(input, given) ?? error;
  if (typeof path === "string" && code !== undefined) return unusable(path, error, given);
  return error instanceof TypeError || error instanceof RangeError ? wrongOption(error, given) : error;
}

/** Codes whose sentence has the path of a file, or of one next to or below it. */
const OF_FILES =
  /^(?:FILE|KEY_STORE|KEY_SET|KEY_UNFIT|TEXT_ENCODING|SECRET_INVALID|CERTIFICATE|DATABASE|HISTORY|IDENTITY|CONFIG|EXPORT_INVALID)/;

/** Codes whose sentence quotes the value. */
const OF_VALUES = /^(?:USAGE|CIDR_INVALID|KEY_UNFIT|PROFILE_UNKNOWN)$/;

/** The options of which a code can only speak, where its sentence does not repeat the value. */
const OF_ONE: Readonly<Record<string, readonly string[]>> = {
  BEHAVIOUR_INVALID: ["behave-as", "expect"],
  DATABASE_UNUSABLE: ["db"],
  KEY_SET_URL_REFUSED: ["url", "jwks"],
  OUTBOX_NEWER: ["outbox"],
  OUTBOX_NOT_FOUND: ["outbox"],
  OUTBOX_UNAVAILABLE: ["outbox"],
};

function named(error: CliError, given: Given): CliError {
  const { exit, code, message, hint, next, answer, listenerAnswer } = error;
  const shown = exit === EXIT.usage || exit === EXIT.setup ? behind(code, message, given) : undefined;
  return shown === undefined
    ? error
    : new CliError(exit, code, `${shown}: ${message}`, { hint, next, answer, listenerAnswer });
}

/** The words for what a sentence speaks of; undefined where it says so itself, or where that is not sure. */
function behind(code: string, message: string, given: Given): string | undefined {
  // A word of it: a path may have the same letters in it.
  const isNamed = (shown: string) => [` ${shown}`, `(${shown}`].some((word) => ` ${message}`.includes(word));
  if (given.some(({ shown }) => shown !== undefined && isNamed(shown))) return undefined;
  const found = given
    .filter(
      ({ value, isPath }) =>
        (OF_VALUES.test(code) && hasValue(message, value)) ||
        (OF_FILES.test(code) && isPath && [value, fileOf(value)].some((path) => hasPath(message, path))),
    )
    .sort((one, other) => other.value.length - one.value.length);
  const [longest] = found;
  if (longest === undefined) return given.find(({ name }) => OF_ONE[code]?.includes(name))?.shown;
  const isArgument = given.some(({ shown, value }) => shown === undefined && value === longest.value);
  return isArgument ? undefined : longest.shown;
}

/** Whether a sentence is about a value: it begins with it, ends in it, or says what it cannot; a question only has it in between. */
function hasValue(message: string, value: string): boolean {
  const quoted = JSON.stringify(value);
  return (
    message.startsWith(quoted) || message.includes(`${quoted}.`) || message.includes(`${quoted} cannot `)
  );
}

/** A short one that stands within a sentence could be a word of it. */
const SHORT = 3;

/** Whether a sentence names a path, or one that goes on after it, such as a file in a folder. */
function hasPath(message: string, path: string): boolean {
  for (let at = message.indexOf(path); at >= 0; at = message.indexOf(path, at + 1)) {
    const [before, after] = [message[at - 1] ?? " ", message[at + path.length] ?? " "];
    const isWhole = before === " " && (path.endsWith("/") || " /.:;,".includes(after));
    if (isWhole && (at === 0 || path.length >= SHORT)) return true;
  }
  return false;
}

/** Errors of the system that only writing gives. */
const OF_WRITING: ReadonlySet<string> = new Set([
  "EISDIR",
  "EROFS",
  "ENOSPC",
  "EDQUOT",
  "EEXIST",
  "ENOTEMPTY",
]);

/** `@file` is how data names one. */
function fileOf(value: string): string {
  return value.startsWith("@") ? value.slice(1) : value;
}

function notUrl(input: string, given: Given): CliError | undefined {
  const found = given.find(({ shown, value }) => shown && (value === input || input.startsWith(value)));
  return found && usageError(`${found.shown} is not a URL: ${JSON.stringify(input)}.`);
}

function unusable(path: string, error: NodeJS.ErrnoException, given: Given): CliError {
  const found = given.find(({ shown, value }) => shown && path.startsWith(value));
  const prefix = found === undefined ? "" : `${found.shown}: `;
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
  const flag = `--${stem.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (name === "" || !given.some(({ shown }) => shown === flag)) return error;
  return usageError(`${flag}${unit === "Ms" ? " in ms" : unit === undefined ? "" : " in seconds"}${rest}.`);
}
