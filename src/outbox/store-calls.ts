// Calls to a store that may be out of reach, and deliveries stored in groups.
import { type Clock, monotonicMs } from "../core/clock.js";
import { type ErrorCode, HookproofError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import type { Observer } from "../sender/observe.js";
import type { OutboxStore } from "./outbox-store.js";
import type { Delivery } from "./records.js";

/** The pause after the first of several failures. */
export const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/**
 * Aborts all work that is under way. Each piece has a controller of its own: Node warns of a leak when one signal has
 * more than ten listeners, and Node 20 does leak with every `AbortSignal.any` over a signal that lives for long.
 */
export class AbortGroup {
  readonly #underWay = new Set<AbortController>();
  #aborted = false;

  get aborted(): boolean {
    return this.#aborted;
  }

  abort(): void {
    this.#aborted = true;
    for (const controller of this.#underWay) controller.abort();
  }

  /** Runs work with a signal that aborts with the group. */
  async run<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const controller = new AbortController();
    if (this.#aborted) controller.abort();
    this.#underWay.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      this.#underWay.delete(controller);
    }
  }
}

/** The result of a call that was repeated until it succeeded. */
interface Done<Value> {
  readonly value: Value;
  /** Whether an earlier try failed; that one may have changed something all the same. */
  readonly wasRepeated: boolean;
}

/** Calls to a store that may be out of reach: reports outages, and repeats calls with growing pauses. */
export class StoreCalls {
  readonly #clock: Clock;
  readonly #notice: Observer;
  readonly #wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly #aborting: AbortGroup;
  #pauseMs = 0;

  constructor(context: {
    readonly clock: Clock;
    readonly notice: Observer;
    readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
    readonly aborting: AbortGroup;
  }) {
    this.#clock = context.clock;
    this.#notice = context.notice;
    this.#wait = context.wait;
    this.#aborting = context.aborting;
  }

  /** How long to wait before the next call; 0 unless the last one failed. */
  get pauseMs(): number {
    return this.#pauseMs;
  }

  /** Makes one call, records whether it succeeded, and passes its error on. */
  async once<Value>(call: () => Promise<Value>): Promise<Value> {
    try {
      const value = await call();
      if (this.#pauseMs > 0) this.#notice({ type: "store-changed", available: true });
      this.#pauseMs = 0;
      return value;
    } catch (cause) {
      if (isDataError(cause)) throw cause; // the store is there
      const code: ErrorCode = cause instanceof HookproofError ? cause.code : "OUTBOX_UNAVAILABLE";
      if (this.#pauseMs === 0)
        this.#notice({ type: "store-changed", available: false, code, reason: databaseWords(cause), cause });
      this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
      throw cause;
    }
  }

  /**
   * Repeats a call until it succeeds. Gives up, with `undefined`, at `until` by the monotonic clock, or when everything
   * is aborted.
   */
  async untilDone<Value>(call: () => Promise<Value>, until: number): Promise<Done<Value> | undefined> {
    for (let wasRepeated = false; ; wasRepeated = true) {
      try {
        return { value: await this.once(call), wasRepeated };
      } catch {
        if (this.#aborting.aborted || monotonicMs(this.#clock) + this.#pauseMs >= until) return undefined;
        await this.pause();
      }
    }
  }

  /** Waits for `pauseMs`, or until everything is aborted. */
  pause(): Promise<void> {
    return this.#aborting.run((signal) => this.#wait(this.#pauseMs, signal));
  }
}

/** What the database itself said: of an error, the innermost one. */
export function databaseWords(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 5; depth++) {
    const { cause } = Object(inner) as { cause?: unknown };
    if (cause === undefined) break;
    inner = cause;
  }
  return shown(String(Object(inner).message ?? inner), 200);
}

/** Whether the store could not take what it was given, and would take something else: SQLSTATE 22 and 23, and SQLite's. */
function isDataError(error: unknown): boolean {
  const { code } = Object((error as Error | undefined)?.cause) as { code?: unknown };
  return typeof code === "string" && /^(?:2[23]\w{3}|SQLITE_(?:CONSTRAINT|TOOBIG|MISMATCH)\w*)$/.test(code);
}

interface WaitingDelivery {
  readonly delivery: Delivery;
  /** When its lease expires, by the monotonic clock. */
  readonly until: number;
  readonly onStored: () => void;
  /** Whether an earlier try failed; that one may have stored it all the same. */
  tried: boolean;
}

/** Stores deliveries in groups, because a commit for each of them would be the largest cost of all. */
export class DeliveryBuffer {
  readonly #store: Pick<OutboxStore, "markDelivered">;
  readonly #calls: Pick<StoreCalls, "once">;
  readonly #now: () => number;
  readonly #onLost: (count: number) => void;
  readonly #onRefused: (eventId: string, error: unknown) => void;
  #waiting: WaitingDelivery[] = [];

  /**
   * @param onLost called with the number of events that were delivered after their lease was lost
   * @param onRefused called with an event that was delivered, which the store cannot note
   */
  constructor(
    store: Pick<OutboxStore, "markDelivered">,
    context: {
      readonly calls: Pick<StoreCalls, "once">;
      readonly now: () => number;
      readonly onLost: (count: number) => void;
      readonly onRefused: (eventId: string, error: unknown) => void;
    },
  ) {
    this.#store = store;
    this.#calls = context.calls;
    this.#now = context.now;
    this.#onLost = context.onLost;
    this.#onRefused = context.onRefused;
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
      if (lost > 0 && batch.every(({ tried }) => !tried)) this.#onLost(lost);
      for (const { onStored } of batch) onStored();
    } catch (error) {
      for (const one of batch) one.tried = true;
      const held = batch.filter(({ until }) => until > this.#now());
      if (held.length < batch.length) this.#onLost(batch.length - held.length);
      this.#waiting = [...held, ...this.#waiting];
      throw error;
    }
  }

  /**
   * Resolves to how many of the leases were valid. A batch whose data the store cannot take is halved until the one is
   * found that it is about; that one is stored without what the receiver wrote, and given up if that fails as well.
   */
  async #mark(deliveries: readonly Delivery[]): Promise<number> {
    try {
      return await this.#calls.once(() => this.#store.markDelivered(deliveries));
    } catch (error) {
      if (!isDataError(error)) throw error;
      const half = deliveries.length >> 1;
      if (half > 0)
        return (await this.#mark(deliveries.slice(0, half))) + (await this.#mark(deliveries.slice(half)));
      const [{ lease, outcome, attempt }] = deliveries as [Delivery];
      const { number, startedAt, durationMs } = attempt;
      const isBare = Object.keys(attempt).length === 3;
      if (!isBare) return this.#mark([{ lease, outcome, attempt: { number, startedAt, durationMs } }]);
      this.#onRefused(lease.id, error);
      return 1; // there is nothing left to try: told by itself, and not as a lost lease
    }
  }
}
