import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runningProcesses } from "./processes.js";

// Below those the system gives to connections, which would take one meanwhile; each worker of vitest has its own.
const PORTS_EACH = 5_000;
const firstPort = 12_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 4) * PORTS_EACH;
let tried = randomInt(PORTS_EACH);

/** A free port on loopback, which this process is not given twice. */
export async function freePort(): Promise<number> {
  const port = firstPort + (tried++ % PORTS_EACH);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

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
  // A test run that is interrupted must not leave its server behind.
  const killAtExit = () => child.kill("SIGKILL");
  process.once("exit", killAtExit);

  const deadline = Date.now() + 20_000;
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
      process.off("exit", killAtExit);
      if (!hasEnded(child)) child.kill("SIGINT");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
    async kill() {
      process.off("exit", killAtExit);
      const children = runningProcesses().filter(({ parent }) => parent === child.pid);
      child.kill("SIGKILL");
      for (const { pid } of children) killQuietly(pid);
      await exited;
    },
  };
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {} // it has ended by itself
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
