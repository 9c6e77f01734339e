import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { DeadLetter, OutboxStore } from "hookproof/outbox";
import { waitFor } from "hookproof/testing";
import { type ChaosReceiver, chaosReceiver } from "./chaos-receiver.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const PROCESSES = ["producer", "producer", "dispatcher", "dispatcher"] as const;

type Role = (typeof PROCESSES)[number];

/** An engine under test. */
export interface ChaosEngine {
  /** Its entry in outbox-engines.mjs. */
  readonly name: string;
  /** What that entry is called with; plain text. */
  readonly place: Readonly<Record<string, string>>;
  /** How many times as fast as the machine's the clock runs; 1 where the store has a clock of its own. */
  readonly speed: number;
  /** A store over the same events, to look at them from here. */
  open(clock: { now(): number }): Promise<OutboxStore>;
  /** Kills the database server and brings it back, where there is one. */
  killServer?(): Promise<void>;
}

/** What was told by producers, by listener; events of a transaction are `offered` before it is committed. */
interface Told {
  readonly offered: Set<string>;
  readonly acknowledged: Set<string>;
  readonly undone: Set<string>;
}

/** What came of a run. */
export interface ChaosResult {
  readonly taking: Told;
  readonly refusing: Told;
  readonly runs: ChaosReceiver["runs"];
  readonly dead: readonly DeadLetter[];
  readonly failures: ReadonlyMap<string, number>;
  readonly summary: Readonly<Record<string, number>>;
}

/**
 * Lets two producers and two dispatchers work until `events` are acknowledged, ran, or are dead letters, and kills
 * one of them, or the database, at random moments meanwhile.
 */
export async function outboxChaos(
  engine: ChaosEngine,
  { events, kills }: { events: number; kills: number },
): Promise<ChaosResult> {
  const startedAt = Date.now();
  const clock = { now: () => startedAt + (Date.now() - startedAt) * engine.speed };
  const receiver = await chaosReceiver(SECRET, clock);
  const { name, place, speed } = engine;
  const store = await engine.open(clock);
  const told = { taking: newTold(), refusing: newTold() };
  const acknowledged = () => told.taking.acknowledged.size + told.refusing.acknowledged.size;
  const killed = { producer: 0, dispatcher: 0, server: 0 };
  const common = { engine: name, place, urls: receiver.urls, secret: SECRET, startedAt, speed };
  const living: (ChaosProcess & { role: Role })[] = [];
  const victims: (Role | "server")[] = [
    "dispatcher",
    "producer",
    ...(engine.killServer ? ["server" as const] : []),
  ];

  async function begin(role: Role): Promise<void> {
    const process = await startProcess({ ...common, role }, note);
    if (role === "producer" && acknowledged() >= events) await process.end();
    else living.push({ ...process, role });
  }

  function note(line: Partial<Record<keyof Told, Record<"taking" | "refusing", string[]>>>): void {
    for (const [what, ids] of Object.entries(line))
      for (const listener of ["taking", "refusing"] as const)
        for (const id of ids[listener] ?? []) told[listener][what as keyof Told].add(id);
  }

  async function killOne(role: Role | "server"): Promise<void> {
    const candidates = living.filter((one) => one.role === role);
    const victim = candidates[Math.floor(Math.random() * candidates.length)];
    if (role === "producer" && !victim) return killOne("dispatcher"); // all is enqueued
    killed[role] += 1;
    if (!victim) return engine.killServer?.();
    living.splice(living.indexOf(victim), 1);
    await victim.end("SIGKILL");
    await begin(victim.role);
  }

  try {
    await Promise.all(PROCESSES.map(begin));
    const progress = () => (acknowledged() + receiver.runs.length) / (2 * events);
    const outages = [0.25, 0.5, 0.75].map(async (share, index) => {
      await waitFor(() => progress() >= share, { timeoutMs: 1_800_000 });
      await receiver.goDown(index === 1 ? 1_000 : 20); // in the middle it is down, otherwise restarted
    });
    const producing = waitFor(() => acknowledged() >= events, { timeoutMs: 1_800_000 }).then(() =>
      Promise.all(living.filter(({ role }) => role === "producer").map(({ end }) => end())),
    );
    for (let kill = 1; kill <= kills; kill++) {
      const moment = (kill - Math.random()) / (kills + 1);
      await waitFor(() => progress() >= moment, { timeoutMs: 1_800_000 });
      await killOne(victims[kill % victims.length] ?? "dispatcher");
    }
    await Promise.all([producing, ...outages]);
    await waitFor(async () => isDone(await store.stats()), { timeoutMs: 1_800_000, intervalMs: 50 });
    await Promise.all(living.map(({ end }) => end()));
    const dead: DeadLetter[] = [];
    for await (const letter of store.dead()) dead.push(letter);
    return {
      ...told,
      runs: receiver.runs,
      dead,
      failures: receiver.failures,
      summary: {
        seconds: Math.round((Date.now() - startedAt) / 1000),
        acknowledged: acknowledged(),
        runs: receiver.runs.length,
        deadLetters: dead.length,
        requests: receiver.counts.requests,
        answered409: receiver.counts.duplicates,
        failedRequests: [...receiver.failures.values()].reduce((sum, count) => sum + count, 0),
        producersKilled: killed.producer,
        dispatchersKilled: killed.dispatcher,
        serversKilled: killed.server,
      },
    };
  } finally {
    await Promise.all(living.map(({ end }) => end("SIGKILL")));
    await store.close();
    await receiver.stop();
  }
}

function newTold(): Told {
  return { offered: new Set(), acknowledged: new Set(), undone: new Set() };
}

function isDone(stats: readonly { pending: number; inFlight: number }[]): boolean {
  return stats.every(({ pending, inFlight }) => pending + inFlight === 0);
}

interface ChaosProcess {
  /** Kills the process, or asks it to end; resolves when it has. */
  end(signal?: "SIGKILL"): Promise<void>;
}

/** Starts a process and waits for its first sign of life, so that a kill falls among its work. */
async function startProcess(
  task: Readonly<Record<string, unknown>>,
  note: (line: Record<string, never>) => void,
): Promise<ChaosProcess> {
  const script = join(import.meta.dirname, "outbox-process.mjs");
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify(task)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("the process has no pipes");
  stdin.on("error", () => {});
  await new Promise<void>((resolve, reject) => {
    void ended.then(() => reject(new Error("the process ended before it was ready")));
    createInterface({ input: stdout }).on("line", (line) => {
      const said = parsed(line);
      if (said?.ready) resolve();
      else if (said) note(said as Record<string, never>);
    });
  });
  return {
    async end(signal) {
      if (signal) child.kill(signal);
      else stdin.write("end\n");
      await ended;
    },
  };
}

/** A killed process leaves half a line behind. */
function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
