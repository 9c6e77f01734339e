import type {
  CancelResult,
  ClaimedEvent,
  DeadLetterFilter,
  Delivery,
  DeliveryFailure,
  EventFilter,
  ExpiredEvent,
  Lease,
  OutboxAttempt,
  OutboxEvent,
  RedriveOptions,
  RedriveResult,
} from "hookproof/outbox/store";
import { type Facts, type Held, nameOf, type Rule, type Seen, type Violation } from "./facts.js";
import type { ListenerPlan, Plan } from "./plan.js";
import type { Trace } from "./trace.js";
import type { VirtualTime } from "./virtual-time.js";

const HOUR_MS = 3_600_000;
const WINDOW_MS = 7 * 24 * HOUR_MS - HOUR_MS;
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
/** What a lease has to last longer than an attempt, so that its result can be stored; the outbox keeps to more. */
const TO_STORE_MS = 3_000;
/** How much faster or slower than the store's a worker's clock may run: plan.ts. */
const DRIFT = 0.045;

/**
 * What has to hold, as a book that is kept beside the real store: every call that the store has executed is written
 * down, and what it did is compared with what it should have done.
 */
export class Ledger {
  readonly facts = new Map<string, Facts>();
  violation: Violation | undefined;
  readonly #time: VirtualTime;
  readonly #storeNow: () => number;
  readonly #listeners: ReadonlyMap<string, ListenerPlan>;
  readonly #paused = new Set<string>();
  readonly #rests = new Map<string, number>();
  /** When the events of each listener with a rate were claimed, by the store's clock. */
  readonly #claims = new Map<string, number[]>();
  readonly #refused = new Set<string>();
  readonly #dropped = new Set<string>();
  #places = 0;
  /** The sum of what the store's clock was set by, and when it was set last. */
  #jumpedMs = 0;
  #jumpedAt = Number.NEGATIVE_INFINITY;

  /** Who was given each lease. */
  readonly #claimants = new Map<string, string>();
  readonly #trace: Trace;

  constructor(plan: Plan, time: VirtualTime, trace: Trace, storeNow: () => number) {
    this.#trace = trace;
    this.#time = time;
    this.#storeNow = storeNow;
    this.#listeners = new Map(plan.listeners.map((one) => [one.name, one]));
  }

  break(rule: Rule, message: string): void {
    this.violation ??= { rule, at: this.#time.now, message };
  }

  storeJumped(ms: number): void {
    this.#claims.clear();
    // A rest that was over is forgotten, and does not come back with the clock.
    for (const [listener, until] of this.#rests)
      if (until <= this.#storeNow() - ms) this.#rests.delete(listener);
    this.#jumpedMs += Math.abs(ms);
    this.#jumpedAt = this.#time.now;
  }

  /** The transaction of these events has committed. */
  stored(
    events: readonly Pick<OutboxEvent, "id" | "listener" | "orderingKey" | "deliverAt" | "body">[],
  ): void {
    const now = this.#storeNow();
    for (const { id, listener, orderingKey, deliverAt = now, body } of events) {
      const name = nameOf(listener, id);
      if (this.facts.has(name)) continue;
      this.facts.set(name, {
        ...{
          name,
          id,
          listener,
          key: orderingKey,
          body: text(body),
          place: ++this.#places,
          state: "pending",
        },
        ...{ dueAt: Math.max(now, deliverAt), attempts: 0, attemptsBefore: 0, firstAttemptAt: undefined },
        ...{ blocksKey: false, held: undefined, runs: 0, sends: 0, recorded: [] },
      });
    }
  }

  /** These ids were rolled back, or the store said that it has nothing of them. */
  undone(ids: readonly string[]): void {
    for (const id of ids) this.#refused.add(id);
  }

  claimed(worker: string, claims: readonly ClaimedEvent[], askedAt: number): void {
    const now = this.#storeNow();
    for (const { event, lease, attempt, firstAttemptAt, sentBefore } of claims) {
      const one = this.facts.get(nameOf(event.listener, event.id));
      if (!one) {
        this.break("rolled back", `${event.id} was claimed and is not stored`);
        continue;
      }
      const what = `${shortName(one)} claimed by ${worker}`;
      this.#claimants.set(lease.token, worker);
      this.#trace.add(worker, "claims", one.listener, one.id);
      if (one.state !== "pending") this.break("due", `${what}: it is ${one.state}`);
      if (one.held && one.held.lease.expiresAt > now)
        this.break("leases", `${what}: ${one.held.worker} holds it for ${one.held.lease.expiresAt - now} ms`);
      if (now < one.dueAt) this.break("due", `${what} ${one.dueAt - now} ms before it is due`);
      if (this.#paused.has(one.listener)) this.break("due", `${what} while ${one.listener} is paused`);
      if (now < (this.#rests.get(one.listener) ?? 0))
        this.break("due", `${what} while ${one.listener} rests`);
      if (now > (one.firstAttemptAt ?? now) + WINDOW_MS) this.break("window", `${what} past its window`);
      if (text(event.body) !== one.body) this.break("bytes", `${what} with other bytes`);
      if (attempt !== one.attempts + 1)
        this.break("history", `${what} as attempt ${attempt} after ${one.attempts}`);
      if (firstAttemptAt !== (one.firstAttemptAt ?? now) || sentBefore !== (one.firstAttemptAt !== undefined))
        this.break("history", `${what} with another first attempt than its own`);
      this.#inOrder(one, what, now);
      const { dueAt, attempts } = one;
      const before = { dueAt, attempts, firstAttemptAt: one.firstAttemptAt };
      one.attempts = attempt;
      one.firstAttemptAt ??= now;
      one.dueAt = lease.expiresAt;
      const times = { askedAt, claimedAt: this.#time.now };
      one.held = { worker, lease, number: attempt, sentBefore, ...times, before, sends: 0 };
      this.#keepLimits(one.listener, now);
    }
  }

  /** The limits of a listener hold over all workers. */
  #keepLimits(listener: string, now: number): void {
    const { concurrency = 0, rate } = this.#listeners.get(listener) ?? {};
    let leased = 0;
    for (const one of this.facts.values())
      if (one.listener === listener && one.held && one.held.lease.expiresAt > now) leased += 1;
    if (leased > concurrency)
      this.break("limits", `${leased} events of ${listener} are leased, and not ${concurrency}`);
    if (!rate) return;
    const claims = this.#claims.get(listener) ?? [];
    claims.push(now);
    this.#claims.set(listener, claims);
    for (const [index, from] of claims.entries()) {
      const count = claims.length - index;
      if (count > rate.burst + (rate.perSecond * (now - from)) / 1000 + 1)
        this.break("limits", `${count} events of ${listener} were claimed within ${now - from} ms`);
    }
  }

  #inOrder(one: Facts, what: string, now: number): void {
    if (one.key === undefined) return;
    for (const other of this.facts.values()) {
      if (other === one || other.listener !== one.listener || other.key !== one.key) continue;
      const isOpen = other.state === "pending" || other.blocksKey;
      if (isOpen && other.place < one.place) this.break("order", `${what} before ${shortName(other)}`);
      if (other.state === "pending" && other.held && other.held.lease.expiresAt > now)
        this.break("order", `${what} beside ${shortName(other)}`);
    }
  }

  /** The event of a lease if that may change it. */
  #holder({ listener, id, token }: Lease): Facts | undefined {
    const one = this.facts.get(nameOf(listener, id));
    return one?.state === "pending" && one.held?.lease.token === token ? one : undefined;
  }

  #tell(what: string, { listener, id, token }: Lease, holds: boolean): void {
    this.#trace.add(this.#claimants.get(token) ?? "?", what, listener, id, holds ? undefined : "too late");
  }

  #fence(what: string, changed: number | boolean, expected: number | boolean): void {
    if (Number(changed) !== Number(expected))
      this.break("fence", `${what} changed ${Number(changed)} and should have changed ${Number(expected)}`);
  }

  markedDelivered(deliveries: readonly Delivery[], changed: number): void {
    const valid = deliveries.filter(({ lease }) => this.#holder(lease));
    for (const one of deliveries) this.#tell("marks as delivered", one.lease, valid.includes(one));
    this.#fence("markDelivered", changed, valid.length);
    for (const { lease, outcome, attempt } of valid) {
      const one = this.#holder(lease);
      if (!one?.held) continue;
      const { last, sentBefore } = one.held;
      const isAccepted = last?.status === 200 || last?.status === 409;
      const isFirst = last?.status === 409 && !sentBefore && !last.resent;
      if (!isAccepted || (outcome === "duplicate") !== isFirst || isFirst)
        this.break("lost", `${shortName(one)} counts as ${outcome} after ${last?.status ?? "no answer"}`);
      if (one.runs === 0) this.break("lost", `${shortName(one)} counts as delivered and never ran`);
      this.#record(one, attempt);
      this.#end(one, "delivered");
    }
  }

  rescheduled(lease: Lease, at: number, attempt: OutboxAttempt, changed: boolean): void {
    const one = this.#holder(lease);
    this.#fence("reschedule", changed, one !== undefined);
    this.#tell("reschedules", lease, one !== undefined);
    if (!one?.held) return;
    this.#onSchedule(one, one.held, at, attempt);
    this.#record(one, attempt);
    one.held = undefined;
    one.dueAt = at;
  }

  #onSchedule(
    one: Facts,
    { number, last, askedAt, claimedAt, lease }: Held,
    at: number,
    attempt: OutboxAttempt,
  ) {
    const what = `${shortName(one)} rescheduled`;
    const now = this.#storeNow();
    const [from, retry] = [last?.at ?? now, this.#listeners.get(one.listener)?.retry];
    if (attempt.code === "ABORTED" || !retry || this.#jumpedAt >= askedAt) return;
    const tries = number - one.attemptsBefore;
    const delay = Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** (tries - 1));
    const asked = Math.min(MAX_RETRY_AFTER_MS, last?.retryAfterMs ?? 0);
    const rounding = 1_100 + DRIFT * (this.#time.now - askedAt);
    if (at < from + Math.max(delay, asked) - rounding)
      this.break("schedule", `${what} ${from + Math.max(delay, asked) - at} ms too soon`);
    const latest = now + Math.max(1.5 * delay, asked) + (claimedAt - askedAt) + rounding;
    if (at > latest) this.break("schedule", `${what} ${at - latest} ms too late`);
    if (tries >= (retry.maxAttempts ?? Number.POSITIVE_INFINITY))
      this.break("schedule", `${what} after all ${tries} attempts`);
    if (at > (one.firstAttemptAt ?? now) + WINDOW_MS) this.break("window", `${what} past its window`);
    const rests = (last?.status === 429 || last?.status === 503) && asked > 0;
    if (
      rests &&
      now < lease.expiresAt - 6_000 &&
      (this.#rests.get(one.listener) ?? 0) < from + asked - rounding
    )
      this.break("schedule", `${what}, and ${one.listener} does not rest as it asked`);
  }

  failed(lease: Lease, { reason, attempt, blocksKey }: DeliveryFailure, changed: boolean): void {
    const one = this.#holder(lease);
    this.#fence("fail", changed, one !== undefined);
    this.#tell("buries", lease, one !== undefined);
    if (!one?.held) return;
    const { last } = one.held;
    const what = `${shortName(one)} buried (${reason}) after ${last?.status ?? "no answer"}`;
    if (reason === "refused") {
      if ([401, 403, 404].includes(last?.status ?? 0)) this.break("set-up", what);
      if (last?.status !== 422) this.break("reason", what);
    } else this.#checkReason(one, reason, what);
    if (attempt) this.#record(one, attempt);
    this.#bury(one, reason, blocksKey);
  }

  #checkReason(one: Facts, reason: string, what: string): void {
    const { retry } = this.#listeners.get(one.listener) ?? {};
    const tries = one.attempts - one.attemptsBefore;
    if (reason === "attempts" && !(tries >= (retry?.maxAttempts ?? Number.POSITIVE_INFINITY)))
      this.break("reason", what);
    const longest = Math.max(1.5 * (retry?.maxDelayMs ?? 0), MAX_RETRY_AFTER_MS);
    const open = (one.firstAttemptAt ?? 0) + WINDOW_MS - this.#storeNow();
    if (reason === "window" && open > longest + this.#jumpedMs + HOUR_MS) this.break("reason", what);
    if (reason !== "attempts" && reason !== "window") this.break("reason", what);
  }

  released(leases: readonly Lease[]): void {
    for (const lease of leases) {
      const one = this.#holder(lease);
      if (!one?.held) continue;
      this.#tell("gives back", lease, true);
      if (one.held.sends > 0) this.break("history", `${shortName(one)} released although it was sent`);
      Object.assign(one, one.held.before, { held: undefined });
    }
  }

  expired(ended: readonly ExpiredEvent[]): void {
    const now = this.#storeNow();
    for (const { listener, id } of ended) {
      const one = this.facts.get(nameOf(listener, id));
      this.#trace.add("store", "expires", listener, id);
      const isPast = one && now > (one.firstAttemptAt ?? now) + WINDOW_MS;
      if (one?.state !== "pending" || now < one.dueAt || !isPast)
        this.break("reason", `${listener} ${id} expired inside its window, under a lease or without need`);
      if (one) this.#bury(one, "window", this.#listeners.get(listener)?.onDead === "block");
    }
  }

  redriven(filter: DeadLetterFilter, windowMs: number, options: RedriveOptions, result: RedriveResult): void {
    const now = this.#storeNow();
    const dead = [...this.facts.values()].filter((one) => one.state === "dead" && isMeant(one, filter));
    const open = dead.filter(({ firstAttemptAt = now }) => now - firstAttemptAt <= windowMs);
    this.#fence("redrive", result.redriven, open.length);
    for (const one of open) {
      if (options.place !== "kept" && one.key !== undefined) one.place = ++this.#places;
      Object.assign(one, { state: "pending", dueAt: now, attemptsBefore: one.attempts, blocksKey: false });
    }
  }

  dropped(filter: DeadLetterFilter, count: number): void {
    const dead = [...this.facts.values()].filter((one) => one.state === "dead" && isMeant(one, filter));
    this.#fence("drop", count, dead.length);
    for (const one of dead) {
      this.facts.delete(one.name);
      this.#dropped.add(one.name);
    }
  }

  cancelled(filter: EventFilter, { cancelled }: CancelResult): void {
    const found = [...this.facts.values()].filter(
      (one) => one.state === "pending" && one.firstAttemptAt === undefined && isMeant(one, filter),
    );
    this.#fence("cancel", cancelled, found.length);
    for (const one of found) one.state = "cancelled";
  }

  paused(listener: string): void {
    this.#paused.add(listener);
  }

  resumed(listener: string, changed: boolean): void {
    this.#fence("resume", changed, this.#paused.delete(listener));
  }

  rests(listener: string, until: number): void {
    this.#rests.set(listener, Math.max(until, this.#rests.get(listener) ?? 0));
  }

  /** A worker sends. */
  sent(worker: string, listener: string, id: string, body: Uint8Array, timeoutMs: number): Held | undefined {
    const name = nameOf(listener, id);
    const one = this.facts.get(name);
    if (!one && this.#dropped.has(name)) return undefined;
    const what = `${worker} sends ${listener} ${id.slice(0, 8)}`;
    if (!one || this.#refused.has(id) || one.state === "cancelled") {
      this.break("rolled back", `${what}, which ${one ? `is ${one.state}` : "is not stored"}`);
      return undefined;
    }
    if (text(body) !== one.body) this.break("bytes", `${what} with other bytes`);
    one.sends += 1;
    const { held } = one;
    if (held?.worker !== worker) return undefined; // a second request of a worker that was overtaken
    held.sends += 1;
    if (this.#jumpedAt >= held.askedAt) return held; // a lease by a clock that was set says nothing
    const now = this.#storeNow();
    if (held.lease.expiresAt - now < timeoutMs + TO_STORE_MS)
      this.break("lease time", `${what} for ${timeoutMs} ms under ${held.lease.expiresAt - now} ms`);
    const late = now - (one.firstAttemptAt ?? now) - WINDOW_MS;
    if (late > 6_000 + this.#jumpedMs) this.break("window", `${what} ${late} ms past its window`);
    return held;
  }

  answered(held: Held | undefined, seen: Omit<Seen, "at">): void {
    if (held) held.last = { ...seen, at: this.#storeNow() };
  }

  ran(listener: string, id: string, body: Uint8Array): void {
    const one = this.facts.get(nameOf(listener, id));
    if (!one) {
      if (!this.#dropped.has(nameOf(listener, id)))
        this.break("rolled back", `${listener} ${id} ran and is not stored`);
      return;
    }
    one.runs += 1;
    if (one.runs > 1) this.break("once", `${shortName(one)} ran ${one.runs} times`);
    if (text(body) !== one.body) this.break("bytes", `${shortName(one)} ran with other bytes`);
  }

  #record(one: Facts, { number, status, code }: OutboxAttempt): void {
    const { held } = one;
    // After an answer that showed a wrong clock or secret there may be no time left for the second request.
    const isLate = code === "TIMED_OUT" && (held?.last?.status === 400 || held?.last?.status === 401);
    if (held && (number !== held.number || (status !== held.last?.status && !isLate)))
      this.break(
        "history",
        `${shortName(one)}: attempt ${number} with ${status}, and it was ${held.number} with ${held.last?.status}`,
      );
    one.recorded.push({ number, status });
  }

  #end(one: Facts, state: Facts["state"]): void {
    one.state = state;
    one.held = undefined;
  }

  #bury(one: Facts, reason: string, blocksKey: boolean): void {
    this.#end(one, "dead");
    one.reason = reason;
    one.blocksKey = blocksKey;
  }
}

function isMeant(one: Facts, { listener = one.listener, ids }: EventFilter): boolean {
  return one.listener === listener && (ids?.includes(one.id) ?? true);
}

export function shortName({ listener, id, key }: Facts): string {
  return `${listener}/${id.slice(0, 8)}${key === undefined ? "" : `(${key})`}`;
}

function text(body: Uint8Array): string {
  return Buffer.from(body).toString("latin1");
}
