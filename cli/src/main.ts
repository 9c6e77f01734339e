import { readFileSync } from "node:fs";
import type { Command } from "./command.js";
import { type CliError, EXIT, usageError } from "./failure.js";
import type { Io } from "./io.js";
import { createOutput, painter } from "./output.js";
import { COMMANDS } from "./registry.js";

/** Runs a command line of this process. */
export async function main(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));
  // A reader that went away (`| head`) is not a failure of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) =>
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
  if (first === "--version" || first === "-V") {
    io.stdout.write(`${version()}\n`);
    return EXIT.ok;
  }
  const name = [`${first} ${second}`, first].find((candidate) => Object.hasOwn(COMMANDS, candidate));
  const entry = name === undefined ? undefined : COMMANDS[name];
  const parser = await import("./parse.js");
  if (name === undefined || !entry) {
    if (first !== "--help" && first !== "-h" && first !== "help") throw await unknownCommand(first);
    io.stdout.write(`${await parser.overview()}\n`);
    return EXIT.ok;
  }
  called.name = name;
  const command: Command = await entry.load();
  const parsed = await parser.parseCommand(command, argv.slice(name.split(" ").length));
  if (parsed.kind === "help") {
    io.stdout.write(`${parsed.text}\n`);
    return EXIT.ok;
  }
  return command.run({ io, out: createOutput(io, parsed.global), args: parsed.args, global: parsed.global });
}

async function unknownCommand(given: string): Promise<CliError> {
  const groups = Object.keys(COMMANDS).filter((name) => name.startsWith(`${given} `));
  if (groups.length > 0)
    return usageError(
      `hookproof ${given} needs one more word.`,
      groups.map((name) => `hookproof ${name}`).join(", "),
    );
  const { recommendation } = await import("./parse.js");
  return usageError(
    `There is no command ${JSON.stringify(given)}.`,
    (await recommendation(given)) ?? "hookproof --help",
  );
}

async function fail(error: unknown, argv: readonly string[], io: Io, type: string): Promise<number> {
  const { explainFailure } = await import("./explain-failure.js");
  const failure = explainFailure(error);
  const { code, message, hint, answer, exit } = failure;
  if (argv.includes("--json")) {
    io.stdout.write(
      `${JSON.stringify({ v: 1, type, ok: false, ...answer, error: { code, message, ...(hint ? { hint } : {}) } })}\n`,
    );
    return exit;
  }
  const paint = painter(io.stderr, io, argv.includes("--no-color") ? false : undefined);
  io.stderr.write(`${paint("red", `error[${code}]`)}  ${message}\n${hint ? `  ${hint}\n` : ""}`);
  return exit;
}

function version(): string {
  return (
    JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
  ).version;
}
