import { type Clock, monotonicMs } from "../primitives/clock.js";
import { newDelivery, type Observe } from "../sender/observe.js";
import type { OutboxListener } from "./outbox-listener.js";
import type { OutboxStore } from "./outbox-store.js";
import type { StoreWatch } from "./store-watch.js";

/** How long what has ended is kept. */
export interface Retention {
  /** An id that is enqueued again within this time is recognised; 7 days by default. */
  readonly deliveredMs: number;
  /** 30 days by default. */
  readonly deadMs: number;
}

const EXPIRE_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 60_000;
const TELL_EVERY_MS = 15_000;

/** What a dispatcher does beside delivering, each thing when its time has come. */
export interface Upkeep {
  /** Does what is due, unless it is doing so already; never rejects. Deliveries do not wait for it. */
  begin(): void;
  /** Resolves when nothing of it is under way. */
  ended(): Promise<void>;
  readonly isUnderWay: boolean;
}

/** What upkeep is made of. */
export interface UpkeepContext {
  readonly store: OutboxStore;
  readonly watch: StoreWatch;
  readonly listeners: ReadonlyMap<string, OutboxListener>;
  readonly retention: Retention;
  readonly clock: Clock;
  readonly observe: Observe | undefined;
  /** Called when it has ended. */
  readonly onEnd: () => void;
}

interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** By the monotonic clock. */
  due: number;
  /** Whether it failed the last time, which was told. */
  isFailing: boolean;
  /** Resolves to whether there is more to do at once. */
  run(): Promise<boolean>;
}

/** The upkeep of what a dispatcher's store holds. */
export function createUpkeep(context: UpkeepContext): Upkeep {
  const { store, watch, listeners, retention, clock, observe, onEnd } = context;
  const windows = new Map(
    [...listeners].map(([name, { policy, blocksKey }]) => [name, { windowMs: policy.windowMs, blocksKey }]),
  );
  const jobs = [
    job("expire", EXPIRE_EVERY_MS, expire),
    job("prune", PRUNE_EVERY_MS, prune),
    ...(observe ? [job("stats", TELL_EVERY_MS, () => tellBacklog(observe))] : []),
  ];
  let underWay: Promise<void> | undefined;

  async function expire(): Promise<boolean> {
    const expired = await store.expire(windows);
    if (expired.length === 0) return false;
    if (observe) await tellDeaths(expired, observe);
    return true;
  }

  async function prune(): Promise<boolean> {
    const now = await store.now();
    const { deliveredMs, deadMs } = retention;
    return (await store.prune({ delivered: now - deliveredMs, dead: now - deadMs })) > 0;
  }

  async function tellDeaths(
    expired: Awaited<ReturnType<OutboxStore["expire"]>>,
    tell: Observe,
  ): Promise<void> {
    const now = await store.now();
    for (const { listener, id, enqueuedAt, attempts } of expired)
      tell({
        type: "delivery-ended",
        eventId: id,
        url: listeners.get(listener)?.url ?? "",
        delivery: newDelivery(),
        listener,
        outcome: "dead",
        attempts,
        ageMs: now - enqueuedAt,
        code: "WINDOW_CLOSED",
      });
  }

  async function tellBacklog(tell: Observe): Promise<boolean> {
    const [stats, now] = await Promise.all([store.stats(), store.now()]);
    const held = new Map(stats.map((one) => [one.listener, one]));
    for (const { name, url, limits } of listeners.values()) {
      const { pending = 0, inFlight = 0, dead = 0, oldestEnqueuedAt = now } = held.get(name) ?? {};
      const oldestAgeMs = Math.max(0, now - oldestEnqueuedAt);
      const { breaker } = limits;
      tell({ type: "backlog", url, listener: name, pending, inFlight, dead, oldestAgeMs, breaker });
    }
    return false;
  }

  async function run(due: readonly Job[]): Promise<void> {
    for (const one of due) {
      try {
        const isMore = await one.run();
        one.due = monotonicMs(clock) + (isMore ? 0 : one.everyMs);
        one.isFailing = false;
      } catch (error) {
        one.due = monotonicMs(clock) + one.everyMs;
        await tellFailure(one, error);
      }
    }
  }

  /** A store that cannot be reached at all is told of by the watch; a single thing it may not do, here. */
  async function tellFailure(one: Job, error: unknown): Promise<void> {
    const isThere = await watch.once(() => store.now()).then(Number.isFinite, () => false);
    if (!isThere || one.isFailing) return;
    one.isFailing = true;
    const words = error instanceof Error ? error.message : String(error);
    const [first] = listeners.values();
    const message = `The outbox's upkeep fails (${one.name}); events are delivered all the same. ${words}`;
    if (first) observe?.({ type: "warning", url: first.url, message });
  }

  return {
    begin() {
      const now = monotonicMs(clock);
      const due = jobs.filter((one) => now >= one.due);
      if (underWay || due.length === 0) return;
      underWay = run(due).finally(() => {
        underWay = undefined;
        onEnd();
      });
    },
    ended: async () => underWay,
    get isUnderWay() {
      return underWay !== undefined;
    },
  };
}

function job(name: string, everyMs: number, run: Job["run"]): Job {
  return { name, everyMs, due: Number.NEGATIVE_INFINITY, isFailing: false, run };
}
