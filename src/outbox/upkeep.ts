// Expires events, removes those that ended and measures what waits.
import { type Clock, monotonicMs, nextTurn } from "../core/clock.js";
import { type Activity, newDelivery, type Observer } from "../sender/observe.js";
import { DEFAULT_RETRY_POLICY } from "../sender/retry-policy.js";
import type { Listeners } from "./listeners.js";
import type { OutboxStore } from "./outbox-store.js";
import type { ExpiredEvent, ListenerStats } from "./records.js";
import { innermostWords } from "./store-calls.js";

/** How long an outbox keeps events that have ended. */
export interface Retention {
  /** Milliseconds for delivered events; 7 days by default. An id that is enqueued again in this time is recognised. */
  readonly deliveredMs: number;
  /** Milliseconds for dead letters; 30 days by default. */
  readonly deadMs: number;
}

/** What upkeep needs of its dispatcher. */
interface UpkeepContext {
  readonly store: OutboxStore;
  readonly listeners: Listeners;
  readonly retention: Retention;
  readonly clock: Clock;
  readonly observe: Observer | undefined;
  readonly notice: Observer;
  /** Called each time a run of upkeep has ended. */
  readonly onEnd: () => void;
}

const CLOCK_EVERY_MS = 5_000;
const EXPIRE_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 60_000;
const BACKLOG_EVERY_MS = 15_000;
const UNKNOWN_EVERY_MS = 30_000;

/** How many listeners one run looks after; the next run goes on with others. */
const LISTENERS_A_RUN = 1_000;

/** Of so many names that are no listener of this worker the backlog is reported: those whose events wait for longest. */
const MAX_UNKNOWN = 100;

/** So many listeners are reported in one turn of the event loop: an observer does several things with each. */
const A_TURN = 500;

type JobName = Extract<Activity, { type: "upkeep-changed" }>["job"];

interface Job {
  readonly name: JobName;
  readonly everyMs: number;
  /** Resolves to whether there is more to do at once. */
  readonly run: () => Promise<boolean>;
  /** When it is due, by the monotonic clock. */
  due: number;
  /** Whether its last run failed; only the first failure is reported. */
  isFailing: boolean;
}

/** Expiry, retention and the backlog metrics: runs alongside the deliveries, which do not wait for it. */
export class Upkeep {
  readonly #context: UpkeepContext;
  readonly #jobs: readonly Job[];
  #underWay: Promise<void> | undefined;
  /** Where the next run of a job goes on. */
  #nextToExpire = 0;
  #nextToMeet: string | undefined;
  /** Names that are no listener of this worker, and whose backlog was reported. */
  #reportedUnknown: ReadonlySet<string> = new Set();

  constructor(context: UpkeepContext) {
    this.#context = context;
    const { observe, listeners } = context;
    this.#jobs = [
      job("clock", CLOCK_EVERY_MS, () => this.#followClock()),
      job("expire", EXPIRE_EVERY_MS, () => this.#expire()),
      job("prune", PRUNE_EVERY_MS, () => this.#prune()),
      ...(listeners.usesLookup ? [] : [job("unknown", UNKNOWN_EVERY_MS, () => this.#meetUnknown())]),
      ...(observe ? [job("stats", BACKLOG_EVERY_MS, () => this.#observeBacklog(observe))] : []),
    ];
  }

  get isUnderWay(): boolean {
    return this.#underWay !== undefined;
  }

  /** Starts the jobs that are due, unless some are running; never throws. */
  begin(): void {
    const now = monotonicMs(this.#context.clock);
    const due = this.#jobs.filter((one) => now >= one.due);
    if (this.#underWay || due.length === 0) return;
    this.#underWay = this.#run(due).finally(() => {
      this.#underWay = undefined;
      this.#context.onEnd();
    });
  }

  /** Resolves when no job is running. */
  async ended(): Promise<void> {
    await this.#underWay;
  }

  async #run(due: readonly Job[]): Promise<void> {
    const { clock } = this.#context;
    for (const one of due) {
      try {
        const isMore = await one.run();
        one.due = monotonicMs(clock) + (isMore ? 0 : one.everyMs);
        if (one.isFailing) this.#context.notice({ type: "upkeep-changed", job: one.name, works: true });
        one.isFailing = false;
      } catch (error) {
        one.due = monotonicMs(clock) + one.everyMs;
        await this.#reportFailure(one, error);
      }
    }
  }

  async #followClock(): Promise<boolean> {
    const { store, notice } = this.#context;
    const backMs = await store.followClock();
    if (backMs === 0) return false;
    const by =
      backMs < 120_000 ? `${Math.round(backMs / 1_000)} s` : `${Math.round(backMs / 60_000)} minutes`;
    const words = "What was due is due, and retries wait no longer than they were to.";
    notice({
      type: "warning",
      url: "",
      message: `The clock of the outbox's store was put back by ${by}. ${words}`,
    });
    return false;
  }

  async #expire(): Promise<boolean> {
    const { names } = this.#context.listeners;
    if (this.#nextToExpire >= names.length) this.#nextToExpire = 0;
    const some = names.slice(this.#nextToExpire, this.#nextToExpire + LISTENERS_A_RUN);
    if (await this.#expireOf(some)) return true;
    this.#nextToExpire += some.length;
    return false;
  }

  /** Resolves to whether events have expired, so that there may be more. */
  async #expireOf(names: readonly string[]): Promise<boolean> {
    const { store, listeners, observe } = this.#context;
    const windows = names.map((name) => {
      const { policy, blocksKey = false } = listeners.lastKnown(name) ?? {};
      return [name, { windowMs: (policy ?? DEFAULT_RETRY_POLICY).windowMs, blocksKey }] as const;
    });
    const expired = await store.expire(new Map(windows));
    if (expired.length === 0) return false;
    if (observe) this.#observeExpired(expired, await store.now(), observe);
    return true;
  }

  /**
   * Looks for listeners that the map does not have: their events wait, and only their window ends them. Those that it
   * has are brought back where a worker with other listeners has noted them as unknown.
   */
  async #meetUnknown(): Promise<boolean> {
    const { store, listeners } = this.#context;
    const found = await store.due(this.#nextToMeet, LISTENERS_A_RUN);
    const unknownListeners: string[] = [];
    for (const due of found.listeners) {
      if (!listeners.current(due, () => {})) unknownListeners.push(due.listener);
      else if (due.isUnknown) await store.changed(due.listener);
    }
    if (unknownListeners.length > 0 && (await this.#expireOf(unknownListeners))) return true;
    this.#nextToMeet = found.next;
    return found.next !== undefined;
  }

  async #prune(): Promise<boolean> {
    const { store, retention } = this.#context;
    const now = await store.now();
    const { deliveredMs, deadMs } = retention;
    return (await store.prune({ delivered: now - deliveredMs, dead: now - deadMs })) > 0;
  }

  #observeExpired(expired: readonly ExpiredEvent[], now: number, observe: Observer): void {
    for (const { listener, id, enqueuedAt, attempts } of expired)
      observe({
        type: "delivery-ended",
        eventId: id,
        url: this.#context.listeners.get(listener)?.url ?? "",
        delivery: newDelivery(),
        listener,
        outcome: "dead",
        attempts,
        ageMs: now - enqueuedAt,
        code: "WINDOW_CLOSED",
      });
  }

  async #observeBacklog(observe: Observer): Promise<boolean> {
    const { store, listeners } = this.#context;
    const stats = new Map((await store.stats()).map((one) => [one.listener, one]));
    const report = (listener: string, url: string, breaker: "closed" | "half-open" | "open") => {
      const {
        pending = 0,
        inFlight = 0,
        dead = 0,
        oldestAgeMs = 0,
        slowedMs = 0,
      } = stats.get(listener) ?? {};
      observe({ type: "backlog", url, listener, pending, inFlight, dead, oldestAgeMs, slowedMs, breaker });
      stats.delete(listener);
    };
    await inTurns(listeners.all(), (some) => {
      for (const { name, url, limits } of some) report(name, url, limits.breaker);
    });
    let longest: ListenerStats[] = [];
    await inTurns([...stats.values()], (some) => {
      const waiting = [...longest, ...some.filter(({ pending }) => pending > 0)];
      longest = waiting.sort((a, b) => b.oldestAgeMs - a.oldestAgeMs).slice(0, MAX_UNKNOWN);
    });
    const unknownListeners = new Set(longest.map(({ listener }) => listener));
    // Once more when none of its events is left: a gauge keeps its last value.
    for (const name of new Set([...unknownListeners, ...this.#reportedUnknown])) report(name, "", "closed");
    this.#reportedUnknown = unknownListeners;
    return false;
  }

  /**
   * Reports a job that fails although the store can be reached. An outage is reported by StoreCalls, and is not over
   * because the store knows the time: its tables may be gone.
   */
  async #reportFailure(one: Job, error: unknown): Promise<void> {
    const { store, notice } = this.#context;
    const isReachable = await store.now().then(Number.isFinite, () => false);
    if (!isReachable || one.isFailing) return;
    one.isFailing = true;
    notice({ type: "upkeep-changed", job: one.name, works: false });
    const words = innermostWords(error);
    const message = `The outbox's upkeep fails (${one.name}); events are delivered all the same. Cause: ${words}`;
    notice({ type: "warning", url: "", message });
  }
}

/** Does something with all items, some in each turn of the event loop. */
async function inTurns<Item>(items: readonly Item[], work: (some: readonly Item[]) => void): Promise<void> {
  for (let from = 0; from < items.length; from += A_TURN) {
    if (from > 0) await nextTurn();
    work(items.slice(from, from + A_TURN));
  }
}

function job(name: JobName, everyMs: number, run: Job["run"]): Job {
  return { name, everyMs, run, due: Number.NEGATIVE_INFINITY, isFailing: false };
}
