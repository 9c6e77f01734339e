// What runs on this machine, and children of a test that end with it.
import { type ChildProcess, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A process of this machine, and its command line. */
export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Kills a child, or the group that it leads, when this process ends before it: a run that is interrupted leaves none behind. */
export function endsWithThis(child: ChildProcess, isGroup = false): void {
  const { pid } = child;
  if (pid === undefined) return; // it did not start
  if (alive.size === 0) process.once("exit", killAll);
  const target = isGroup ? -pid : pid;
  alive.add(target);
  child.once("close", () => {
    alive.delete(target);
    if (alive.size === 0) process.off("exit", killAll);
  });
}

const alive = new Set<number>();

function killAll(): void {
  for (const target of alive) killQuietly(target);
}

/** Kills a process, or with a negative number a group, that may have ended by itself. */
export function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

/** The processes that run: from /proc, so that Linux needs no `ps` for it, and elsewhere from `ps`. */
export function runningProcesses(): RunningProcess[] {
  if (existsSync("/proc/self/status")) return readdirSync("/proc").flatMap(fromProc);
  return execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, ...command]) => ({
      pid: Number(pid),
      parent: Number(parent),
      command: command.join(" "),
    }));
}

/** The command line is empty for one that has ended and only waits for its parent to notice. */
function fromProc(name: string): RunningProcess[] {
  if (!/^\d+$/.test(name)) return [];
  try {
    const status = readFileSync(`/proc/${name}/status`, "utf8");
    const command = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").join(" ").trim();
    return [{ pid: Number(name), parent: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]), command }];
  } catch {
    return []; // it has ended meanwhile
  }
}
