import { HookproofError } from "hookproof";
import type { ReplayStore, Reservation, ReserveResult } from "hookproof/receiver";
import type { ReplayPlan } from "./replay-plan.js";
import type { Trace } from "./trace.js";
import type { VirtualTime } from "./virtual-time.js";

/** The rules of the receiving side: docs/simulation.md. Times of ids are those of the store's clock. */
export const REPLAY_RULES = {
  once: "an id that was committed runs no more for seven days, but under a reservation that has expired and outside of a transaction; and who ran without a commit had a reason",
  held: "no two hold an id at a time",
  forgotten: "a processed id is kept for seven days",
  expires: "an id whose reservation or whose seven days are over is refused no more",
  fence: "the commit of a holder that was overtaken is refused, and every other one is not",
  left: "an answer leaves no reservation behind, unless the store failed",
  "409": "a 409 is only for an id that was processed",
  "200": "a 200 is only for an event that has run, and whose id is processed",
  lost: "no id is processed whose event has not run",
  window: "nothing runs whose timestamp is off by more than 300 s",
  forged: "nothing runs that was changed on its way",
  bytes: "what runs is what was sent",
  patience: "a copy of an id in flight is answered in time",
  disk: "a commit that was acknowledged is on the disk",
  bounded: "expired ids leave the memory",
  liveness: "after the faults every event is accepted, in bounded time",
  error: "nothing throws what nobody expects",
  trace: "a seed gives the same trace twice",
} as const;

export type ReplayRule = keyof typeof REPLAY_RULES;

/** Why a run that did its work may give its id back. */
export const THREW = "it threw";
const RETENTION_MS = 7 * 86_400_000;

/** What an id has to be in the store. */
interface Known {
  readonly state: "reserved" | "processed";
  readonly token: string;
  readonly expiresAt: number;
  /** It had expired before the store's clock was put back, so the store may have forgotten it or not. */
  isUncertain?: boolean;
}

/** A run of the automation: its work was done. */
interface Work {
  readonly token: string;
  readonly owner: string;
  committedAt?: number;
  /** Why there may be no commit of it. */
  excuse?: string;
}

/** An id at a listener. */
interface Facts {
  known: Known | undefined;
  readonly works: Work[];
  committedAt?: number;
}

/** What has to hold, as a book that is kept beside the real replay store: each call that it has executed is written down. */
export class ReplayLedger {
  violation: { readonly rule: ReplayRule; readonly at: number; readonly message: string } | undefined;
  runs = 0;
  readonly #plan: ReplayPlan;
  readonly #time: VirtualTime;
  readonly #trace: Trace;
  readonly #storeNow: () => number;
  readonly #facts = new Map<string, Facts>();
  /** Reservations whose caller had been told that the store failed, with the caller. */
  readonly #late = new Map<string, string>();

  constructor(plan: ReplayPlan, time: VirtualTime, trace: Trace, storeNow: () => number) {
    this.#plan = plan;
    this.#time = time;
    this.#trace = trace;
    this.#storeNow = storeNow;
  }

  break(rule: ReplayRule, message: string): void {
    this.violation ??= { rule, at: this.#time.now, message };
  }

  /** The store's clock is about to be set. */
  storeJumps(): void {
    for (const { known } of this.#facts.values())
      if (known && known.expiresAt <= this.#storeNow()) known.isUncertain = true;
  }

  #of(listener: string, id: string): Facts {
    const name = `${listener} ${id}`;
    const facts = this.#facts.get(name) ?? { known: undefined, works: [] };
    this.#facts.set(name, facts);
    return facts;
  }

  /** What holds an id at this moment. */
  #live({ known }: Facts): Known | undefined {
    return known && known.expiresAt > this.#storeNow() ? known : undefined;
  }

  reserved(owner: string, listener: string, id: string, result: ReserveResult): void {
    const facts = this.#of(listener, id);
    const live = this.#live(facts);
    const { state } = result;
    const isUncertain = live?.isUncertain === true;
    this.#trace.add(owner, "asks for", listener, id, state);
    const what = `${owner} was told "${state}" of ${shortened(id)}`;
    if (live?.state === "processed" && state !== "processed" && !isUncertain)
      this.break("forgotten", `${what}, which is processed for ${this.#left(live)}`);
    if (live?.state === "reserved" && state === "reserved" && !isUncertain)
      this.break("held", `${what}, which is reserved for ${this.#left(live)}`);
    if (live?.state === "reserved" && state === "processed") this.break("409", `${what}, which is reserved`);
    if (!live && state !== "reserved") this.break("expires", `${what}, which nobody holds`);
    if (result.state !== "reserved") return;
    const before = facts.works.find((work) => work.token === facts.known?.token);
    if (before && facts.known?.state === "reserved") before.excuse ??= "its reservation had expired";
    const { token } = result.reservation;
    facts.known = { state: "reserved", token, expiresAt: this.#storeNow() + this.#plan.reservationMs };
  }

  #left({ expiresAt }: Known): string {
    return `${expiresAt - this.#storeNow()} ms`;
  }

  committed(owner: string, { listenerId, eventId, token }: Reservation, isDone: boolean): void {
    const facts = this.#of(listenerId, eventId);
    const live = this.#live(facts);
    const isLost = live !== undefined && live.token !== token;
    this.#trace.add(owner, isDone ? "commits" : "has lost", listenerId, eventId);
    if (isDone === isLost && !live?.isUncertain)
      this.break("fence", `${owner} ${isDone ? "committed" : "could not commit"} ${shortened(eventId)}`);
    for (const work of facts.works) {
      if (work.token !== token) continue;
      if (isDone) work.committedAt ??= this.#storeNow();
      else work.excuse = "its reservation was lost";
    }
    if (!isDone) return;
    if (!facts.works.some((work) => work.token === token))
      this.break("lost", `${owner} committed ${shortened(eventId)} and has not run it`);
    // A second commit of the same holder may leave the time of the first one or begin anew.
    const from = live?.state === "processed" && this.#plan.store === "memory" ? facts.committedAt : undefined;
    facts.committedAt = from ?? this.#storeNow();
    facts.known = { state: "processed", token, expiresAt: facts.committedAt + RETENTION_MS };
  }

  released(owner: string, { listenerId, eventId, token }: Reservation): void {
    const facts = this.#of(listenerId, eventId);
    this.#trace.add(owner, "releases", listenerId, eventId);
    const work = facts.works.find((one) => one.token === token);
    if (work && work.excuse !== THREW && !this.#plan.inTransaction)
      this.break("once", `${owner} gave ${shortened(eventId)} back, which it had run`);
    if (facts.known?.state === "reserved" && facts.known.token === token) facts.known = undefined;
  }

  /** A reservation reached its caller when that had been told already that the store failed. */
  cameLate(owner: string, { token }: Reservation): void {
    this.#late.set(token, owner);
  }

  /** Its release is on its way, whether it arrives or not. */
  givesBack({ token }: Reservation): void {
    this.#late.delete(token);
  }

  /** The automation does its work. */
  ran(owner: string, { listenerId, eventId, token }: Reservation): void {
    const facts = this.#of(listenerId, eventId);
    const now = this.#storeNow();
    this.runs += 1;
    this.#trace.add(owner, "runs", listenerId, eventId);
    const live = this.#live(facts);
    const holds = live?.token === token;
    for (const { committedAt, excuse, ...work } of facts.works) {
      const who = `${owner} runs ${shortened(eventId)}, which ${work.owner} has run`;
      const isKept = committedAt !== undefined && now < committedAt + RETENTION_MS;
      if (isKept && (holds || this.#plan.inTransaction)) this.break("once", `${who} and committed`);
      if (committedAt === undefined && excuse === undefined && holds && !this.#time.isDead(work.owner))
        this.break("once", `${who} and not committed, without a reason`);
    }
    facts.works.push({ token, owner, ...(!holds && { excuse: "its reservation had expired" }) });
  }

  /** Why a run may have ended without a commit: it threw, or the store failed. */
  excuse({ listenerId, eventId, token }: Reservation, reason: string): void {
    for (const work of this.#of(listenerId, eventId).works) if (work.token === token) work.excuse ??= reason;
  }

  /** What a receiver has answered; `held` is the reservation that it was given, if it was. */
  answered(
    owner: string,
    {
      listener,
      id,
      status,
      code,
    }: { listener: string; id: string; status: number; code: string | undefined },
    held: { readonly reservation: Reservation; readonly hasFailed: boolean } | undefined,
  ): void {
    const facts = this.#of(listener, id);
    const what = `${owner} answered ${status} ${code ?? ""} to ${shortened(id)}`;
    const { committedAt } = facts;
    if (status === 409 && committedAt === undefined) this.break("409", what);
    const work = facts.works.find(({ token }) => token === held?.reservation.token);
    if (status === 200 && work?.committedAt === undefined) this.break("200", what);
    if (!held || held.hasFailed) return;
    const live = this.#live(facts);
    if (live?.state === "reserved" && live.token === held.reservation.token)
      this.break("left", `${what}, and keeps its reservation for ${this.#left(live)}`);
  }

  /** At the end: what came too late has been given back. */
  end(): void {
    for (const owner of this.#late.values())
      if (!this.#time.isDead(owner)) this.break("left", `${owner} kept a reservation that came too late`);
  }
}

/** A store whose calls are written into the ledger once they were executed; `work` is what a commit does as well. */
export function recordedStore(
  inner: ReplayStore,
  owner: string,
  ledger: ReplayLedger,
  work = () => {},
): ReplayStore {
  return {
    async reserve(listener, id) {
      const result = await inner.reserve(listener, id);
      ledger.reserved(owner, listener, id, result);
      return result;
    },
    async commit(reservation) {
      try {
        await inner.commit(reservation);
        work();
        ledger.committed(owner, reservation, true);
      } catch (error) {
        if (error instanceof HookproofError && error.code === "RESERVATION_LOST")
          ledger.committed(owner, reservation, false);
        throw error;
      }
    },
    async release(reservation) {
      await inner.release(reservation);
      ledger.released(owner, reservation);
    },
  };
}

export function shortened(id: string): string {
  return id.slice(0, 8);
}
