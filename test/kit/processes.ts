import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A process of this machine, and its command line. */
export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
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
