import { readFileSync } from "node:fs";
import type { Args, Command } from "./command.js";
import { type CliError, EXIT, usageError } from "./failure.js";
import type { Io } from "./io.js";
import { createOutput, inertJson, inertLine, painter } from "./output.js";
import { COMMANDS } from "./registry.js";

/** Runs a command line of this process. */
export async function main(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));
  // A reader that went away (`| head`) is not a failure of ours.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) =>
      process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.unexpected),
    );
  const { stdin, stdout, stderr, env } = process;
  return run(argv, { stdin, stdout, stderr, env, stopSignal: stop.signal });
}

/** Runs a command line and gives its exit code; never throws, never exits. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const called = { name: "hookproof" };
  try {
    return await dispatch(argv, io, called);
  } catch (error) {
    return await fail(error, argv, io, called.name);
  }
}

async function dispatch(argv: readonly string[], io: Io, called: { name: string }): Promise<number> {
  const [first = "--help", second] = argv;
  if (first === "--version" || first === "-V") return print(io, version());
  if (first === "--help" || first === "-h" || first === "help")
    return print(io, (await import("./help.js")).overview());
  if (first === "complete-words")
    return (await import("./commands/complete-words.js")).completeWords(argv.slice(1), io);
  const name = [`${first} ${second}`, first].find((candidate) => Object.hasOwn(COMMANDS, candidate));
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || !entry) {
    if (isGroup(first) && (second === "--help" || second === "-h"))
      return print(io, (await import("./help.js")).groupHelp(first));
    throw await unknownCommand(first, second);
  }
  called.name = name;
  const command = await entry.load();
  const { parseCommand } = await import("./parse.js");
  const parsed = parseCommand(command, argv.slice(name.split(" ").length));
  if (parsed.kind === "help") return print(io, (await import("./help.js")).commandHelp(command));
  return runCommand(command, parsed.args, parsed.verbosity, io);
}

async function runCommand(command: Command, args: Args, verbose: number, io: Io): Promise<number> {
  const [{ loadConfig }, { withSettings, globalFlags }] = await Promise.all([
    import("./config/config.js"),
    import("./config/settled-args.js"),
  ]);
  const config = loadConfig(io, {
    config: args.text("config"),
    profile: args.text("profile"),
    createsConfig: command.createsConfig,
    given: (flag) => (args.isGiven(flag) ? args.texts(flag) : []),
  });
  if (!command.acceptsNewProfile) config.requireKnownProfile();
  const global = globalFlags(args, verbose, config);
  return command.run({ io, out: createOutput(io, global), args: withSettings(args, config), global, config });
}

function print(io: Io, text: string): number {
  io.stdout.write(`${text}\n`);
  return EXIT.ok;
}

function isGroup(word: string): boolean {
  return Object.keys(COMMANDS).some((name) => name.startsWith(`${word} `));
}

async function unknownCommand(first: string, second: string | undefined): Promise<CliError> {
  if (first.startsWith("-"))
    return usageError(
      `The command comes first; ${JSON.stringify(first)} goes after it.`,
      "hookproof <command> [flags]",
    );
  const { closest } = await import("./failure.js");
  const members = Object.keys(COMMANDS).filter((name) => name.startsWith(`${first} `));
  if (members.length > 0) {
    if (second === undefined || second.startsWith("-"))
      return usageError(
        `hookproof ${first} needs a subcommand.`,
        members.map((name) => `hookproof ${name}`).join(", "),
      );
    const meant = closest(`${first} ${second}`, members);
    return usageError(
      `Unknown command ${JSON.stringify(`${first} ${second}`)}.`,
      meant ? `Did you mean ${meant}?` : members.map((name) => `hookproof ${name}`).join(", "),
    );
  }
  const words = new Set(Object.keys(COMMANDS).map((name) => name.split(" ")[0] ?? name));
  const meant = closest(first, words);
  return usageError(
    `Unknown command ${JSON.stringify(first)}.`,
    meant ? `Did you mean ${meant}?` : "hookproof --help",
  );
}

async function fail(error: unknown, argv: readonly string[], io: Io, type: string): Promise<number> {
  const { explainFailure } = await import("./send/explain-failure.js");
  const failure = explainFailure(error);
  const { code, message, hint, next, answer, exit } = failure;
  if (argv.includes("--json")) {
    io.stdout.write(
      `${inertJson({ v: 1, type, ok: false, ...answer, error: { code, message, ...(hint ? { hint } : {}), ...(next ? { next } : {}) } })}\n`,
    );
    return exit;
  }
  const paint = painter(io.stderr, io, argv.includes("--no-color") ? false : undefined);
  const head = paint("red", `error[${inertLine(code)}]`);
  const more = [hint, next && `next: ${next}`].filter((text) => text !== undefined && text !== "");
  io.stderr.write(
    `${head}  ${inertLine(message)}\n${more.map((text) => `  ${inertLine(text ?? "")}\n`).join("")}`,
  );
  return exit;
}

function version(): string {
  return (
    JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
  ).version;
}
