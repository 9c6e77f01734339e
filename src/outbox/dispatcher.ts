import { type Clock, monotonicMs } from "../primitives/clock.js";
import { dropped, harmless } from "../primitives/harmless.js";
import type { Observe } from "../sender/observe.js";
import { waitFor } from "../sender/waiting.js";
import { abortAll } from "./abort-all.js";
import type { BodyEncryption } from "./body-encryption.js";
import { type Completions, createCompletions } from "./completions.js";
import { createDeliverClaimed, type StartedEvent } from "./deliver-claimed.js";
import { HANGS_AFTER_MS } from "./listener-limits.js";
import type { OutboxListener } from "./outbox-listener.js";
import type { ClaimedEvent, ClaimShare, OutboxStore } from "./outbox-store.js";
import { type StoreWatch, storeWatch } from "./store-watch.js";
import { createUpkeep, type Retention, type Upkeep } from "./upkeep.js";
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
  readonly allowUnencrypted: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly observe: Observe | undefined;
}

/** How often the loop looks whether attempts go on ending, about a millisecond apart. */
const GATHER_LOOKS = 10;

/** What is put down after the attempts were aborted has this long. */
const GRACE_MS = 2_000;

/** One run of the loop that claims and delivers, from its start to its stop. */
export class Dispatcher {
  readonly #context: DispatcherContext;
  readonly #halt = new AbortController();
  readonly #aborting = abortAll();
  readonly #watch: StoreWatch;
  readonly #completions: Completions;
  readonly #upkeep: Upkeep;
  readonly #deliver: (event: StartedEvent) => Promise<void>;
  readonly #wakeUp: ReturnType<typeof createWakeUp>;
  readonly #stopListening: (() => void) | undefined;
  readonly #underWay = new Set<Promise<void>>();
  /** Those of them that count against `concurrency`, and since when: the oldest first. */
  readonly #counted = new Map<Promise<void>, number>();
  readonly #loop: Promise<void>;
  #drains: (() => void)[] = [];
  #order: readonly string[];

  constructor(context: DispatcherContext) {
    this.#context = context;
    const { store, listeners, clock, observe, wait } = context;
    const aborting = this.#aborting;
    this.#watch = storeWatch({ clock, observe, wait, aborting });
    const watch = this.#watch;
    const now = () => monotonicMs(clock);
    this.#completions = createCompletions(store, { watch, now, onLost: (count) => this.#tellLost(count) });
    this.#deliver = createDeliverClaimed({ ...context, watch, completions: this.#completions, aborting });
    this.#wakeUp = createWakeUp(wait);
    this.#upkeep = createUpkeep({ ...context, watch, onEnd: this.#wakeUp.wake });
    this.#stopListening = listenForWork(store, this.#wakeUp.wake);
    this.#order = [...listeners.keys()];
    this.#loop = this.#run();
  }

  /** Resolves as soon as nothing is under way and nothing can be claimed. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#drains.push(resolve);
      this.#wakeUp.wake();
    });
  }

  /** Claims no more, waits for what is under way, aborts that after a time, and puts everything down. */
  async stop(timeoutMs: number): Promise<void> {
    this.#halt.abort();
    this.#stopListening?.();
    this.#wakeUp.wake();
    const done = this.#putEverythingDown();
    const early = new AbortController();
    await Promise.race([done, this.#context.wait(timeoutMs, early.signal)]);
    early.abort();
    this.#aborting.abort();
    const grace = new AbortController();
    await Promise.race([done, waitFor(GRACE_MS, grace.signal)]);
    grace.abort();
    this.#settle(this.#drains);
  }

  async #run(): Promise<void> {
    const { pollMs, wait } = this.#context;
    while (!this.#halt.signal.aborted) {
      try {
        const asked = this.#drains;
        const ended = this.#completions.size;
        const claimed = await besides(this.#completions.flush(), this.#round());
        if (this.#halt.signal.aborted) return;
        this.#upkeep.begin();
        if (ended + claimed === 0 && this.#isIdle()) this.#settle(asked);
        if (ended > 0) this.#wakeUp.wake(); // what comes next of their ordering keys may be due only now
        await this.#wakeUp.pause(this.#pauseMs());
        await this.#gather();
      } catch {
        await wait(this.#watch.pauseMs || pollMs, this.#halt.signal); // the watch has told of it
      }
    }
  }

  /**
   * Waits while attempts go on ending, a few milliseconds at most: a claim costs by itself, so that many events at
   * once cost the database less than a few at a time (docs/decisions.md, O8).
   */
  async #gather(): Promise<void> {
    for (let look = 0; look < GATHER_LOOKS && this.#underWay.size > 0; look++) {
      const before = this.#underWay.size;
      await waitFor(0);
      if (this.#underWay.size >= before) return;
    }
  }

  /** Starts what is due; resolves to how many events were claimed. */
  async #round(): Promise<number> {
    const { store, concurrency, leaseMs, clock } = this.#context;
    const listeners = this.#room();
    const limit = concurrency - this.#placesTaken();
    if (listeners.size === 0 || limit < 1) return 0;
    const askedAt = monotonicMs(clock);
    const claimed = await this.#watch.once(() => store.claim({ limit, leaseMs, listeners }));
    const last = claimed.at(-1);
    if (!last) return 0;
    const served = this.#order.indexOf(last.event.listener) + 1;
    this.#order = [...this.#order.slice(served), ...this.#order.slice(0, served)];
    if (this.#halt.signal.aborted)
      await this.#watch.once(() => store.release(claimed.map(({ lease }) => lease)));
    else for (const one of claimed) this.#start(one, askedAt);
    return claimed.length;
  }

  /** What each listener can take, whoever waited for longest first. */
  #room(): Map<string, ClaimShare> {
    const { listeners, concurrency, clock } = this.#context;
    const now = monotonicMs(clock);
    const room = new Map<string, ClaimShare>();
    for (const name of this.#order) {
      const listener = listeners.get(name);
      const free = listener?.limits.free(now) ?? 0;
      if (listener && free > 0)
        room.set(name, { most: Math.min(free, concurrency), windowMs: listener.policy.windowMs });
    }
    return room;
  }

  /** How many attempts take a place of the process: those that hang do so no longer, as they only wait. */
  #placesTaken(): number {
    const hanging = monotonicMs(this.#context.clock) - HANGS_AFTER_MS;
    for (const [work, startedAt] of this.#counted) {
      if (startedAt > hanging) break;
      this.#counted.delete(work);
    }
    return this.#counted.size;
  }

  #start(claimed: ClaimedEvent, askedAt: number): void {
    const listener = this.#context.listeners.get(claimed.event.listener);
    if (!listener) return;
    const startedAt = monotonicMs(this.#context.clock);
    listener.limits.started(startedAt);
    const work = this.#deliver({ listener, claimed, askedAt, startedAt }).finally(() => {
      this.#underWay.delete(work);
      this.#counted.delete(work);
      this.#wakeUp.wake();
    });
    this.#underWay.add(work);
    this.#counted.set(work, startedAt);
  }

  #pauseMs(): number {
    const { listeners, pollMs, clock } = this.#context;
    const now = monotonicMs(clock);
    const next = [...listeners.values()].map(({ limits }) => (limits.nextByRate(now) ?? now + pollMs) - now);
    return Math.max(0, Math.min(pollMs, ...next));
  }

  #isIdle(): boolean {
    const { listeners, clock } = this.#context;
    if (this.#underWay.size > 0 || this.#completions.size > 0 || this.#upkeep.isUnderWay) return false;
    const now = monotonicMs(clock);
    return [...listeners.values()].every(({ limits }) => limits.nextByRate(now) === undefined);
  }

  #settle(asked: readonly (() => void)[]): void {
    this.#drains = this.#drains.filter((one) => !asked.includes(one));
    for (const resolve of asked) resolve();
  }

  async #putEverythingDown(): Promise<void> {
    await this.#loop;
    await Promise.all([...this.#underWay, this.#upkeep.ended()]);
    while (this.#completions.size > 0) {
      await this.#completions
        .flush()
        .catch(() => this.#aborting.during((signal) => this.#context.wait(this.#watch.pauseMs, signal)));
      if (this.#aborting.aborted) return;
    }
  }

  #tellLost(count: number): void {
    const { listeners, observe } = this.#context;
    const message = `LEASE_LOST: ${count} delivered, but not before another worker took over; it will see a 409.`;
    const [first] = listeners.values();
    if (first) observe?.({ type: "warning", url: first.url, message });
  }
}

/** What `work` gives, when both have ended, as neither is to be left alone with what it has begun. */
async function besides<Value>(other: Promise<void>, work: Promise<Value>): Promise<Value> {
  await Promise.allSettled([other, work]);
  await other;
  return work;
}

/** A store that cannot tell of work is asked for it every `pollMs`, as every other one is. */
function listenForWork(store: OutboxStore, wake: () => void): (() => void) | undefined {
  try {
    const stop: unknown = store.onWork?.(wake);
    if (typeof stop === "function") return harmless(() => stop());
    dropped(stop);
  } catch {
    // The poll finds the work.
  }
  return undefined;
}
