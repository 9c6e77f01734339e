import { type Facts, type Held, isHeldAt, shortName } from "./facts.js";
import type { Ledger } from "./ledger.js";
import type { ListenerPlan, Plan } from "./plan.js";
import { DRIFT, MAX_RETRY_AFTER_MS, WINDOW_MS } from "./schedule.js";
import type { VirtualTime } from "./virtual-time.js";

/** The limits of the listeners, as the store keeps them over all workers. */
export class ClaimedLimits {
  readonly #listeners: ReadonlyMap<string, ListenerPlan>;
  readonly #ledger: Ledger;
  /** When the events of each listener with a rate were claimed, by the store's clock. */
  readonly #claims = new Map<string, number[]>();
  readonly #time: VirtualTime;
  /** When an event of each was claimed last, by the world's time and by the store's clock. */
  readonly #claimed = new Map<string, { readonly at: number; readonly storeAt: number }>();
  /** By the world's time. */
  #jumpedAt = Number.NEGATIVE_INFINITY;
  /** A claim leaves out the listeners from which another one claims at the same moment. */
  readonly #areLeftOut: boolean;

  constructor(plan: Plan, ledger: Ledger, time: VirtualTime) {
    this.#areLeftOut = "calls meet" in plan.faults;
    this.#listeners = new Map(plan.listeners.map((one) => [one.name, one]));
    this.#ledger = ledger;
    this.#time = time;
  }

  /** The store's clock was set: what was claimed before says nothing of a rate. */
  storeJumped(): void {
    this.#claims.clear();
    this.#jumpedAt = this.#time.now;
  }

  /** A claim asked for events of these listeners, and could have given more than it has. */
  passedOver(listeners: Iterable<string>): void {
    if (this.#areLeftOut) return;
    const now = this.#ledger.storeNow();
    for (const listener of listeners) {
      const { concurrency = 0, rate } = this.#listeners.get(listener) ?? {};
      if (!rate || this.#ledger.holds.mayHold(listener)) continue;
      const { at, storeAt } = this.#claimed.get(listener) ?? { at: 0, storeAt: 0 };
      const since = this.#time.now - Math.max(this.#jumpedAt, at);
      const fullMs = (1_010 * (rate.burst + 2)) / rate.perSecond + 50; // after so long a bucket is full
      // A clock that was put back passes the time of the last claim again, and what is kept of it is good then.
      if (since < fullMs || Math.abs(now - storeAt) < fullMs) continue;
      const open = [...this.#ledger.facts.values()].filter(
        (one) => one.listener === listener && one.state === "pending",
      );
      const isLeased = (one: Facts) => (one.held?.lease.expiresAt ?? 0) > now;
      if (open.filter(isLeased).length >= concurrency) continue;
      const left = open.find(
        (one) =>
          one.key === undefined &&
          !isLeased(one) &&
          one.dueAt < now &&
          now < (one.firstAttemptAt ?? now) - one.firstBackMs + WINDOW_MS,
      );
      if (left)
        this.#ledger.break(
          "limits",
          `${shortName(left)} is due, and ${listener} has been given nothing for ${Math.round(since)} ms`,
        );
    }
  }

  /** An event of this listener was claimed. */
  claimed(listener: string, now: number): void {
    const { concurrency = 0, rate } = this.#listeners.get(listener) ?? {};
    let leased = 0;
    for (const one of this.#ledger.facts.values())
      if (one.listener === listener && isHeldAt(one, now)) leased += 1;
    if (leased > concurrency)
      this.#ledger.break("limits", `${leased} events of ${listener} are leased, and not ${concurrency}`);
    if (!rate) return;
    this.#claimed.set(listener, { at: this.#time.now, storeAt: now });
    const claims = this.#claims.get(listener) ?? [];
    claims.push(Math.max(now, claims.at(-1) ?? now)); // one that had to wait goes by when it began
    this.#claims.set(listener, claims);
    for (const [index, from] of claims.entries()) {
      const count = claims.length - index;
      if (count > rate.burst + (rate.perSecond * (now - from)) / 1000 + 1)
        this.#ledger.break("limits", `${count} events of ${listener} were claimed within ${now - from} ms`);
    }
  }
}

/** The limits of a listener, as the network sees them kept. */
export class SeenLimits {
  readonly #plan: ListenerPlan;
  readonly #ledger: Ledger;
  readonly #time: VirtualTime;
  readonly #open = new Map<string, number>();
  readonly #starts = new Map<string, number[]>();
  readonly #rests = new Map<string, { readonly since: number; readonly until: number }>();

  constructor(plan: ListenerPlan, ledger: Ledger, time: VirtualTime) {
    this.#plan = plan;
    this.#ledger = ledger;
    this.#time = time;
  }

  /** The listener has asked a worker to come back after so long. */
  rests(worker: string, ms: number): void {
    const until = this.#time.now + (1 - DRIFT) * Math.min(ms, MAX_RETRY_AFTER_MS) - 1_000;
    if (until <= (this.#rests.get(worker)?.until ?? 0)) return;
    this.#rests.set(worker, { since: this.#time.now, until });
  }

  /** @param held what is sent; absent if its lease is not the worker's any more */
  started(worker: string, held: Held | undefined): void {
    const { name, concurrency, rate } = this.#plan;
    const isFirst = held?.sends === 1;
    const rest = this.#rests.get(worker);
    // What was claimed before the worker knew of the rest is sent.
    if (isFirst && rest && held.askedAt > rest.since && this.#time.now < rest.until)
      this.#ledger.break("due", `${worker} sends to ${name}, which asked it to rest`);
    const open = (this.#open.get(worker) ?? 0) + 1;
    this.#open.set(worker, open);
    if (open > concurrency) this.#ledger.break("limits", `${worker} has ${open} requests open at ${name}`);
    if (!rate || !isFirst) return;
    const starts = this.#starts.get(worker) ?? [];
    starts.push(this.#time.now);
    this.#starts.set(worker, starts);
    for (const [index, from] of starts.entries()) {
      const allowed = rate.burst + (rate.perSecond * 1.05 * (this.#time.now - from)) / 1000 + 1;
      if (starts.length - index <= allowed) continue;
      const within = Math.round(this.#time.now - from);
      this.#ledger.break("limits", `${worker} sent ${starts.length - index} to ${name} within ${within} ms`);
    }
  }

  ended(worker: string): void {
    this.#open.set(worker, (this.#open.get(worker) ?? 1) - 1);
  }
}

/** How many attempts each worker makes at a time, at all listeners; one that hangs for a second does not count. */
export class SeenAttempts {
  readonly #plan: Plan;
  readonly #ledger: Ledger;
  readonly #time: VirtualTime;
  /** When each request that is open was sent. */
  readonly #open = new Map<string, Set<{ readonly at: number }>>();

  constructor(plan: Plan, ledger: Ledger, time: VirtualTime) {
    this.#plan = plan;
    this.#ledger = ledger;
    this.#time = time;
  }

  /** Returns what ends it. */
  started(worker: string): () => void {
    const { now } = this.#time;
    const open = this.#open.get(worker) ?? new Set();
    this.#open.set(worker, open);
    const one = { at: now };
    open.add(one);
    const counted = [...open].filter(({ at }) => at > now - 900).length;
    if (counted > this.#plan.concurrency)
      this.#ledger.break("limits", `${worker} makes ${counted} attempts, and not ${this.#plan.concurrency}`);
    return () => void open.delete(one);
  }
}
