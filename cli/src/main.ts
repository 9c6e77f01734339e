// Runs a command line of this process and gives its exit code.

import { commandOf, isGroup, unknownCommand, withCommandFirst } from "./command-line/find-command.js";
import { COMMANDS } from "./command-line/registry.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { inertJson, inertLine, painter } from "./output.js";

/** Runs a command line of this process. */
export async function main(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));
  // A reader that went away (`| head`) is not a failure of ours.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "EPIPE") process.exit(EXIT.ok);
      if (stream === process.stdout)
        process.stderr.write(
          `error[FILE_UNWRITABLE]  Standard output cannot be written: ${code === "ENOSPC" ? "the disk is full" : `the system said ${code}`}.\n`,
        );
      process.exit(EXIT.setup);
    });
  const { stdout, stderr, env } = process;
  return run(argv, {
    // Node opens it when it is asked for, and few commands read it.
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr,
    env,
    stopSignal: stop.signal,
  });
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
  const words = withCommandFirst(argv);
  const [first = "--help", second = ""] = words;
  if (first === "--version" || first === "-V") return showVersion(words, io);
  if (["help", "--help", "-h"].includes(first)) return showHelp(words.slice(1).filter(isWord), words, io);
  if (first === "complete-words")
    return (await import("./commands/complete-words.js")).completeWords(argv.slice(1), io);
  const name = commandOf(words);
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || !entry) {
    if (isGroup(first) && !isWord(second)) return showHelp([first], words, io);
    throw unknownCommand(words);
  }
  called.name = name;
  const path = name.split(" ");
  const [command, { runCommand }] = await Promise.all([
    entry.load(),
    import("./command-line/run-command.js"),
  ]);
  const exit = await runCommand(command, words.slice(path.length), io);
  return exit === "help" ? showHelp(path, words, io) : exit;
}

function isWord(text: string): boolean {
  return text !== "" && !text.startsWith("-");
}

/** The overview, a group or a command, whichever the words name. */
async function showHelp(words: readonly string[], argv: readonly string[], io: Io): Promise<number> {
  const [first] = words;
  const name = commandOf(words);
  const command = name === undefined ? undefined : await COMMANDS[name]?.load();
  if (first !== undefined && !command && !(isGroup(first) && words.length === 1)) throw unknownCommand(words);
  if (argv.includes("--json")) {
    const { commandDocument, commandsDocument } = await import("./command-line/help-json.js");
    return print(io, inertJson(command ? commandDocument(command) : commandsDocument(first)));
  }
  const { commandHelp, groupHelp, lookFor, overview } = await import("./command-line/help.js");
  const look = lookFor(io.stdout, io, colorOf(argv));
  return print(
    io,
    command ? commandHelp(command, look) : first === undefined ? overview(look) : groupHelp(first, look),
  );
}

async function showVersion(argv: readonly string[], io: Io): Promise<number> {
  const { ownVersion } = await import("./version.js");
  const text = ownVersion();
  return print(
    io,
    argv.includes("--json") ? inertJson({ v: 1, type: "version", ok: true, version: text }) : text,
  );
}

/** What --color or --no-color says, for text that is written before the flags are parsed. */
function colorOf(argv: readonly string[]): boolean | undefined {
  if (argv.includes("--no-color")) return false;
  return argv.includes("--color") ? true : undefined;
}

function print(io: Io, text: string): number {
  io.stdout.write(`${text}\n`);
  return EXIT.ok;
}

async function fail(error: unknown, argv: readonly string[], io: Io, type: string): Promise<number> {
  const { explainFailure } = await import("./send/explain-failure.js");
  const failure = explainFailure(error);
  const { code, message, hint, next, answer, listenerAnswer, exit } = failure;
  if (argv.includes("--json")) {
    io.stdout.write(
      `${inertJson({ v: 1, type, ok: false, ...answer, error: { code, message, ...(hint ? { hint } : {}), ...(next ? { next } : {}) } })}\n`,
    );
    return exit;
  }
  const paint = painter(io.stderr, io, colorOf(argv));
  const head = paint("red", `error[${inertLine(code)}]`);
  // A code of the service is in the message; what others answer is not.
  const isSaid = answer.receiverCode !== undefined || listenerAnswer === undefined;
  const said = isSaid ? undefined : `It answered: ${listenerAnswer}`;
  const more = [said, hint, next && `next: ${next}`].filter((text) => text !== undefined && text !== "");
  const lines = [`${head}  ${inertLine(message)}`, ...more.map((text) => `  ${inertLine(text ?? "")}`)];
  const fitted = io.stderr.isTTY ? await fittedTo(io) : (line: string) => line;
  io.stderr.write(lines.map((line) => `${fitted(line)}\n`).join(""));
  return exit;
}

/** Fits lines of stderr to the terminal. */
async function fittedTo({ stderr, env }: Io): Promise<(line: string) => string> {
  const { terminalLayout } = await import("./terminal/layout.js");
  const columns = stderr.columns || Number(env.COLUMNS) || 80;
  return (line) => terminalLayout.line(line, columns, 2);
}
