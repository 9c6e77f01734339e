// Servers of other people that a test starts for itself.
import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endsWithThis, killQuietly, runningProcesses } from "./processes.js";

/** A folder of its own for a server's data, which other users may enter. */
export async function dataFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `hookproof-${name}-`));
  await chmod(folder, 0o755);
  return folder;
}

/** A server of a test's own. */
export interface OwnServer {
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
  /** Kills it with the processes it has started; its folder stays. */
  kill(): Promise<void>;
}

/** Starts a server and waits until it can be talked to. */
export async function startOwnServer(
  command: readonly [string, ...string[]],
  folder: string,
  isReady: () => Promise<boolean>,
  owner: { uid?: number; gid?: number } = {},
): Promise<OwnServer> {
  const [file, ...args] = command;
  const child = spawn(file, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], ...owner });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said = (said + chunk).slice(-2_000);
  });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  endsWithThis(child);

  const deadline = Date.now() + 60_000;
  while (!(await isReady())) {
    if (hasEnded(child) || Date.now() > deadline) {
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
      throw new Error(`${file} did not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    async stop() {
      if (!hasEnded(child)) child.kill("SIGINT");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
    async kill() {
      const children = runningProcesses().filter(({ parent }) => parent === child.pid);
      child.kill("SIGKILL");
      for (const { pid } of children) killQuietly(pid);
      await exited;
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
