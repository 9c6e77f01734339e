import yargs, { type Argv, type Options } from "yargs";
import type { Args, Command, Context, Flag } from "./command.js";
import { durationMs } from "./duration.js";
import { usageError } from "./failure.js";
import type { GlobalFlags } from "./output.js";
import { COMMANDS } from "./registry.js";

const GLOBAL_FLAGS: Readonly<Record<string, Flag>> = {
  json: { type: "boolean", describe: "stdout is JSON and nothing else" },
  quiet: { type: "boolean", alias: "q", describe: "errors only" },
  color: { type: "boolean", describe: "colour on or off (--no-color)" },
  timeout: { type: "string", value: "<dur>", default: "10s", describe: "limit for one call, such as 10s" },
};

const EPILOGUE = "Exit codes: 0 success, 1 unexpected failure, 2 usage";

/** What a command line asks for. */
export type Parsed =
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "run"; readonly args: Args; readonly global: Context["global"] };

/** The overview of all commands. */
export async function overview(): Promise<string> {
  const parser = base([]).usage(
    "hookproof <command>\n\nSends signed webhooks, and says why a signature fails.",
  );
  for (const [name, { summary }] of Object.entries(COMMANDS)) parser.command(name, summary);
  parser.epilogue("hookproof <command> --help shows examples and exit codes.");
  return parser.getHelp();
}

/** What yargs thinks a mistyped command was meant to be, as a question. */
export async function recommendation(given: string): Promise<string | undefined> {
  const parser = base([given]).strictCommands();
  for (const word of new Set(Object.keys(COMMANDS).map((name) => name.split(" ")[0] ?? name)))
    parser.command(word, "");
  try {
    await parser.parseAsync();
    return undefined;
  } catch (error) {
    return /Did you mean [^?]+\?/.exec(error instanceof Error ? error.message : "")?.[0];
  }
}

/** Parses a command's own arguments, strictly. */
export async function parseCommand(command: Command, argv: readonly string[]): Promise<Parsed> {
  const flags = { ...command.flags, ...GLOBAL_FLAGS };
  const positionals = command.positionals ?? [];
  const usage = [
    command.name,
    ...positionals.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)),
  ].join(" ");
  const parser = base(argv).usage(`hookproof ${usage}\n\n${command.describe}`);
  for (const [name, flag] of Object.entries(flags)) parser.option(name, optionOf(flag));
  parser.option("verbose", {
    alias: "v",
    count: true,
    describe: "request and response; twice: canonical string and timings",
  });
  for (const [line, does] of command.examples) parser.example(line, does);
  parser.epilogue([EPILOGUE, ...command.exits.map(([code, when]) => `${code} ${when}`)].join(", "));

  const parsed = (await parser.parseAsync()) as Record<string, unknown> & { _: (string | number)[] };
  if (parsed.help) return { kind: "help", text: await parser.getHelp() };
  return { kind: "run", args: argsOf(parsed, command), global: globalOf(parsed) };
}

function base(argv: readonly string[]): Argv {
  return yargs([...argv])
    .scriptName("hookproof")
    .help(false)
    .version(false)
    .option("help", { alias: "h", type: "boolean", describe: "show help" })
    .exitProcess(false)
    .strictOptions()
    .recommendCommands()
    .wrap(100)
    .parserConfiguration({
      "parse-positional-numbers": false,
      "parse-numbers": false,
      "dot-notation": false,
      "camel-case-expansion": false,
    })
    .fail((message, error) => {
      throw error ?? usageError(message ?? "This command line makes no sense.");
    });
}

function optionOf(flag: Flag): Options {
  const { type, describe, alias, choices, repeatable, value, hidden } = flag;
  return {
    describe: value ? `${describe}  ${value}` : describe,
    type: type === "boolean" ? "boolean" : "string",
    ...(type === "boolean" ? {} : { nargs: 1, requiresArg: true }),
    ...(alias ? { alias } : {}),
    ...(choices ? { choices } : {}),
    ...(repeatable ? { array: true } : {}),
    ...(hidden ? { hidden } : {}),
    ...(flag.default === undefined ? {} : { default: String(flag.default) as unknown as string }),
  };
}

function argsOf(parsed: Record<string, unknown> & { _: (string | number)[] }, command: Command): Args {
  const positionals = command.positionals ?? [];
  const given = parsed._.map(String);
  const missing = positionals.find(({ required }, index) => required && given[index] === undefined);
  if (missing)
    throw usageError(
      `<${missing.name}> is missing: ${missing.describe}.`,
      `hookproof ${command.name} --help`,
    );
  if (given.length > positionals.length) {
    throw usageError(
      `${JSON.stringify(given[positionals.length])} is one argument too many.`,
      `hookproof ${command.name} --help`,
    );
  }
  const values: Record<string, unknown> = { ...parsed };
  for (const [index, { name }] of positionals.entries()) values[name] = given[index];
  for (const [name, flag] of Object.entries({ ...command.flags, ...GLOBAL_FLAGS })) {
    const value = values[name];
    if (Array.isArray(value) && !flag.repeatable) throw usageError(`--${name} was given more than once.`);
    if (flag.type === "number" && value !== undefined && !/^[0-9]{1,9}$/.test(String(value))) {
      throw usageError(`--${name} must be a whole number, not ${JSON.stringify(value)}.`);
    }
  }
  const text = (name: string) => (values[name] === undefined ? undefined : String(values[name]));
  return {
    text,
    texts: (name) => (values[name] === undefined ? [] : [values[name]].flat().map(String)),
    number: (name) => (values[name] === undefined ? undefined : Number(values[name])),
    flag: (name) => values[name] === true || values[name] === "true",
  };
}

function globalOf(parsed: Record<string, unknown>): Context["global"] {
  const flags: GlobalFlags = {
    json: parsed.json === true,
    quiet: parsed.quiet === true,
    verbose: Number(parsed.verbose ?? 0),
    color: parsed.color === undefined ? undefined : parsed.color === true,
  };
  return { ...flags, timeoutMs: durationMs("timeout", String(parsed.timeout)) };
}
