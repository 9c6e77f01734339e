import type { OutboxAttempt } from "hookproof/outbox";
import type {
  CancelResult,
  ClaimedEvent,
  Delivery,
  DeliveryFailure,
  EventFilter,
  ExpiredEvent,
  Lease,
  OutboxEvent,
} from "hookproof/outbox/store";
import { LeaseDuties } from "./duties.js";
import { EndedEvents } from "./ended-events.js";
import {
  type AskedClaim,
  type Facts,
  type Held,
  isHeldAt,
  isMeant,
  nameOf,
  type Rule,
  type Seen,
  shortName,
  text,
  type Violation,
} from "./facts.js";
import { Holds } from "./holds.js";
import { ClaimedLimits } from "./limits.js";
import type { ListenerPlan, Plan } from "./plan.js";
import { DRIFT, Schedule, WINDOW_MS } from "./schedule.js";
import { Signs } from "./signs.js";
import { Stops } from "./stops.js";
import type { Trace } from "./trace.js";
import type { VirtualTime } from "./virtual-time.js";

/** What a lease has to last longer than an attempt, so that its result can be stored: docs/decisions.md, O4. */
const TO_STORE_MS = 2_500;

/**
 * What has to hold, as a book that is kept beside the real store: every call that the store has executed is written
 * down, and what it did is compared with what it should have done.
 */
export class Ledger {
  readonly facts = new Map<string, Facts>();
  readonly duties: LeaseDuties;
  readonly ended: EndedEvents;
  violation: Violation | undefined;
  /** How many events were stored. */
  events = 0;
  readonly #time: VirtualTime;
  readonly storeNow: () => number;
  readonly #listeners: ReadonlyMap<string, ListenerPlan>;
  readonly #schedule: Schedule;
  readonly #limits: ClaimedLimits;
  readonly stops: Stops;
  readonly holds: Holds;
  readonly signs = new Signs();
  /** Told when a worker is given what another one has held, and of each claim of an event of a key. */
  onOvertaken: (worker: string) => void = () => {};
  onKeyClaimed: (one: Facts) => void = () => {};
  readonly #refused = new Set<string>();
  #places = 0;
  /** The sum of what the store's clock was set by, and when it was set last. */
  jumpedMs = 0;
  #jumpedAt = Number.NEGATIVE_INFINITY;

  /** Who was given each lease. */
  readonly #claimants = new Map<string, string>();
  readonly #trace: Trace;

  constructor(plan: Plan, time: VirtualTime, trace: Trace, storeNow: () => number) {
    this.#trace = trace;
    this.#time = time;
    this.storeNow = storeNow;
    this.#listeners = new Map(plan.listeners.map((one) => [one.name, one]));
    this.holds = new Holds({ storeNow, time, onBroken: (rule, message) => this.break(rule, message) });
    this.#schedule = new Schedule(plan, time, storeNow);
    this.#limits = new ClaimedLimits(plan, this, time);
    this.duties = new LeaseDuties(plan);
    this.ended = new EndedEvents(plan, this);
    this.stops = new Stops(plan, this, time);
  }

  break(rule: Rule, message: string): void {
    this.violation ??= { rule, at: this.#time.now, message };
  }

  storeJumped(ms: number): void {
    this.#limits.storeJumped();
    this.holds.storeJumped(ms);
    this.jumpedMs += Math.abs(ms);
    if (ms < 0)
      for (const one of this.facts.values()) {
        one.backMs -= ms;
        if (one.state === "pending" || one.state === "dead") one.firstBackMs -= ms;
      }
    this.#jumpedAt = this.#time.now;
  }

  /** The transaction of these events has committed; they were enqueued at this time of the store, in these places. */
  stored(
    events: readonly Pick<OutboxEvent, "id" | "listener" | "orderingKey" | "deliverAt" | "body">[],
    now = this.storeNow(),
    places: readonly number[] = [],
  ): void {
    for (const [index, { id, listener, orderingKey, deliverAt = now, body }] of events.entries()) {
      const name = nameOf(listener, id);
      if (this.facts.has(name)) continue;
      this.events += 1;
      this.facts.set(name, {
        ...{
          name,
          id,
          listener,
          key: orderingKey,
          body: text(body),
          place: places[index] ?? this.nextPlace(),
          state: "pending",
        },
        ...{ dueAt: Math.max(now, deliverAt), attempts: 0, attemptsBefore: 0, firstAttemptAt: undefined },
        ...{ isTimed: deliverAt > now, storedAt: this.#time.now, backMs: Math.max(0, now - this.storeNow()) },
        ...{ firstBackMs: 0, blocksKey: false, held: undefined, runs: 0, sends: 0, recorded: [] },
      });
    }
  }

  /** The place of the next event in the order of its key. */
  nextPlace(): number {
    return ++this.#places;
  }

  /** These ids were rolled back, or the store said that it has nothing of them. */
  undone(ids: readonly string[]): void {
    for (const id of ids) this.#refused.add(id);
  }

  claimed(worker: string, claims: readonly ClaimedEvent[], askedAt: number, request: AskedClaim): void {
    const now = this.storeNow();
    for (const { event, lease, attempt, firstAttemptAt, sentBefore } of claims) {
      const one = this.facts.get(nameOf(event.listener, event.id)) ?? this.#withNewId(event, attempt);
      if (!one) {
        this.break("rolled back", `${event.id} was claimed and is not stored`);
        continue;
      }
      const what = `${shortName(one)} claimed by ${worker}`;
      this.#claimants.set(lease.token, worker);
      this.#trace.add(worker, "claims", one.listener, one.id);
      this.stops.claimed(worker, what);
      if (one.state !== "pending") this.break("due", `${what}: it is ${one.state}`);
      if (one.held && isHeldAt(one, now))
        this.break("leases", `${what}: ${one.held.worker} holds it for ${one.held.lease.expiresAt - now} ms`);
      const fault = one.held && this.#jumpedAt < one.held.askedAt && this.duties.fault(one.held);
      if (fault) this.break("kept", `${shortName(one)} ${fault}`);
      if (now < earliest(one)) this.break("due", `${what} ${one.dueAt - now} ms before it is due`);
      const hold = this.holds.held(one.listener, request.lookedAt);
      if (hold) this.break("due", `${what} while ${one.listener} ${hold}`);
      if (now > (one.firstAttemptAt ?? now) + WINDOW_MS) this.break("window", `${what} past its window`);
      if (text(event.body) !== one.body) this.break("bytes", `${what} with other bytes`);
      if (attempt !== one.attempts + 1)
        this.break("history", `${what} as attempt ${attempt} after ${one.attempts}`);
      const first = one.firstAttemptAt ?? now;
      const isOwn = firstAttemptAt <= first && firstAttemptAt >= first - one.firstBackMs;
      if (!isOwn || sentBefore !== (one.firstAttemptAt !== undefined))
        this.break("history", `${what} with another first attempt than its own`);
      this.#inOrder(one, what, now, request.lookedAt);
      if (one.held) this.onOvertaken(one.held.worker);
      if (one.key !== undefined) this.onKeyClaimed(one);
      const { dueAt, attempts } = one;
      const before = { dueAt: Math.min(dueAt, now), attempts, firstAttemptAt: one.firstAttemptAt };
      one.attempts = attempt;
      if (one.firstAttemptAt === undefined) one.firstBackMs = 0;
      one.firstAttemptAt = firstAttemptAt;
      one.dueAt = lease.expiresAt;
      one.backMs = 0;
      const times = { askedAt, claimedAt: this.#time.now };
      one.held = { worker, lease, number: attempt, sentBefore, ...times, before, sends: 0 };
      this.#limits.claimed(one.listener, now);
    }
    if (claims.length < request.limit) this.#limits.passedOver(request.listeners.keys());
  }

  /** An event that was brought back under a new id, as the first claim of it shows. */
  #withNewId({ id, listener, body }: OutboxEvent, attempt: number): Facts | undefined {
    for (const one of this.facts.values()) {
      if (!one.isRenamed || one.listener !== listener || one.body !== text(body)) continue;
      if (one.attempts !== attempt - 1) continue;
      this.facts.delete(one.name);
      const renamed = { ...one, name: nameOf(listener, id), id, isRenamed: false };
      this.facts.set(renamed.name, renamed);
      return renamed;
    }
    return undefined;
  }

  #inOrder(one: Facts, what: string, now: number, lookedAt = this.#time.now): void {
    if (one.key === undefined) return;
    for (const other of this.facts.values()) {
      if (other === one || other.listener !== one.listener || other.key !== one.key) continue;
      const isOpen = other.storedAt <= lookedAt && (other.state === "pending" || other.blocksKey);
      if (isOpen && other.place < one.place) this.break("order", `${what} before ${shortName(other)}`);
      if (other.state === "pending" && isHeldAt(other, now))
        this.break("order", `${what} next to ${shortName(other)}`);
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

  /** What a call has changed, beside what it should have. */
  fence(what: string, changed: number | boolean, expected: number | boolean): void {
    if (Number(changed) !== Number(expected))
      this.break("fence", `${what} changed ${Number(changed)} and should have changed ${Number(expected)}`);
  }

  markedDelivered(deliveries: readonly Delivery[], changed: number): void {
    const valid = deliveries.filter(({ lease }) => this.#holder(lease));
    for (const one of deliveries) this.#tell("marks as delivered", one.lease, valid.includes(one));
    this.fence("markDelivered", changed, valid.length);
    for (const { lease, outcome, attempt } of valid) {
      const one = this.#holder(lease);
      if (!one?.held) continue;
      const { last, sentBefore } = one.held;
      const isAccepted = last?.means === "accepted" || last?.means === "known";
      const isFirst = last?.means === "known" && !sentBefore && !last.resent;
      const hasRun = one.runs > 0 || this.ended.isDropped(one.name); // it was pruned, and enqueued again
      if (
        !isAccepted ||
        (outcome === "duplicate") !== isFirst ||
        (isFirst && !this.ended.isDropped(one.name))
      )
        this.break("lost", `${shortName(one)} counts as ${outcome} after ${last?.status ?? "no answer"}`);
      if (!hasRun) this.break("lost", `${shortName(one)} counts as delivered and never ran`);
      this.#record(one, attempt);
      this.#end(one, "delivered");
    }
  }

  /** @param askedAt when the worker asked for it, by the world's time */
  rescheduled(
    lease: Lease,
    at: number,
    attempt: OutboxAttempt,
    changed: boolean,
    askedAt = this.#time.now,
  ): void {
    const [one, now] = [this.#holder(lease), this.storeNow()];
    this.fence("reschedule", changed, one !== undefined);
    this.#tell("reschedules", lease, one !== undefined);
    if (!one?.held) return;
    const isByOneClock = this.#jumpedAt < one.held.askedAt;
    if (attempt.code === "ABORTED" && isByOneClock) this.stops.interrupted(one, one.held, at);
    else if (isByOneClock)
      for (const [rule, message] of this.#schedule.faults(one, one.held, at, {
        askedAt,
        restsUntil: this.holds.restsUntil(one.listener),
        pausedAt: this.stops.isTold(one.held.worker) ? now : this.holds.pausedAt(one.listener),
      }))
        this.break(rule, message);
    this.#record(one, attempt);
    one.held = undefined;
    one.dueAt = at;
  }

  failed(lease: Lease, { reason, attempt, blocksKey }: DeliveryFailure, changed: boolean): void {
    const one = this.#holder(lease);
    this.fence("fail", changed, one !== undefined);
    this.#tell("buries", lease, one !== undefined);
    if (!one?.held) return;
    const { last } = one.held;
    const what = `${shortName(one)} buried (${reason}) after ${last?.status ?? "no answer"}`;
    if (reason === "refused") {
      if ([401, 403, 404].includes(last?.status ?? 0)) this.break("set-up", what);
      if (last?.status === 410) this.break("gone", what);
      if (last?.means !== "refused" && last?.status !== 410) this.break("reason", what);
    } else if (!this.#schedule.isReason(one, reason, this.jumpedMs)) this.break("reason", what);
    if (attempt) this.#record(one, attempt);
    this.#bury(one, reason, blocksKey);
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
    const now = this.storeNow();
    for (const { listener, id } of ended) {
      const one = this.facts.get(nameOf(listener, id));
      this.#trace.add("store", "expires", listener, id);
      const isPast = one && now > (one.firstAttemptAt ?? now) - one.firstBackMs + WINDOW_MS;
      if (one?.state !== "pending" || now < earliest(one) || !isPast)
        this.break("reason", `${listener} ${id} expired inside its window, under a lease or without need`);
      if (one) this.#bury(one, "window", this.#listeners.get(listener)?.onDead === "block");
    }
  }

  cancelled(filter: EventFilter, { cancelled }: CancelResult): void {
    const found = [...this.facts.values()].filter(
      (one) => one.state === "pending" && one.firstAttemptAt === undefined && isMeant(one, filter),
    );
    this.fence("cancel", cancelled, found.length);
    for (const one of found) this.#end(one, "cancelled");
  }

  /** The store did not answer a call that was to end these leases, or with an error. */
  notStored(leases: readonly Lease[]): void {
    this.duties.failed(leases, this.storeNow());
  }

  toldToStop(worker: string): void {
    this.stops.told(worker);
    this.duties.disturbed(worker);
  }

  /** A worker sends. */
  sent(worker: string, listener: string, id: string, body: Uint8Array, timeoutMs: number): Held | undefined {
    const name = nameOf(listener, id);
    const one = this.facts.get(name);
    if (!one && this.ended.isDropped(name)) return undefined;
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
    if (held.sends === 1 && this.stops.isTold(worker))
      this.break("stop", `${what} after it was told to stop`);
    if (this.#jumpedAt >= held.askedAt) return held; // a lease by a clock that was set says nothing
    const now = this.storeNow();
    const toStoreMs = TO_STORE_MS - DRIFT * (this.#time.now - held.askedAt);
    if (held.lease.expiresAt - now < timeoutMs + toStoreMs)
      this.break("lease time", `${what} for ${timeoutMs} ms under ${held.lease.expiresAt - now} ms`);
    const late = now - (one.firstAttemptAt ?? now) - WINDOW_MS;
    // Within an attempt a second request may follow, after an answer that showed a wrong clock or secret.
    const mayBeLate = held.sends === 1 ? 50 + DRIFT * (this.#time.now - held.askedAt) : 11_000;
    if (late > mayBeLate + this.jumpedMs) this.break("window", `${what} ${late} ms past its window`);
    return held;
  }

  answered(held: Held | undefined, seen: Omit<Seen, "at">): void {
    if (held) held.last = { ...seen, resent: seen.resent || held.last?.resent || false, at: this.storeNow() };
  }

  ran(listener: string, id: string, body: Uint8Array): void {
    const one = this.facts.get(nameOf(listener, id));
    if (!one) {
      if (!this.ended.isDropped(nameOf(listener, id)))
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
    one.endedAt = this.storeNow();
    one.held = undefined;
  }

  #bury(one: Facts, reason: string, blocksKey: boolean): void {
    this.#end(one, "dead");
    one.reason = reason;
    one.blocksKey = blocksKey;
  }
}

/** When it may be due at the earliest, by the store's clock. */
function earliest({ dueAt, backMs, isTimed, attempts, attemptsBefore }: Facts): number {
  return isTimed && attempts === 0 && attemptsBefore === 0 ? dueAt : dueAt - backMs;
}
