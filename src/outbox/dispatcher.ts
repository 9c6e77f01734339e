import type { Clock } from "../primitives/clock.js";
import type { Observe } from "../sender/observe.js";
import { waitFor } from "../sender/waiting.js";
import { abortAll } from "./abort-all.js";
import type { BodyEncryption } from "./body-encryption.js";
import { createCompletions } from "./completions.js";
import { createDeliverClaimed } from "./deliver-claimed.js";
import type { OutboxListener } from "./outbox-listener.js";
import type { ClaimedEvent, ClaimShare, OutboxStore } from "./outbox-store.js";
import { storeWatch } from "./store-watch.js";
import { createUpkeep, type Retention } from "./upkeep.js";
import { createWakeUp } from "./wake-up.js";

/** What a dispatcher is made of. */
export interface DispatcherContext {
  readonly store: OutboxStore;
  readonly listeners: ReadonlyMap<string, OutboxListener>;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly retention: Retention;
  readonly encryption: BodyEncryption | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly observe: Observe | undefined;
}

/** One run of the loop that claims and delivers, from its start to its stop. */
export interface Dispatcher {
  /** Resolves as soon as nothing is under way and nothing can be claimed. */
  drained(): Promise<void>;
  /** Claims no more, waits for what is under way, aborts that after a time, and puts everything down. */
  stop(timeoutMs: number): Promise<void>;
}

/** How long attempts that end one after the other are waited for. */
const GATHER_MS = 10;

/** What is put down after the attempts were aborted has this long. */
const GRACE_MS = 2_000;

export function startDispatcher(context: DispatcherContext): Dispatcher {
  const { store, listeners, concurrency, leaseMs, pollMs, clock, wait, observe } = context;
  const halt = new AbortController();
  const aborting = abortAll();
  const watch = storeWatch({ clock, observe, wait, aborting });
  const completions = createCompletions(store, { watch, now: clock.now, onLost: tellLost });
  const deliver = createDeliverClaimed({ ...context, watch, completions, aborting });
  const upkeep = createUpkeep(store, context);
  const { wake, pause } = createWakeUp(wait);
  const lull = createWakeUp(waitFor);
  const stopListening = store.onWork?.(wake);
  const underWay = new Set<Promise<void>>();
  let drains: (() => void)[] = [];
  let order = [...listeners.keys()];
  const loop = run();

  async function run(): Promise<void> {
    while (!halt.signal.aborted) {
      try {
        const asked = drains;
        const ended = completions.size;
        const claimed = await besides(completions.flush(), round());
        if (ended + claimed === 0 && isIdle()) settle(asked);
        if (halt.signal.aborted) return;
        if (ended > 0) wake(); // what comes next of their ordering keys may be due only now
        await pause(pauseMs());
        await gather();
      } catch {
        await wait(watch.pauseMs || pollMs, halt.signal); // the watch has told of it
      }
    }
  }

  /**
   * Waits while attempts go on ending, a few milliseconds at most: a claim costs by itself, so that many events at
   * once cost the database less than a few at a time (docs/decisions.md, O8).
   */
  async function gather(): Promise<void> {
    const until = clock.now() + GATHER_MS;
    let before: number;
    do {
      before = underWay.size;
      await lull.pause(0);
    } while (underWay.size > 0 && underWay.size < before && clock.now() < until);
  }

  /** Starts what is due; resolves to how many events were claimed. */
  async function round(): Promise<number> {
    const now = clock.now();
    if (upkeep.isDue(now)) await watch.once(() => upkeep.run(now));
    const room = roomNow();
    const limit = concurrency - underWay.size;
    if (room.size === 0 || limit < 1) return 0;
    const claimed = await watch.once(() => store.claim({ limit, leaseMs, listeners: room }));
    const last = claimed.at(-1);
    if (!last) return 0;
    const served = order.indexOf(last.event.listener) + 1;
    order = [...order.slice(served), ...order.slice(0, served)];
    if (halt.signal.aborted) await watch.once(() => store.release(claimed.map(({ lease }) => lease)));
    else claimed.forEach(start);
    return claimed.length;
  }

  /** What each listener can take, whoever waited for longest first. */
  function roomNow(): Map<string, ClaimShare> {
    const now = clock.now();
    const room = new Map<string, ClaimShare>();
    for (const name of order) {
      const listener = listeners.get(name);
      const free = listener?.limits.free(now) ?? 0;
      if (listener && free > 0)
        room.set(name, { most: Math.min(free, concurrency), windowMs: listener.policy.windowMs });
    }
    return room;
  }

  function start(claimed: ClaimedEvent): void {
    const listener = listeners.get(claimed.event.listener);
    if (!listener) return;
    const startedAt = clock.now();
    listener.limits.started(startedAt);
    const work = deliver({ listener, claimed, startedAt }).finally(() => {
      underWay.delete(work);
      if (underWay.size === 0) lull.wake();
      wake();
    });
    underWay.add(work);
  }

  function pauseMs(): number {
    const now = clock.now();
    const next = [...listeners.values()].map(({ limits }) => (limits.nextByRate(now) ?? now + pollMs) - now);
    return Math.max(0, Math.min(pollMs, ...next));
  }

  function isIdle(): boolean {
    const now = clock.now();
    const isDone = underWay.size === 0 && completions.size === 0;
    return isDone && [...listeners.values()].every(({ limits }) => limits.nextByRate(now) === undefined);
  }

  function settle(asked: readonly (() => void)[]): void {
    drains = drains.filter((one) => !asked.includes(one));
    for (const resolve of asked) resolve();
  }

  async function putEverythingDown(): Promise<void> {
    await loop;
    await Promise.all(underWay);
    while (completions.size > 0) {
      await completions.flush().catch(() => aborting.during((signal) => wait(watch.pauseMs, signal)));
      if (aborting.aborted) return;
    }
  }

  function tellLost(count: number): void {
    const message = `LEASE_LOST: ${count} delivered, but not before another worker took over; it will see a 409.`;
    for (const { url } of [...listeners.values()].slice(0, 1)) observe?.({ type: "warning", url, message });
  }

  return {
    drained: () =>
      new Promise((resolve) => {
        drains.push(resolve);
        wake();
      }),
    async stop(timeoutMs) {
      halt.abort();
      stopListening?.();
      wake();
      const done = putEverythingDown();
      const early = new AbortController();
      await Promise.race([done, wait(timeoutMs, early.signal)]);
      early.abort();
      aborting.abort();
      const grace = new AbortController();
      await Promise.race([done, waitFor(GRACE_MS, grace.signal)]);
      grace.abort();
      settle(drains);
    },
  };
}

/** What `work` gives, when both have ended, as neither is to be left alone with what it has begun. */
async function besides<Value>(other: Promise<void>, work: Promise<Value>): Promise<Value> {
  await Promise.allSettled([other, work]);
  await other;
  return work;
}
