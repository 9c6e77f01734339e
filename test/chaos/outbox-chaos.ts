import type { DeadLetter, OutboxEntry } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { waitFor } from "hookproof/testing";
import { seededRandom } from "../kit/seed.mjs";
import { type ChaosProcess, here, startProcess, type ToldHindrance } from "./chaos-process.js";
import { chaosReceiver, IN_TIME_MS, type ListenerName } from "./chaos-receiver.js";
import { keptHistory, type Remark } from "./history.js";
import {
  boundAnswers,
  brokenPromises,
  type ChaosEvidence,
  type Hindrance,
  type Interruption,
  type Told,
} from "./outbox-judge.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const PRODUCERS = 2;
const DISPATCHERS = 2;
const CONCURRENCY = 24;
const FIRST_DELAY_MS = 25;
const MAX_RETRY_AFTER_MS = 100;
/** By the dispatcher's clock until the request goes out, and then by the machine's. */
const ATTEMPT_TIMEOUT_MS = 2_000;
/** By the dispatcher's clock: docs/guides/outbox-operating.md. */
const HANGS_AFTER_MS = 1_000;
/** What a wait for something that is bound to come may take. */
const LIMIT = { timeoutMs: 1_800_000 };

/** What is done to the processes, or to their store. */
type Disturbance = "kill-dispatcher" | "kill-producer" | "stop-dispatcher" | "cut-store";

/** An engine under test. */
export interface ChaosEngine {
  /** Its entry in outbox-engines.mjs. */
  readonly name: "sqlite" | "postgres";
  /** What that entry is called with; plain text. */
  readonly place: Readonly<Record<string, string>>;
  /** How many times as fast as the machine's the clock runs; 1 where the store has a clock of its own. */
  readonly speed: number;
  /** How long a lease is, in milliseconds of the machine's clock: longer than the store is ever away. */
  readonly leaseMs: number;
  /** A store over the same events, to look at them from here. */
  open(clock: { now(): number }): Promise<OutboxStore>;
  /** Makes the store unreachable for a second or so: kills its server, or locks its file. */
  cutStore(): Promise<void>;
  /** Whether a process that is stopped now would hold up the others, as it has locked what they need. */
  isHeldUp?(): boolean;
}

/** What came of a run. */
export interface ChaosResult {
  /** Each way in which a promise was broken, once: none. */
  readonly broken: readonly string[];
  readonly failures: ReadonlyMap<string, number>;
  readonly keys: number;
  readonly summary: Readonly<Record<string, number>>;
}

/**
 * Lets two producers and two dispatchers work until `events` are acknowledged, ran, or are dead letters, and disturbs
 * them at random moments meanwhile: one of them is killed, or stopped past its leases, or the store is cut off.
 */
export async function outboxChaos(
  engine: ChaosEngine,
  { events, disturbances }: { events: number; disturbances: number },
): Promise<ChaosResult> {
  const startedAt = Date.now();
  const random = seededRandom(engine.name);
  const clock = { now: () => startedAt + (Date.now() - startedAt) * engine.speed };
  const { name, place, speed, leaseMs } = engine;
  const hangsAfterMs = HANGS_AFTER_MS / speed;
  const receiver = await chaosReceiver(SECRET, clock, DISPATCHERS, hangsAfterMs);
  const store = await engine.open(clock);
  const told = { taking: newTold(), refusing: newTold() };
  const acknowledged = () => told.taking.acknowledged.size + told.refusing.acknowledged.size;
  const done: Record<Disturbance, number> = {
    "kill-dispatcher": 0,
    "kill-producer": 0,
    "stop-dispatcher": 0,
    "cut-store": 0,
  };
  const interruptions: Interruption[] = [];
  const outages: { from: number; to: number }[] = [];
  const hindrances: Hindrance[] = [];
  const remarks: Remark[] = [];
  const policy = {
    concurrency: CONCURRENCY,
    firstDelayMs: FIRST_DELAY_MS,
    maxRetryAfterMs: MAX_RETRY_AFTER_MS,
  };
  const common = {
    engine: name,
    place,
    secret: SECRET,
    startedAt,
    speed,
    leaseMs,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    ...policy,
  };
  let started = 0;
  const producers: ChaosProcess[] = [];
  const dispatchers: ChaosProcess[] = [];
  const begun: ChaosProcess[] = [];
  const stops: Promise<void>[] = [];
  const stopped = new Set<number>();

  async function beginProducer(): Promise<void> {
    const task = { ...common, role: "producer", name: started++, urls: receiver.urls[0] };
    const process = await begin(task);
    if (acknowledged() >= events) await process.end();
    else producers.push(process);
  }

  async function beginDispatcher(index: number): Promise<void> {
    const clockOffMs = index % 2 ? 60_000 : -60_000;
    const urls = receiver.urls[index];
    const task = { ...common, role: "dispatcher", name: started++, urls, clockOffMs, dispatcher: index };
    dispatchers[index] = await begin(task);
  }

  async function begin(task: { role: string; name: number; dispatcher?: number }): Promise<ChaosProcess> {
    const process = startProcess("outbox-process.mjs", task);
    begun.push(process);
    await process.isReady((line) => {
      const { said, starved, hindrance } = line as ToldLine;
      if (said !== undefined)
        remarks.push({ at: performance.now(), text: `${task.role} ${task.name} ${said}` });
      else if (hindrance)
        hindrances.push({ dispatcher: task.dispatcher, kind: hindrance.kind, ...here(hindrance) });
      else if (!starved) note(line as ToldLine);
      else if (task.dispatcher !== undefined && !stopped.has(task.dispatcher))
        interruptions.push({ dispatcher: task.dispatcher, kind: "starved", ...here(starved) });
    });
    return process;
  }

  function note({ offered = {}, acknowledged: stored = {}, undone = {} }: ToldLine): void {
    for (const listener of ["taking", "refusing"] as const) {
      for (const [id, digest] of offered[listener] ?? []) told[listener].offered.set(id, digest);
      for (const [id] of stored[listener] ?? []) told[listener].acknowledged.add(id);
      for (const [id] of undone[listener] ?? []) told[listener].offered.delete(id);
    }
  }

  /** One that is not stopped at the moment. */
  async function anyDispatcher(): Promise<number> {
    const living = () => dispatchers.map((_, index) => index).filter((index) => !stopped.has(index));
    await waitFor(() => living().length > 0, LIMIT);
    return living()[Math.floor(random() * living().length)] ?? 0;
  }

  async function disturb(what: Disturbance): Promise<void> {
    if (what === "kill-producer") {
      const [victim] = producers.splice(Math.floor(random() * producers.length), 1);
      if (!victim) return disturb("kill-dispatcher"); // all is enqueued
      await victim.end("SIGKILL");
      await beginProducer();
    } else if (what === "kill-dispatcher") {
      const index = await anyDispatcher();
      const from = performance.now();
      await dispatchers[index]?.end("SIGKILL");
      await beginDispatcher(index);
      // What the killed one had sent may still have been on its way until now.
      interruptions.push({ dispatcher: index, kind: "kill", from, to: performance.now() });
    } else if (what === "stop-dispatcher") stops.push(stopOne(await anyDispatcher()));
    else {
      const from = performance.now();
      await engine.cutStore();
      outages.push({ from, to: performance.now() });
    }
    done[what] += 1;
  }

  /** Stops a dispatcher until all its leases have run out and others have delivered its events. */
  async function stopOne(index: number): Promise<void> {
    stopped.add(index);
    const from = performance.now();
    dispatchers[index]?.signal("SIGSTOP");
    while (engine.isHeldUp?.()) {
      dispatchers[index]?.signal("SIGCONT");
      await new Promise((resolve) => setTimeout(resolve, 1));
      dispatchers[index]?.signal("SIGSTOP");
    }
    await new Promise((resolve) => setTimeout(resolve, leaseMs + 700));
    dispatchers[index]?.signal("SIGCONT");
    interruptions.push({ dispatcher: index, kind: "stop", from, to: performance.now() });
    stopped.delete(index);
  }

  try {
    await Promise.all([
      ...Array.from({ length: PRODUCERS }, beginProducer),
      ...Array.from({ length: DISPATCHERS }, (_, index) => beginDispatcher(index)),
    ]);
    const progress = () => (acknowledged() + receiver.runs.length) / (2 * events);
    const outagesOfReceiver = [0.25, 0.5, 0.75].map(async (share, index) => {
      await waitFor(() => progress() >= share, LIMIT);
      await receiver.goDown(index === 1 ? 1_000 : 20); // in the middle it is down, otherwise restarted
    });
    const producing = waitFor(() => acknowledged() >= events, LIMIT).then(() =>
      Promise.all(producers.map(({ end }) => end())),
    );
    const kinds = Object.keys(done) as Disturbance[];
    for (let count = 1; count <= disturbances; count++) {
      const moment = (count - random()) / (disturbances + 1);
      await waitFor(() => progress() >= moment, LIMIT);
      await disturb(kinds[count % kinds.length] ?? "kill-dispatcher");
    }
    await Promise.all([producing, ...outagesOfReceiver, ...stops]);
    await waitFor(async () => isDone(await store.stats()), { ...LIMIT, intervalMs: 50 });
    await Promise.all(dispatchers.map(({ end }) => end()));
    const dead: DeadLetter[] = [];
    for await (const letter of store.deadLetters()) dead.push(letter);
    const entries = new Map<string, readonly OutboxEntry[]>();
    for (const id of told.taking.acknowledged) entries.set(id, await store.find(id));
    const { requests, runs, unsound, failures } = receiver;
    const stats = await store.stats();
    const evidence: ChaosEvidence = {
      ...{ told, requests, runs, unsound, interruptions, outages, entries, dead, stats },
      hindrances: [...hindrances, ...receiver.standstills],
      limits: {
        ...{ ...policy, hangsAfterMs, leaseMs, lagMs: receiver.lagMs() },
        patienceMs: (ATTEMPT_TIMEOUT_MS - IN_TIME_MS) / speed,
      },
    };
    const broken = brokenPromises(evidence);
    if (broken.length > 0) console.info(`history: ${keptHistory(name, broken, evidence, remarks)}`);
    return {
      broken,
      failures,
      keys: new Set(runs.flatMap(({ body }) => (JSON.parse(body) as { key?: string }).key ?? [])).size,
      summary: {
        seconds: Math.round((Date.now() - startedAt) / 1000),
        acknowledged: acknowledged(),
        runs: runs.length,
        deadLetters: dead.length,
        requests: requests.length,
        boundAnswers: boundAnswers(evidence),
        answered409: requests.filter(({ status }) => status === 409).length,
        failedRequests: [...failures.values()].reduce((sum, count) => sum + count, 0),
        lagMs: Math.round(receiver.lagMs()),
        starved: interruptions.filter(({ kind }) => kind === "starved").length,
        storeLost: remarks.filter(({ text }) => text.includes("cannot use its store")).length,
        ...done,
      },
    };
  } finally {
    await Promise.all(begun.map(({ end }) => end("SIGKILL")));
    await store.close();
    await receiver.stop();
  }
}

function newTold(): Told {
  return { offered: new Map(), acknowledged: new Set() };
}

function isDone(stats: readonly { pending: number; inFlight: number }[]): boolean {
  return stats.every(({ pending, inFlight }) => pending + inFlight === 0);
}

/** Event ids with the digests of their bodies, by listener. */
type ToldEvents = Partial<Record<ListenerName, readonly (readonly [id: string, digest: string])[]>>;
type ToldLine = ToldHindrance &
  Partial<Record<"offered" | "acknowledged" | "undone", ToldEvents>> & { readonly said?: string };
