import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Hindrance } from "./outbox-judge.js";

/** A process of a chaos run. */
export interface ChaosProcess {
  /** Resolves with its first sign of life, so that a kill falls among its work; hands on what it tells. */
  isReady(note?: (line: object) => void): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Kills the process, or asks it to end; resolves when it has. */
  end(signal?: "SIGKILL"): Promise<void>;
}

/** A while by the machine's clock. */
interface While {
  readonly from: number;
  readonly to: number;
}

/** What a process says that kept it from work (hindrances.mjs). */
export interface ToldHindrance {
  readonly starved?: While;
  readonly hindrance?: Pick<Hindrance, "kind"> & While;
}

/** The same while by the clock of this process. */
export function here({ from, to }: While): While {
  return { from: from - performance.timeOrigin, to: to - performance.timeOrigin };
}

/** Starts a script of this folder, which tells lines of JSON: `{"ready":true}` first. */
export function startProcess(name: string, task: object): ChaosProcess {
  const script = join(import.meta.dirname, name);
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify(task)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("the process has no pipes");
  stdin.on("error", () => {});
  return {
    isReady: (note) =>
      new Promise<void>((resolve, reject) => {
        void ended.then(() => reject(new Error("the process ended before it was ready")));
        createInterface({ input: stdout }).on("line", (line) => {
          const said = parsed(line);
          if (said && "ready" in said) resolve();
          else if (said) note?.(said);
        });
      }),
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      if (signal) child.kill(signal);
      else stdin.write("end\n");
      await ended;
    },
  };
}

/** A killed process leaves half a line behind. */
function parsed(line: string): object | undefined {
  try {
    return JSON.parse(line) as object;
  } catch {
    return undefined;
  }
}
