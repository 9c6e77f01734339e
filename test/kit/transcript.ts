import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { commandHost, shellHost, simpleCommand, takesHost } from "./command-host.js";
import { heldPort } from "./held-port.mjs";
import { endsWithThis, killQuietly } from "./processes.js";

/** Neither part of a longer number nor of a name such as Ed25519. */
const WHOLE_NUMBER = /\b\d+\b/g;

const BIN = resolve(import.meta.dirname, "../../cli/bin/hookproof.cjs");
const BEFORE = ["no-dns.cjs", "cheap-scrypt.cjs"].map((file) => join(import.meta.dirname, file));
const STEP_LIMIT_MS = 60_000;
const END_LIMIT_MS = 20_000;

/** One command of a transcript and what a person should see: stdout, stderr (`! `) and the exit code (`? `). */
export interface Step {
  readonly command: string;
  readonly expected: readonly string[];
}

/** Reads a transcript: `$ command`, continued by `\` at a line's end, then what it prints; `#` lines are comments. */
export function parseTranscript(text: string): Step[] {
  const steps: { command: string; expected: string[] }[] = [];
  let continued = false;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const last = steps.at(-1);
    if (continued && last) last.command += `\n${line.replace(/^> /, "")}`;
    else if (line.startsWith("$ ")) steps.push({ command: line.slice(2), expected: [] });
    else if (last && !line.startsWith("# ")) last.expected.push(line);
    continued = (continued || line.startsWith("$ ")) && line.endsWith("\\");
  }
  for (const step of steps) while (step.expected.at(-1) === "") step.expected.pop();
  return steps;
}

/** Programs that commands of transcripts call beside what every system has, as `itWith` wants them: `curl and jq`. */
export function toolsOf(steps: readonly Step[]): string {
  const commands = steps.map(({ command }) => command).join("\n");
  return ["age-keygen", "curl", "jq", "openssl", "python3"]
    .filter((tool) => new RegExp(`(?<![\\w-])${tool} |--${tool} \\|`).test(commands)) // --curl prints a command
    .join(" and ");
}

/** A command that serves until it is stopped: a person has it in a terminal of its own. */
const SERVING = /^hookproof (?:listen|jwks serve|service start)(?: --?[\w-]+(?: [^\s|&;>-]\S*)?)*$/;

/** A folder, a data folder and free ports of its own for one transcript. */
export interface Stage {
  readonly folder: string;
  /** Runs a command in bash and gives what a person would see, in the form of a transcript. */
  run(command: string, merged?: boolean): Promise<string[]>;
  /**
   * Gives what `run` gives. Each `hookproof` runs in one process with the others, as nearly all that its own would take is the
   * start of Node, but where a process shows more than it prints. docs/json-output.md is tested with a process for every command.
   */
  runInOne(command: string): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Sets a stage with an empty folder, where 4400, 4401, 4410, 4411, 4420 and 4431 stand for ports of its own. `hookproof` is the
 * built command, unless the environment has a `PATH` of its own.
 */
export async function openStage(environment?: Readonly<Record<string, string>>): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-transcript-"));
  mkdirSync(join(folder, "work"));
  const ports = new Map([
    ["4400", String(await heldPort())],
    ["4401", String(await heldPort())],
    ["4410", String(await heldPort())],
    ["4420", String(await heldPort())],
    ["4411", String(await heldPort())],
    ["4431", String(await heldPort())],
  ]);
  const namesOfPorts = new Map([...ports].map(([name, real]) => [real, name]));
  const env = {
    HOME: folder,
    HOOKPROOF_HOME: join(folder, "data"),
    LANG: "C.UTF-8",
    TMPDIR: tmpdir(),
    PATH: environment?.PATH ?? `${builtCommand(folder)}:${process.env.PATH}`,
    ...environment,
  };
  const background: ChildProcess[] = [];
  const host = commandHost(join(folder, "work"), env, STEP_LIMIT_MS);
  let shell: ReturnType<typeof shellHost> | undefined;
  const outward = (text: string) => text.replace(WHOLE_NUMBER, (number) => ports.get(number) ?? number);
  const inward = (text: string) => text.replace(WHOLE_NUMBER, (number) => namesOfPorts.get(number) ?? number);
  const start = (
    command: string,
    { stdin = "ignore", script }: { stdin?: "ignore" | "pipe"; script?: string } = {},
  ) => {
    const child = spawn("bash", ["-c", outward(command)], {
      cwd: join(folder, "work"),
      env: { ...env, ...(script && { BASH_ENV: script }) },
      stdio: [stdin, "pipe", "pipe"],
      detached: true,
    });
    endsWithThis(child, true);
    return child;
  };

  async function run(command: string, merged = false): Promise<string[]> {
    if (command.endsWith(" &") || (merged && SERVING.test(command))) {
      const child = start(`exec ${withPort(command.replace(/ &$/, ""))}`);
      background.push(child);
      return [inward(await firstLine(child))];
    }
    const child = start(merged ? `{ ${command}\n} 2>&1` : command);
    return shown(...(await outcome(child)));
  }

  async function runInOne(command: string): Promise<string[]> {
    const simple = simpleCommand(outward(command));
    // A stage with a path of its own has a command of its own; only here bash is known to reach a host.
    if (!simple && process.platform === "linux" && !environment?.PATH && takesHost(command)) {
      shell ??= shellHost(host, join(folder, "bin"));
      return shown(...(await outcome(start(command, { script: (await shell).script }))));
    }
    if (!simple) return run(command);
    const { stdout, stderr, code } = await host.run(simple.words);
    if (!simple.filter) return shown(stdout, stderr, code);
    const child = start(simple.filter, { stdin: "pipe" });
    child.stdin?.end(stdout);
    const [filtered, more, filterCode] = await outcome(child);
    return shown(filtered, stderr + more, filterCode);
  }

  function shown(stdout: string, stderr: string, code: number | null): string[] {
    return [
      ...lines(inward(stdout)),
      ...lines(inward(stderr)).map((line) => `! ${line}`),
      ...(code === 0 ? [] : [`? ${code}`]),
    ];
  }

  return {
    folder,
    run,
    runInOne,
    async close() {
      (await shell)?.close();
      await host.close();
      for (const child of background) await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A folder for the path in which `hookproof` is what the repository has built. */
function builtCommand(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(
    join(bin, "hookproof"),
    `#!/bin/sh\nexec "${process.execPath}" ${BEFORE.map((file) => `--require "${file}"`).join(" ")} "${BIN}" "$@"\n`,
  );
  chmodSync(join(bin, "hookproof"), 0o755);
  return bin;
}

/** A serving command on the port that stands for its default one. */
function withPort(command: string): string {
  if (command.includes("--port")) return command;
  if (command.includes("service start")) return `${command} --port 4420`;
  return `${command} --port ${command.includes("jwks serve") ? "4410" : "4400"}`;
}

const DIGITS = { hex: "[0-9a-f]", base64url: "[A-Za-z0-9_-]", bech32: "[02-9ac-hj-np-z]" };

/** What `[name]` stands for in a transcript: values that differ from run to run, and the form of each. */
export const FORMS: Readonly<Record<string, string>> = {
  "[age]": "(?:0|[1-9]\\d{0,2})ms|[1-9]\\d?[sm]",
  "[clock]": "[0-2]\\d(?::[0-5]\\d){2}", // on this machine
  "[date]": "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d\\d [A-Z][a-z]{2} 20\\d\\d(?: \\d\\d:\\d\\d:\\d\\d) GMT",
  "[fingerprint]": `${DIGITS.hex}{8}`,
  "[folder]": "/(?:[^\\s/]+/)*hookproof-transcript-[A-Za-z0-9]{6}", // the folder of the stage
  "[hash]": `${DIGITS.hex}{32}`,
  "[host]": "(?:127\\.0\\.0\\.1|localhost):[1-9]\\d{3,4}",
  "[kid]": `20\\d\\d-[01]\\d-[0-3]\\d-${DIGITS.base64url}{8}`,
  "[ms]": "(?:0|[1-9]\\d{0,4})",
  "[port]": "[1-9]\\d{3,4}",
  "[recipient]": `age1${DIGITS.bech32}{58}`,
  "[s]": "(?:0|[1-9]\\d?)\\.\\d{3}",
  "[seconds]": "1[7-9]\\d{8}", // Unix time
  "[signature]": `${DIGITS.base64url}{43}`,
  "[time]": "20\\d\\d-[01]\\d-[0-3]\\d(?:T[0-2]\\d(?::[0-5]\\d){2}(?:\\.\\d{3})?Z| [0-2]\\d(?::[0-5]\\d){2})",
  "[token]": `${DIGITS.base64url}{43}`, // of the inspector
  "[uuid]": `${DIGITS.hex}{8}-${DIGITS.hex}{4}-4${DIGITS.hex}{3}-[89ab]${DIGITS.hex}{3}-${DIGITS.hex}{12}`,
  "[version]": "\\d+\\.\\d+\\.\\d+",
};

/** Whether what was printed is what a transcript expects; a name of `FORMS` stands for any value of its form. */
export function matches(expected: readonly string[], seen: readonly string[]): boolean {
  return (
    expected.length === seen.length && expected.every((line, index) => lineMatches(line, seen[index] ?? ""))
  );
}

function lineMatches(expected: string, seen: string): boolean {
  const pattern = expected
    .split(/(\[[a-z0-9-]+\])/)
    .map((part) => (Object.hasOwn(FORMS, part) ? `(?:${FORMS[part]})` : literally(part)))
    .join("");
  return new RegExp(`^${pattern}$`).test(seen);
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function lines(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((done, reject) => {
    let text = "";
    let errors = "";
    child.stderr?.on("data", (chunk) => {
      errors += chunk;
    });
    child.stdout?.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) done(text.slice(0, text.indexOf("\n")));
    });
    child.once("close", () => reject(new Error(`ended before its first line: ${errors}`)));
  });
}

function outcome(child: ChildProcess): Promise<[stdout: string, stderr: string, code: number | null]> {
  return new Promise((done) => {
    const text = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name]?.on("data", (chunk) => (text[name] += chunk));
    const timer = setTimeout(() => killQuietly(-(child.pid ?? 0)), STEP_LIMIT_MS);
    child.once("close", (code) => {
      clearTimeout(timer);
      done([text.stdout, text.stderr, code]);
    });
  });
}

/** Ends a command that serves. One that does not end when it is asked to is a defect, and must not hold up the test. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "close");
  const timer = setTimeout(() => killQuietly(-(child.pid ?? 0)), END_LIMIT_MS);
  process.kill(-(child.pid ?? 0), "SIGTERM"); // its group, as it may be a pipeline
  const [, signal] = await ended;
  clearTimeout(timer);
  if (signal === "SIGKILL")
    throw new Error(`did not end within ${END_LIMIT_MS} ms: ${child.spawnargs.at(-1)}`);
}

/** Whether the command is built; `npm test` builds it first. */
export function requireBuild(): void {
  execFileSync(process.execPath, [BIN, "--version"]);
}
