// Parses a command's own arguments, strictly.
import { Parser } from "yargs/helpers";
import { type Args, type Command, type Flag, GLOBAL_FLAGS } from "../command.js";
import { didYouMean, usageError } from "../failure.js";
import { checkedDuration, durationMs } from "../times.js";

type Values = Record<string, unknown> & { readonly _: readonly (string | number)[] };

/** A parsed command line: a request for help, or a run with these arguments. */
type Parsed =
  | { readonly kind: "help" }
  | { readonly kind: "run"; readonly args: Args; readonly verbosity: number };

/** Parses a command's own arguments, strictly; every value is checked against what the flag's data says. */
export function parseCommand(command: Command, argv: readonly string[]): Parsed {
  const flags: Record<string, Flag> = { ...command.flags, ...GLOBAL_FLAGS };
  refuseBooleanValues(argv, flags);
  const { given, rest } = takeValues(argv, flags);
  const values = { ...Parser(rest, parserOptions(flags)), ...given } as Values;
  if (values.help) return { kind: "help" };
  refuseUnknown(values, flags, argv);
  const named = withPositionals(values, command);
  for (const [name, flag] of Object.entries(flags)) checkValue(name, flag, named[name]);
  return { kind: "run", args: argsOf(named, flags), verbosity: Number(values.verbose ?? 0) };
}

function parserOptions(flags: Readonly<Record<string, Flag>>): Parameters<typeof Parser>[1] {
  const booleans = Object.entries(flags).filter(([, { type }]) => type === "boolean");
  return {
    boolean: booleans.map(([name]) => name).filter((name) => name !== "verbose"),
    count: ["verbose"],
    alias: Object.fromEntries(booleans.flatMap(([name, { alias }]) => (alias ? [[name, [alias]]] : []))),
    configuration: {
      "parse-positional-numbers": false,
      "parse-numbers": false,
      "dot-notation": false,
      "camel-case-expansion": false,
    },
  };
}

/**
 * Takes the flags with a value out of a command line, with the value unchanged: it may be `-`, begin with one, or
 * have quotes, which yargs would strip.
 */
function takeValues(
  argv: readonly string[],
  flags: Readonly<Record<string, Flag>>,
): { given: Record<string, string | string[]>; rest: string[] } {
  const given: Record<string, string[]> = {};
  const rest: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (word === "--") {
      rest.push(...argv.slice(at));
      break;
    }
    const [, long, short, joined] = /^(?:--([^=]+)|-([^-=]))(?:=(.*))?$/s.exec(word) ?? [];
    const name = valueFlag(flags, long, short);
    if (name === undefined) rest.push(word);
    else {
      const value = joined ?? argv[++at];
      if (value === undefined) throw usageError(`--${name} needs a value.`);
      given[name] = [...(given[name] ?? []), value];
    }
  }
  const single = Object.entries(given).map(([name, values]) => [
    name,
    values.length === 1 && values[0] !== undefined ? values[0] : values,
  ]);
  return { given: Object.fromEntries(single), rest };
}

function valueFlag(
  flags: Readonly<Record<string, Flag>>,
  long: string | undefined,
  short: string | undefined,
): string | undefined {
  const found = Object.entries(flags).find(
    ([name, { alias }]) => name === long || (short !== undefined && alias === short),
  );
  return found && found[1].type !== "boolean" ? found[0] : undefined;
}

/** `--json=maybe` would count as false. */
function refuseBooleanValues(argv: readonly string[], flags: Readonly<Record<string, Flag>>): void {
  for (const word of argv) {
    if (word === "--") return;
    const [, name = "", value = ""] = /^--(?:no-)?([a-z-]+)=(.*)$/s.exec(word) ?? [];
    if (flags[name]?.type === "boolean" && value !== "true" && value !== "false")
      throw usageError(`--${name} takes no value, but has ${JSON.stringify(value)}.`);
  }
}

function refuseUnknown(values: Values, flags: Readonly<Record<string, Flag>>, argv: readonly string[]): void {
  const known = new Set(["_", "$0", ...Object.keys(flags)]);
  for (const { alias, type } of Object.values(flags)) if (alias && type === "boolean") known.add(alias);
  const unknown = Object.keys(values).find((name) => !known.has(name));
  if (unknown === undefined) return;
  if (unknown === "secret")
    throw usageError(
      "--secret is refused: other users of this machine can read a command line, and the shell keeps it.",
      "Use --secret-file <path>, --secret-file - for standard input, or the variable HOOKPROOF_SECRET.",
    );
  const shown = Object.entries(flags).flatMap(([name, { hidden, negated }]) =>
    hidden ? [] : [negated ? `no-${name}` : name],
  );
  const written = argv.includes(`--no-${unknown}`) ? `no-${unknown}` : unknown;
  throw usageError(
    `Unknown flag ${unknown.length === 1 ? "-" : "--"}${written}.`,
    didYouMean(written, shown, "--"),
  );
}

function withPositionals(
  values: Values,
  { name: command, positionals = [] }: Command,
): Record<string, unknown> {
  const given = values._.map(String);
  const help = `hookproof ${command} --help`;
  const missing = positionals.find(({ required }, index) => required && given[index] === undefined);
  if (missing)
    throw usageError(
      `<${missing.name}> is missing: ${missing.choices?.join(", ") ?? missing.describe}.`,
      help,
    );
  if (given.length > positionals.length)
    throw usageError(`${JSON.stringify(given[positionals.length])} is one argument too many.`, help);
  const named: Record<string, unknown> = { ...values };
  for (const [index, { name, choices }] of positionals.entries()) {
    const value = given[index];
    if (value?.includes("\0")) throw usageError(`<${name}> has a NUL in it.`);
    if (value !== undefined && !value.isWellFormed())
      throw usageError(`<${name}> has half of a character in it.`);
    if (choices && value !== undefined && !choices.includes(value))
      throw usageError(
        `<${name}> must be one of ${choices.join(", ")}, not ${JSON.stringify(value)}.`,
        didYouMean(value, choices),
      );
    named[name] = value;
  }
  return named;
}

function checkValue(name: string, flag: Flag, value: unknown): void {
  if (value === undefined || flag.type === "boolean") return;
  if (Array.isArray(value) && !flag.repeatable) throw usageError(`--${name} was given more than once.`);
  for (const text of [value].flat().map(String)) {
    if (text === "") throw usageError(`--${name} needs a value that is not empty.`);
    if (text.includes("\0")) throw usageError(`--${name} has a NUL in its value.`);
    if (!text.isWellFormed()) throw usageError(`--${name} has half of a character in its value.`);
    if (flag.choices && !flag.choices.includes(text))
      throw usageError(
        `--${name} must be one of ${flag.choices.join(", ")}, not ${JSON.stringify(text)}.`,
        didYouMean(text, flag.choices),
      );
    if (flag.type === "number") checkNumber(name, flag, text);
    if (flag.type === "duration") checkedDuration(name, text, flag.range);
  }
}

function checkNumber(name: string, { range: [min, max] = [0, 999_999_999] }: Flag, text: string): void {
  if (!/^[0-9]{1,9}$/.test(text))
    throw usageError(`--${name} must be a whole number, not ${JSON.stringify(text)}.`);
  if (Number(text) < min || Number(text) > max)
    throw usageError(`--${name} must be ${min} to ${max}, not ${text}.`);
}

function argsOf(values: Record<string, unknown>, flags: Readonly<Record<string, Flag>>): Args {
  const settledValue = (name: string) => values[name] ?? flags[name]?.default;
  const text = (name: string) => (settledValue(name) === undefined ? undefined : String(settledValue(name)));
  return {
    text,
    texts: (name) => (values[name] === undefined ? [] : [values[name]].flat().map(String)),
    number: (name) => (settledValue(name) === undefined ? undefined : Number(settledValue(name))),
    flag: (name) => settledValue(name) === true || settledValue(name) === "true",
    durationMs: (name) => {
      const value = text(name);
      return value === undefined ? undefined : durationMs(name, value);
    },
    isGiven: (name) => values[name] !== undefined,
  };
}
