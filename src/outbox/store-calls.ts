// Calls to a store that may be out of reach, and deliveries stored in groups.
import { abortedWith } from "../core/aborted-with.js";
import { type Clock, monotonicMs } from "../core/clock.js";
import { type ErrorCode, HookproofError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import type { Observer } from "../sender/observe.js";
import type { OutboxStore } from "./outbox-store.js";
import type { Delivery, OutboxAttempt } from "./records.js";

/** The pause after the first of several failures. */
export const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/** So long a call counts as failing: it is tried again sooner, unless there is nothing left that it is needed for. */
const FAILS_FOR_MS = 30_000;

/** Failures are told so often at most: calls may fail in turns, each with words of its own, or one and not the next. */
const TOLD_EVERY_MS = 10_000;

type CallName = keyof OutboxStore;

/** The result of a call that was repeated until it succeeded. */
export interface Done<Value> {
  readonly value: Value;
  /** Whether an earlier try failed; that one may have changed something all the same. */
  readonly wasRepeated: boolean;
}

/** Calls to a store that may be out of reach: reports outages, and repeats calls with growing pauses. */
export class StoreCalls {
  readonly #clock: Clock;
  readonly #notice: Observer;
  readonly #wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly #aborting: AbortSignal;
  #pauseMs = 0;
  /** The calls that fail, and when each did last. */
  readonly #failing = new Map<CallName, number>();
  /** What was told of a failure last, and when; `isOut` until its end is told. */
  #told: { readonly words: string; readonly at: number; readonly isOut: boolean } | undefined;

  constructor(context: {
    readonly clock: Clock;
    readonly notice: Observer;
    readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
    readonly aborting: AbortSignal;
  }) {
    this.#clock = context.clock;
    this.#notice = context.notice;
    this.#wait = context.wait;
    this.#aborting = context.aborting;
  }

  /** How long to wait before the next call; 0 unless a call fails. */
  get pauseMs(): number {
    return this.#pauseMs;
  }

  /** Makes one call, records whether it succeeded, and passes its error on. */
  async once<Value>(name: CallName, call: () => Promise<Value>): Promise<Value> {
    try {
      const value = await call();
      this.#succeeded(name);
      return value;
    } catch (cause) {
      this.#failed(name, cause);
      throw cause;
    }
  }

  /** An outage is over when nothing fails: a database that may be read, and not written, is not back with each look. */
  #succeeded(name: CallName): void {
    if (this.#failing.size === 0) return;
    this.#failing.delete(name);
    const now = monotonicMs(this.#clock);
    for (const [other, at] of this.#failing) if (now - at > FAILS_FOR_MS) this.#failing.delete(other);
    if (this.#failing.size > 0) return;
    this.#pauseMs = 0;
    if (!this.#told?.isOut) return;
    this.#told = { ...this.#told, isOut: false };
    this.#notice({ type: "store-changed", available: true });
  }

  #failed(name: CallName, cause: unknown): void {
    const at = monotonicMs(this.#clock);
    this.#failing.set(name, at);
    this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
    const code: ErrorCode = cause instanceof HookproofError ? cause.code : "OUTBOX_UNAVAILABLE";
    const reason = innermostWords(cause);
    const words = `${code} ${reason}`;
    const { at: toldAt = Number.NEGATIVE_INFINITY, isOut, words: told } = this.#told ?? {};
    if (at - toldAt < TOLD_EVERY_MS || (isOut && words === told)) return;
    this.#told = { words, at, isOut: true };
    this.#notice({ type: "store-changed", available: false, code, reason, cause });
  }

  /**
   * Repeats a call until it succeeds. Gives up, with `undefined`, at `until` by the monotonic clock, or when everything
   * is aborted.
   */
  async untilDone<Value>(
    name: CallName,
    call: () => Promise<Value>,
    until: number,
  ): Promise<Done<Value> | undefined> {
    for (let wasRepeated = false; ; wasRepeated = true) {
      try {
        return { value: await this.once(name, call), wasRepeated };
      } catch {
        if (this.#aborting.aborted || monotonicMs(this.#clock) + this.#pauseMs >= until) return undefined;
        await this.pause();
      }
    }
  }

  /** Waits for `pauseMs`, or until everything is aborted. */
  pause(): Promise<void> {
    return abortedWith(this.#aborting, (signal) => this.#wait(this.#pauseMs, signal));
  }
}

/** What the database or its driver said: of an error, the innermost one. */
export function innermostWords(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 5; depth++) {
    const { cause } = Object(inner) as { cause?: unknown };
    if (cause === undefined) break;
    inner = cause;
  }
  const { message, code, name } = Object(inner) as Record<string, unknown>;
  // Node's error for a name with several addresses has a code, and no message.
  return shown(String(message || code || name || inner), 200);
}

/** A store could not take what it was given, and would take something else: it is there, and nothing was changed. */
export class DataRefusal {
  constructor(readonly error: unknown) {}
}

/** SQLSTATE classes of data, constraints, views' checks, limits and what a trigger raises; SQLite's of the same kind. */
const DATA_ERROR = /^(?:(?:22|23|44|54|P0)\w{3}|SQLITE_(?:CONSTRAINT|TOOBIG|MISMATCH)\w*)$/;

/** Resolves to a refusal where the call fails for its data, and rejects with any other error. */
async function orRefusal<Value>(call: () => Promise<Value>): Promise<Value | DataRefusal> {
  try {
    return await call();
  } catch (error) {
    const { code } = Object((error as Error | undefined)?.cause) as { code?: unknown };
    if (typeof code === "string" && DATA_ERROR.test(code)) return new DataRefusal(error);
    throw error;
  }
}

/**
 * Stores how an attempt ended: where the store cannot take it, once more without what comes from elsewhere, so that one
 * answer of a receiver never keeps its event from ending.
 */
export async function storeAttempt<Value, Attempt extends OutboxAttempt | undefined>(
  attempt: Attempt,
  call: (attempt: Attempt) => Promise<Value>,
): Promise<Value | DataRefusal> {
  const stored = await orRefusal(() => call(attempt));
  if (!(stored instanceof DataRefusal) || attempt === undefined) return stored;
  const { number, startedAt, durationMs } = attempt;
  return orRefusal(() => call({ number, startedAt, durationMs } as Attempt));
}

interface WaitingDelivery {
  readonly delivery: Delivery;
  /** When its lease expires, by the monotonic clock. */
  readonly until: number;
  readonly onStored: () => void;
  /** Whether an earlier try failed; that one may have stored it all the same. */
  tried: boolean;
}

interface DeliveryBufferContext {
  readonly store: Pick<OutboxStore, "markDelivered">;
  readonly calls: Pick<StoreCalls, "once">;
  readonly now: () => number;
  /** Called with the number of events that were delivered after their lease was lost. */
  readonly onLost: (count: number) => void;
  /** Called with an event that was delivered, which the store cannot note. */
  readonly onRefused: (eventId: string, error: unknown) => void;
}

/** Stores deliveries in groups, because a commit for each of them would be the largest cost of all. */
export class DeliveryBuffer {
  readonly #context: DeliveryBufferContext;
  #waiting: WaitingDelivery[] = [];

  constructor(context: DeliveryBufferContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** @param until when the lease expires, by the monotonic clock */
  add(delivery: Delivery, until: number, onStored: () => void): void {
    this.#waiting.push({ delivery, until, onStored, tried: false });
  }

  /** Stores what was added. If the store fails, deliveries whose lease is still valid wait for the next flush. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      const valid = await this.#mark(batch.map(({ delivery }) => delivery));
      const lost = batch.length - valid;
      if (lost > 0 && batch.every(({ tried }) => !tried)) this.#context.onLost(lost);
      for (const { onStored } of batch) onStored();
    } catch (error) {
      for (const one of batch) one.tried = true;
      const held = batch.filter(({ until }) => until > this.#context.now());
      if (held.length < batch.length) this.#context.onLost(batch.length - held.length);
      this.#waiting = [...held, ...this.#waiting];
      throw error;
    }
  }

  /**
   * Resolves to how many of the leases were valid. A batch whose data the store cannot take is halved until the one is
   * found that it is about, which is given up if the store cannot take it at all.
   */
  async #mark(deliveries: readonly Delivery[]): Promise<number> {
    const { store, calls } = this.#context;
    const half = deliveries.length >> 1;
    const [one] = deliveries;
    const mark = () =>
      half === 0 && one
        ? storeAttempt(one.attempt, (attempt) => store.markDelivered([{ ...one, attempt }]))
        : orRefusal(() => store.markDelivered(deliveries));
    const marked = await calls.once("markDelivered", mark);
    if (!(marked instanceof DataRefusal)) return marked;
    if (half > 0)
      return (await this.#mark(deliveries.slice(0, half))) + (await this.#mark(deliveries.slice(half)));
    if (one) this.#context.onRefused(one.lease.id, marked.error);
    return 1; // there is nothing left to try: told by itself, and not as a lost lease
  }
}
