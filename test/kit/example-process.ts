import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endsWithThis } from "./processes.js";

export const EXAMPLES = join(import.meta.dirname, "../../examples");

/** An example that runs as a server of its own. */
export interface RunningExample {
  readonly url: string;
  /** What it has printed since it listens. */
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

/** Runs an example as its reader does, on what is built, on a free port, with more in its environment, and resolves once it prints its URL. */
export async function startExample(
  name: string,
  command: readonly [string, ...string[]] = [process.execPath],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningExample> {
  const [file, ...options] = command;
  const child = spawn(file, [...options, join(EXAMPLES, name)], {
    env: { ...process.env, PORT: "0", NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  endsWithThis(child);
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`${name} ended: ${errors}`)));
    createInterface(child.stdout).on("line", (line) => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line);
      if (found) resolve(found[0]);
      else lines.push(line);
    });
  });
  return {
    url,
    lines,
    async stop() {
      child.removeAllListeners("exit");
      const exited = once(child, "exit");
      child.kill();
      await exited;
    },
  };
}

/** An example that runs until it is told to end. */
export interface ExampleProgram {
  /** What it has printed. */
  printed(): string;
  /** Ends it; resolves to its exit code, if it has one. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Runs an example with arguments and more in its environment. */
export function runExample(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ExampleProgram {
  const child = spawn(process.execPath, [join(EXAMPLES, name), ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  endsWithThis(child);
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  return {
    printed: () => printed,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exited = once(child, "exit");
      child.kill(signal);
      const [code] = await exited;
      return code as number | null;
    },
  };
}
