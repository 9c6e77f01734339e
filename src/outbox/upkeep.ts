import { newDelivery, type Observe } from "../sender/observe.js";
import type { OutboxListener } from "./outbox-listener.js";
import type { OutboxStore } from "./outbox-store.js";

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
  /** Whether there is anything to do; otherwise `run` would say nothing of the store. */
  isDue(now: number): boolean;
  run(now: number): Promise<void>;
}

/** The upkeep of what a dispatcher's store holds. */
export function createUpkeep(
  store: OutboxStore,
  {
    listeners,
    retention,
    observe,
  }: {
    listeners: ReadonlyMap<string, OutboxListener>;
    retention: Retention;
    observe: Observe | undefined;
  },
): Upkeep {
  const due = { expire: 0, prune: 0, tell: 0 };
  const windows = new Map(
    [...listeners].map(([name, { policy, blocksKey }]) => [name, { windowMs: policy.windowMs, blocksKey }]),
  );

  async function run(now: number): Promise<void> {
    if (now >= due.expire) {
      const expired = await store.expire(windows);
      due.expire = now + (expired.length > 0 ? 0 : EXPIRE_EVERY_MS); // there may be more
      if (expired.length > 0 && observe) await tellDeaths(expired, observe);
    }
    if (now >= due.prune) {
      const storeNow = await store.now();
      const { deliveredMs, deadMs } = retention;
      const removed = await store.prune({ delivered: storeNow - deliveredMs, dead: storeNow - deadMs });
      due.prune = now + (removed > 0 ? 0 : PRUNE_EVERY_MS);
    }
    if (observe && now >= due.tell) {
      due.tell = now + TELL_EVERY_MS;
      await tellBacklog(observe);
    }
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

  async function tellBacklog(tell: Observe): Promise<void> {
    const [stats, now] = await Promise.all([store.stats(), store.now()]);
    const held = new Map(stats.map((one) => [one.listener, one]));
    for (const { name, url, limits } of listeners.values()) {
      const { pending = 0, inFlight = 0, dead = 0, oldestEnqueuedAt = now } = held.get(name) ?? {};
      const oldestAgeMs = Math.max(0, now - oldestEnqueuedAt);
      const { breaker } = limits;
      tell({ type: "backlog", url, listener: name, pending, inFlight, dead, oldestAgeMs, breaker });
    }
  }

  return {
    isDue: (now) => now >= Math.min(due.expire, due.prune, observe ? due.tell : due.prune),
    run,
  };
}
