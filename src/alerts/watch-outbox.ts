// Watches an outbox and calls back when an alert begins or ends.
import { type Clock, checkedClock, MAX_TIMER_MS, monotonicMs, systemClock, within } from "../core/clock.js";
import { checkOptions, checkWholeNumber, type OptionNames } from "../core/options.js";

/**
 * What an alert is about. The names are those of the alert rules for Prometheus, and docs/guides/on-call.md says what to
 * do about each.
 *
 * - `store-unavailable`: the outbox cannot be asked
 * - `window-closes`, `events-wait`: the age of the oldest event that waits for a listener
 * - `backlog`: how many events wait for a listener
 * - `dead-letters`: how many events of a listener were given up, and stand there
 * - `snapshot-held`: how long a transaction's snapshot has slowed the claims of a listener; PostgreSQL
 * - `listener-down`: how long this process's circuit breaker of a listener has been open
 */
export type AlertKind =
  | "store-unavailable"
  | "window-closes"
  | "events-wait"
  | "backlog"
  | "dead-letters"
  | "snapshot-held"
  | "listener-down";

/** From which value on each alert stands: more than this. Milliseconds or events; `false` for no such alert. */
export type AlertThresholds = Readonly<Partial<Record<AlertKind, number | false>>>;

const DAY_MS = 86_400_000;

/** Those of examples/operating/alerts.yaml; how many events are many is for the program to say. */
const DEFAULTS: Readonly<Record<AlertKind, number | false>> = {
  "store-unavailable": 120_000,
  "window-closes": 5 * DAY_MS,
  "events-wait": 900_000,
  backlog: false,
  "dead-letters": 0,
  "snapshot-held": 600_000,
  "listener-down": 600_000,
};

/** An alert that begins or ends. */
export interface OutboxAlert {
  /** What it is about. */
  readonly kind: AlertKind;
  /** `begun` once, and `ended` once. */
  readonly state: "begun" | "ended";
  /** The listener's name; absent for `store-unavailable`. */
  readonly listener?: string;
  /** What was seen, in the unit of the threshold; the last value above it for an alert that ended. */
  readonly value: number;
  /** The threshold that the value is, or was, above. */
  readonly threshold: number;
  /** When it began or ended, as far as was seen: milliseconds since the Unix epoch. */
  readonly at: number;
}

/** What is watched of a listener: a part of what `stats()` of an outbox says. */
export interface WatchedListener {
  /** The listener's name. */
  readonly listener: string;
  /** How many events wait. */
  readonly pending: number;
  /** How many events were given up. */
  readonly dead: number;
  /** The age of the oldest event that waits, in milliseconds; 0 if none does. */
  readonly oldestAgeMs: number;
  /** For how long a held snapshot has slowed its claims, in milliseconds; absent while none does. */
  readonly slowedMs?: number;
  /** The state of the circuit breaker of the process that is asked. */
  readonly breaker?: "closed" | "open" | "half-open";
}

/** What is watched: an outbox of `createOutbox`, or anything with its `stats()`. */
export interface WatchedOutbox {
  /** What there is to say of each listener. */
  stats(): PromiseLike<readonly WatchedListener[]>;
}

/** Options of `watchOutbox`. */
export interface WatchOptions {
  /**
   * Called once when an alert begins and once when it ends. If it throws, rejects or takes longer than 10 seconds, it is
   * called again at the next look; the outbox is not touched by it.
   */
  readonly onAlert: (alert: OutboxAlert) => unknown;
  /** Instead of, or next to, the usual ones; see `AlertKind`. */
  readonly thresholds?: AlertThresholds | undefined;
  /** How often it looks, in milliseconds; 15,000 by default. */
  readonly everyMs?: number | undefined;
  /** For tests. */
  readonly clock?: Clock | undefined;
}

/** An outbox that is being watched. */
export interface OutboxWatch {
  /** Looks now, instead of at the next time; resolves when the callback has ended. It never rejects. */
  look(): Promise<void>;
  /** Looks no more. What stands is not reported as ended. */
  stop(): void;
}

/** How long an outbox may take for its answer, and a callback for its own. */
const NAMES: OptionNames<WatchOptions> = {
  onAlert: 1,
  thresholds: "object",
  everyMs: "number",
  clock: ".now",
};
const PATIENCE_MS = 10_000;

/** Whether a callback was notified; `perhaps` where it did not end in time. */
type Notified = "yes" | "perhaps" | "no";

interface Standing {
  begun: OutboxAlert;
  notified: Notified;
}

/**
 * Watches an outbox from outside, by its `stats()`, and tells when something needs a person. One process of several is
 * enough, but for `listener-down`: each process has circuit breakers of its own. The timer keeps no process alive.
 *
 * @throws {TypeError} for an `onAlert` that is no function, and a threshold that there is not
 * @throws {RangeError} for a threshold that is no whole number, and an `everyMs` below 1
 *
 * @example
 * ```ts
 * import { watchOutbox } from "hookproof/alerts";
 * import { createOutbox, memoryStore } from "hookproof/outbox";
 *
 * const outbox = createOutbox({ store: memoryStore(), listeners: () => undefined });
 * const watch = watchOutbox(outbox, {
 *   thresholds: { "events-wait": 5 * 60_000, backlog: 10_000 },
 *   onAlert: ({ state, kind, listener = "", value }) => console.error(state, kind, listener, value),
 * });
 * watch.stop();
 * ```
 */
export function watchOutbox(outbox: WatchedOutbox, options: WatchOptions): OutboxWatch {
  checkOptions("watchOutbox", options, NAMES);
  const { onAlert, everyMs = 15_000 } = options;
  if (typeof onAlert !== "function") throw new TypeError("onAlert must be a function");
  checkWholeNumber("everyMs", everyMs);
  const thresholds = checkedThresholds(options.thresholds);
  const watch = new Watch(outbox, onAlert, thresholds, checkedClock(options.clock ?? systemClock));
  watch.start(everyMs);
  return { look: () => watch.look(), stop: () => watch.stop() };
}

type Seen = Omit<OutboxAlert, "state" | "threshold" | "at">;
type Thresholds = Readonly<Record<AlertKind, number | false>>;

class Watch {
  readonly #outbox: WatchedOutbox;
  readonly #onAlert: WatchOptions["onAlert"];
  readonly #thresholds: Thresholds;
  readonly #clock: Clock;
  readonly #standing = new Map<string, Standing>();
  readonly #since = new Map<string, number>();
  #looking: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(outbox: WatchedOutbox, onAlert: WatchOptions["onAlert"], thresholds: Thresholds, clock: Clock) {
    this.#outbox = outbox;
    this.#onAlert = onAlert;
    this.#thresholds = thresholds;
    this.#clock = clock;
  }

  start(everyMs: number): void {
    if (this.#isStopped) return;
    const again = () => void this.look().then(() => this.start(everyMs));
    this.#timer = setTimeout(again, Math.min(everyMs, MAX_TIMER_MS));
    (this.#timer as { unref?(): void }).unref?.();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  look(): Promise<void> {
    this.#looking ??= this.#lookOnce()
      .catch(() => {}) // a clock that failed
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const [now, at] = [monotonicMs(this.#clock), this.#clock.now()];
    const stats = await this.#asked();
    const isStoreDown = stats === undefined;
    const seen: Seen[] = [
      { kind: "store-unavailable", value: this.#duration("store", isStoreDown, now) },
      ...(stats ?? []).flatMap((one) => this.#seenOf(one, now)),
    ];
    if (stats) this.#forgetAllBut(stats);
    const above = seen.filter((one) => this.#isAbove(one));
    const names = new Set(above.map(nameOf));
    const begun = above.map((one) => this.#begin(one, at));
    // An outbox that cannot be asked says nothing about its listeners.
    const over = [...this.#standing].filter(
      ([name, one]) => !names.has(name) && !(isStoreDown && one.begun.listener !== undefined),
    );
    await Promise.all([...begun, ...over.map(([name, one]) => this.#end(name, one, at))]);
  }

  #seenOf(
    { listener, pending, dead, oldestAgeMs, slowedMs = 0, breaker }: WatchedListener,
    now: number,
  ): Seen[] {
    // While one attempt finds out whether the listener is back, it is as down as before.
    const isDown = breaker === "open" || breaker === "half-open";
    return [
      { kind: "window-closes", listener, value: oldestAgeMs },
      { kind: "events-wait", listener, value: oldestAgeMs },
      { kind: "backlog", listener, value: pending },
      { kind: "dead-letters", listener, value: dead },
      { kind: "snapshot-held", listener, value: slowedMs },
      { kind: "listener-down", listener, value: this.#duration(`listener ${listener}`, isDown, now) },
    ];
  }

  /** For how long something is so, as far as was seen. */
  #duration(what: string, isSo: boolean, now: number): number {
    if (!isSo) this.#since.delete(what);
    else if (!this.#since.has(what)) this.#since.set(what, now);
    return now - (this.#since.get(what) ?? now);
  }

  /** Listeners of which nothing is left are forgotten. */
  #forgetAllBut(stats: readonly WatchedListener[]): void {
    const named = new Set(["store", ...stats.map(({ listener }) => `listener ${listener}`)]);
    for (const what of this.#since.keys()) if (!named.has(what)) this.#since.delete(what);
  }

  #isAbove({ kind, value }: Seen): boolean {
    const threshold = this.#thresholds[kind];
    return threshold !== false && value > threshold;
  }

  /** Notifies of an alert that begins; one that stands, and of which nobody knows yet, begins again. */
  async #begin(seen: Seen, at: number): Promise<void> {
    const name = nameOf(seen);
    const known = this.#standing.get(name);
    const threshold = this.#thresholds[seen.kind] as number;
    const begun: OutboxAlert = { ...seen, state: "begun", threshold, at: known?.begun.at ?? at };
    const entry = known ?? { begun, notified: "no" };
    entry.begun = begun;
    this.#standing.set(name, entry);
    if (entry.notified === "yes") return;
    const notified = await this.#notify(begun);
    if (notified !== "no") entry.notified = notified;
  }

  async #end(name: string, { begun, notified }: Standing, at: number): Promise<void> {
    if (notified === "no") this.#standing.delete(name);
    else if ((await this.#notify({ ...begun, state: "ended", at })) === "yes") this.#standing.delete(name);
  }

  /** What the outbox says; `undefined` where it does not. */
  async #asked(): Promise<readonly WatchedListener[] | undefined> {
    try {
      const stats = (async () => this.#outbox.stats())();
      return [...(await within(stats, PATIENCE_MS, () => new Error("no answer")))];
    } catch {
      return undefined;
    }
  }

  async #notify(alert: OutboxAlert): Promise<Notified> {
    let isLate = false;
    const late = () => {
      isLate = true;
      return new Error("no answer");
    };
    try {
      await within(Promise.resolve(this.#onAlert(alert)), PATIENCE_MS, late);
      return "yes";
    } catch {
      return isLate ? "perhaps" : "no";
    }
  }
}

function nameOf({ kind, listener }: Seen): string {
  return JSON.stringify([kind, listener]);
}

function checkedThresholds(given: AlertThresholds = {}): Readonly<Record<AlertKind, number | false>> {
  for (const [kind, value] of Object.entries(given)) {
    if (!Object.hasOwn(DEFAULTS, kind)) throw new TypeError(`thresholds has no ${kind}`);
    if (value !== false && value !== undefined) checkWholeNumber(`thresholds: ${kind}`, value as number, 0);
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...DEFAULTS, ...Object.fromEntries(set) };
}
