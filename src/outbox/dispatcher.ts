// The loop that claims and delivers.
import { type Clock, monotonicMs, nextTurn, sleep } from "../core/clock.js";
import { dropped, harmless } from "../core/options.js";
import type { Observer } from "../sender/observe.js";
import type { BodyEncryption } from "./body-encryption.js";
import { Candidates } from "./candidates.js";
import { EventAttempt, type EventAttemptContext } from "./event-attempt.js";
import { HANGS_AFTER_MS } from "./limits.js";
import type { OutboxListener } from "./listener.js";
import type { Listeners, LookedUp } from "./listeners.js";
import type { ClaimedEvent, ClaimShare, DueListener, OutboxStore } from "./outbox-store.js";
import { SignOfLife } from "./sign-of-life.js";
import { DeliveryBuffer, FIRST_PAUSE_MS, innermostWords, StoreCalls } from "./store-calls.js";
import { UnknownListeners } from "./unknown-listeners.js";
import { type Retention, Upkeep } from "./upkeep.js";

/** What a dispatcher needs of its outbox. */
export interface DispatcherContext {
  readonly store: OutboxStore;
  readonly listeners: Listeners;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly retention: Retention;
  /** What its workers are called; see `OutboxOptions`. */
  readonly worker: string | undefined;
  readonly encryption: BodyEncryption | undefined;
  readonly allowUnencrypted: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly observe: Observer | undefined;
  /** Takes warnings, and whether the store can be reached, also where there is no observer. */
  readonly notice: Observer;
}

/** How often a round waits for further attempts that end, about a millisecond each time. */
const GATHER_TURNS = 10;

/** How long the results of aborted attempts may take to be stored. */
const GRACE_MS = 2_000;

/** An attempt that is under way. */
interface UnderWay {
  readonly startedAt: number;
  /** Its place among them. */
  place: number;
  ended: Promise<void> | undefined;
}

/** One run of the loop that claims and delivers, from `start()` to `stop()`. */
export class Dispatcher {
  readonly #context: DispatcherContext;
  readonly #attempts: EventAttemptContext;
  readonly #halt = new AbortController();
  readonly #aborting = new AbortController();
  readonly #calls: StoreCalls;
  readonly #delivered: DeliveryBuffer;
  readonly #upkeep: Upkeep;
  readonly #sign: SignOfLife;
  readonly #stopListening: (() => void) | undefined;
  /** In no order. Not a Set, whose tables of before keep what has ended alive until a full collection (S26). */
  readonly #underWay: UnderWay[] = [];
  readonly #loop: Promise<void>;
  /** The calls of `drained()` that wait. */
  #drains: (() => void)[] = [];
  readonly #candidates: Candidates;
  /** Listeners that the function has just given: the next claims name them, however small the cache is. */
  readonly #given = new Map<string, OutboxListener>();
  readonly #unknown: UnknownListeners;
  /** Listeners whose rate may be all that prevents an attempt, and whether they had room at the last claim. */
  readonly #paced = new Map<OutboxListener, boolean>();
  /** Whether there is something to do without a pause. */
  #isAwake = false;
  #pausing: AbortController | undefined;

  constructor(context: DispatcherContext) {
    this.#context = context;
    const { store, listeners, clock } = context;
    const wake = () => this.#wake();
    this.#calls = new StoreCalls({ ...context, aborting: this.#aborting.signal });
    this.#delivered = new DeliveryBuffer({
      store,
      calls: this.#calls,
      now: () => monotonicMs(clock),
      onLost: (count) => this.#warnOfLost(count),
      onRefused: (eventId, error) => this.#warnOfRefused(eventId, error),
    });
    const shared = { calls: this.#calls, delivered: this.#delivered, aborting: this.#aborting.signal };
    this.#attempts = { ...context, ...shared };
    this.#upkeep = new Upkeep({ ...context, onEnd: wake });
    this.#sign = new SignOfLife(context);
    this.#unknown = new UnknownListeners({ store, calls: this.#calls, onEnd: () => this.#goOn() });
    this.#stopListening = listenForWork(store, wake);
    this.#candidates = new Candidates(store, listeners);
    this.#loop = this.#run();
  }

  /** Resolves as soon as no attempt is under way and nothing can be claimed. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#drains.push(resolve);
      this.#wake();
    });
  }

  /** Claims no more, waits for attempts under way, aborts them after `timeoutMs`, and stores all results. */
  async stop(timeoutMs: number): Promise<void> {
    this.#halt.abort();
    this.#stopListening?.();
    this.#wake();
    const done = this.#finish();
    const early = new AbortController();
    await Promise.race([done, this.#context.wait(timeoutMs, early.signal)]);
    early.abort();
    this.#aborting.abort();
    const grace = new AbortController();
    await Promise.race([done.then(() => this.#sign.gone()), sleep(GRACE_MS, grace.signal)]);
    grace.abort();
    this.#resolveDrains(this.#drains);
  }

  async #run(): Promise<void> {
    const { wait } = this.#context;
    while (!this.#halt.signal.aborted) {
      try {
        const drains = this.#drains;
        const ended = this.#delivered.size;
        const claimed = await afterBoth(this.#delivered.flush(), this.#claim());
        if (this.#halt.signal.aborted) return;
        this.#sign.begin();
        this.#upkeep.begin();
        this.#unknown.begin();
        if (ended + claimed === 0 && this.#isIdle()) this.#resolveDrains(drains);
        if (ended > 0) this.#wake(); // the next events of their ordering keys are due only now
        if (this.#isMore && this.#placesTaken() < this.#context.concurrency) this.#isAwake = true;
        await this.#pause();
        await this.#gather();
      } catch {
        // StoreCalls has reported the error, and has a pause for it.
        await wait(this.#calls.pauseMs || FIRST_PAUSE_MS, this.#halt.signal);
      }
    }
  }

  /** Claims what listeners have room for, and starts it; resolves to how many events it claimed. */
  async #claim(): Promise<number> {
    const { store, concurrency, leaseMs, clock } = this.#context;
    const limit = concurrency - this.#placesTaken();
    if (limit < 1) return 0;
    const open = limit - this.#given.size;
    if (!this.#context.listeners.isFull && this.#candidates.isShort(open))
      await this.#calls.once("due", () => this.#candidates.look(open));
    const free = this.#withRoom(limit);
    if (free.size === 0) return 0;
    const listeners = new Map([...free].map(([name, { share }]) => [name, share]));
    const askedAt = monotonicMs(clock);
    const claimed = await this.#calls.once("claim", () => store.claim({ limit, leaseMs, listeners }));
    const last = claimed.at(-1);
    if (!last) return 0;
    this.#candidates.served(last.event.listener);
    if (this.#halt.signal.aborted)
      await this.#calls.once("release", () => store.release(claimed.map(({ lease }) => lease)));
    else for (const one of claimed) this.#start(one, free.get(one.event.listener)?.listener, askedAt);
    return claimed.length;
  }

  #start(claimed: ClaimedEvent, listener: OutboxListener | undefined, askedAt: number): void {
    if (!listener) return; // the store gave what was not asked for
    const startedAt = monotonicMs(this.#context.clock);
    listener.limits.started(startedAt);
    const attempt = new EventAttempt(this.#attempts, { listener, claimed, askedAt, startedAt });
    const one: UnderWay = { startedAt, place: this.#underWay.length, ended: undefined };
    this.#underWay.push(one);
    one.ended = attempt.run().finally(() => {
      this.#ended(one);
      this.#wake();
    });
  }

  /** The last one takes its place. */
  #ended({ place }: UnderWay): void {
    const last = this.#underWay.pop();
    if (!last || last.place === place) return;
    this.#underWay[place] = last;
    last.place = place;
  }

  /** The listeners that the next claim names, at most `limit` of those of a function, with how many events of each. */
  #withRoom(limit: number): Map<string, { listener: OutboxListener; share: ClaimShare }> {
    const { listeners, concurrency, clock } = this.#context;
    const now = monotonicMs(clock);
    const room = new Map<string, { listener: OutboxListener; share: ClaimShare }>();
    const add = (listener: OutboxListener) => {
      if (listener.polled) return;
      const { limits, policy } = listener;
      const max = Math.min(limits.free(now), concurrency);
      if (limits.shared.rate) this.#paced.set(listener, max > 0);
      if (max > 0)
        room.set(listener.name, {
          listener,
          share: { most: max, windowMs: policy.windowMs, ...limits.shared },
        });
    };
    for (const [given, listener] of [...this.#given].slice(0, limit)) {
      this.#given.delete(given);
      add(listener);
    }
    const waiting: DueListener[] = [];
    for (const due of this.#candidates.take(limit - room.size)) {
      const listener = listeners.current(due, (answer) => this.#answered(due, answer));
      if (listener === "full") waiting.push(due);
      else if (listener === "later") this.#candidates.postponed();
      else if (listener && due.isUnknown) this.#unknown.found(due.listener);
      else if (listener) add(listener);
    }
    this.#candidates.putBack(waiting);
    return room;
  }

  /** The function of listeners has answered. */
  #answered(due: DueListener, answer: LookedUp): void {
    if (answer === "forgotten")
      this.#candidates.changed(); // to be asked about again
    else if (answer === "unknown" || (answer === "failed" && due.isUnknown)) this.#unknown.add(due.listener);
    else if (answer !== "failed" && due.isUnknown) this.#unknown.found(due.listener);
    else if (answer !== "failed") this.#given.set(due.listener, answer);
    this.#goOn();
  }

  /** Whether there is something to claim that no claim has named. */
  get #isMore(): boolean {
    return this.#given.size > 0 || (this.#candidates.hasMore && !this.#context.listeners.isFull);
  }

  /** When the next attempt may start that only a rate prevents, by the monotonic clock. */
  #nextByRate(now: number): number | undefined {
    let next: number | undefined;
    for (const [{ limits }, hadRoom] of this.#paced) {
      // A token may have come back since the claim that left the listener out.
      const at = limits.nextByRate(now) ?? (hadRoom || limits.free(now) === 0 ? undefined : now);
      if (at !== undefined) next = Math.min(next ?? at, at);
    }
    return next;
  }

  #forgetUnpaced(now: number): void {
    for (const listener of this.#paced.keys())
      if (listener.limits.nextByRate(now) === undefined) this.#paced.delete(listener);
  }

  /** How many attempts count against `concurrency`. A hanging one does not: it only waits, and holds back no other. */
  #placesTaken(): number {
    const hanging = monotonicMs(this.#context.clock) - HANGS_AFTER_MS;
    let count = 0;
    for (const { startedAt } of this.#underWay) if (startedAt > hanging) count += 1;
    return count;
  }

  /** Events may have become due. */
  #wake(): void {
    this.#candidates.changed();
    this.#goOn();
  }

  /** Ends the pause of the loop, or prevents the next one. */
  #goOn(): void {
    this.#isAwake = true;
    this.#pausing?.abort();
  }

  /** Waits until there may be something to do, a turn of the event loop at least: for `pollMs`, the next token of a rate, or `#wake()`. */
  async #pause(): Promise<void> {
    const { pollMs, clock, wait } = this.#context;
    if (!this.#isAwake) {
      const now = monotonicMs(clock);
      const next = (this.#nextByRate(now) ?? now + pollMs) - now;
      this.#forgetUnpaced(now);
      this.#pausing = new AbortController();
      await wait(Math.max(0, Math.min(pollMs, next)), this.#pausing.signal);
      if (!this.#pausing.signal.aborted) this.#candidates.changed();
      this.#pausing = undefined;
    } else await nextTurn();
    this.#isAwake = false;
  }

  /**
   * Waits for a few milliseconds while attempts keep ending, so that the next claim fills many places at once: each
   * claim has a cost of its own (docs/decisions.md, O8).
   */
  async #gather(): Promise<void> {
    for (let turn = 0; turn < GATHER_TURNS && this.#underWay.length > 0; turn++) {
      const before = this.#underWay.length;
      await sleep(0);
      if (this.#underWay.length >= before) return;
    }
  }

  #isIdle(): boolean {
    const { listeners, clock } = this.#context;
    if (this.#underWay.length > 0 || this.#delivered.size > 0 || this.#upkeep.isUnderWay) return false;
    if (this.#isMore || listeners.isAsking || this.#unknown.isUnderWay) return false;
    if (this.#candidates.isPostponed) return false;
    return this.#nextByRate(monotonicMs(clock)) === undefined;
  }

  #resolveDrains(drains: readonly (() => void)[]): void {
    this.#drains = this.#drains.filter((one) => !drains.includes(one));
    for (const resolve of drains) resolve();
  }

  /** Waits for everything under way, and stores the last deliveries. */
  async #finish(): Promise<void> {
    await this.#loop;
    await Promise.all([
      ...this.#underWay.map(({ ended }) => ended),
      this.#upkeep.ended(),
      this.#unknown.ended(),
    ]);
    while (this.#delivered.size > 0) {
      await this.#delivered.flush().catch(() => this.#calls.pause());
      if (this.#aborting.signal.aborted) return;
    }
  }

  #warnOfRefused(eventId: string, error: unknown): void {
    const words = innermostWords(error);
    const message = `${eventId} was delivered, and the store cannot note it: ${words}. It is sent again after its lease.`;
    this.#context.notice({ type: "warning", url: "", message });
  }

  #warnOfLost(count: number): void {
    const message = `LEASE_LOST: ${count} delivered, but not before another worker took over; it will see a 409.`;
    this.#context.notice({ type: "warning", url: "", message });
  }
}

/** Waits for both promises and returns the value of `work`; an error of `other` wins. */
async function afterBoth<Value>(other: Promise<void>, work: Promise<Value>): Promise<Value> {
  await Promise.allSettled([other, work]);
  await other;
  return work;
}

/** Has the store call `wake` for new work, if it can; without that, the loop asks every `pollMs`. */
function listenForWork(store: OutboxStore, wake: () => void): (() => void) | undefined {
  try {
    const stop: unknown = store.onWork?.(wake);
    if (typeof stop === "function") return harmless(() => stop());
    dropped(stop);
  } catch {
    // The loop finds the work by asking.
  }
  return undefined;
}
