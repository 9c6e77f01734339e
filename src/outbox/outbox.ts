/// <reference lib="esnext.disposable" preserve="true" />
// Whoever compiles against the declarations may have a library without Symbol.asyncDispose.

import { type Clock, checkedClock, systemClock } from "../primitives/clock.js";
import { harmless } from "../primitives/harmless.js";
import { steadyRandom } from "../primitives/jitter.js";
import { newEventId } from "../protocol/event-id.js";
import type { Observe } from "../sender/observe.js";
import { DEFAULT_RETRY_POLICY } from "../sender/retry-policy.js";
import { steadyWait } from "../sender/waiting.js";
import type { BodyEncryption } from "./body-encryption.js";
import { LEASE_MARGIN_MS } from "./deliver-claimed.js";
import { Dispatcher, type DispatcherContext } from "./dispatcher.js";
import { createEnqueue, type EnqueuedEvent, type OutboxMessage, type PreparedEvent } from "./enqueue.js";
import { type OutboxListenerOptions, outboxListeners } from "./outbox-listener.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  DropOptions,
  ListenerStats,
  OutboxEntry,
  OutboxStore,
  RedriveResult,
} from "./outbox-store.js";
import { redriveSealed } from "./redrive-sealed.js";
import type { Retention } from "./upkeep.js";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Options of `createOutbox`. */
export interface OutboxOptions<Tx = unknown> {
  /** `memoryStore()`, `sqliteStore(...)` or `postgresStore(...)`. */
  store: OutboxStore<Tx>;
  /** The listeners by names of your own; events are enqueued and kept under these names. */
  listeners: Readonly<Record<string, OutboxListenerOptions>>;
  /**
   * Attempts of this process at the same time, for all listeners; 250 by default. One that has had no answer for a
   * second counts no longer, so that listeners that hang hold back no others.
   */
  concurrency?: number | undefined;
  /** How long an event is a worker's own; 60,000 ms by default. A crashed worker's events wait that long. */
  leaseMs?: number | undefined;
  /** How often an idle worker looks for events; 100 ms by default. */
  pollMs?: number | undefined;
  retention?: Partial<Retention> | undefined;
  /** Encrypts bodies at rest, such as `aesGcmEncryption([{ id, key }])`. */
  encryption?: BodyEncryption | undefined;
  /**
   * Sends bodies that are stored unencrypted although there is `encryption`; `false` by default, and such an event
   * becomes a dead letter (OUTBOX_BODY_UNREADABLE). For events of the time before encryption, or of the SQL function:
   * whoever can write to the database then chooses what is signed.
   */
  allowUnencrypted?: boolean | undefined;
  /** Called with everything that happens; see `SenderEvent`. */
  observe?: Observe | undefined;
  clock?: Clock | undefined;
  /** Numbers from 0 up to 1, for the jitter; `Math.random` by default. */
  random?: (() => number) | undefined;
  /** Waits of the dispatcher; `setTimeout` by default. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** How to bring dead letters back; see `Outbox.redrive`. */
export interface OutboxRedriveOptions {
  /** Counts and changes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Where an event of an ordering key goes: behind what waits (`end`, by default), or where it was. */
  readonly place?: "end" | "kept" | undefined;
  /** New ids, for events whose id receivers have forgotten; these may run twice. */
  readonly newIds?: boolean | undefined;
  /** Dead letters at most. */
  readonly limit?: number | undefined;
}

/** A listener's events, and how this process gets on with it. */
export interface OutboxListenerStats extends Omit<ListenerStats, "oldestEnqueuedAt"> {
  /** Since the oldest pending event was enqueued; 0 when there is none. */
  readonly oldestAgeMs: number;
  /** Absent for a listener that only other processes know. */
  readonly breaker?: "closed" | "open" | "half-open";
}

/** Keeps events until they are delivered, and delivers them. */
export interface Outbox<Tx = unknown> {
  /**
   * Stores an event, or all of many, inside your own transaction if one is given: it is delivered if and only if
   * that commits. What is wrong with an event is thrown at once, and not a rejection. With a synchronous store
   * and without encryption the event is stored when the call returns.
   *
   * @throws {HookproofError} OUTBOX_LISTENER_UNKNOWN, PAYLOAD_NOT_JSON, PAYLOAD_NOT_UTF8, PAYLOAD_TOO_LARGE,
   * EVENT_ID_INVALID, EVENT_ID_REUSED, OUTBOX_UNAVAILABLE, and an `OutcomeUnknownError` if nobody knows
   */
  enqueue(event: OutboxMessage | PreparedEvent, options?: { tx?: Tx }): Promise<EnqueuedEvent>;
  enqueue(
    events: readonly (OutboxMessage | PreparedEvent)[],
    options?: { tx?: Tx },
  ): Promise<readonly EnqueuedEvent[]>;
  /** Does everything that has to be waited for, such as encryption, ahead of a transaction. */
  prepare(event: OutboxMessage): Promise<PreparedEvent>;
  /** Starts to deliver; enqueueing needs no start. */
  start(): void;
  /**
   * Claims no more and waits for attempts under way, up to `timeoutMs` (30,000 by default). What is aborted then
   * is due again at once, for this process or another.
   */
  stop(options?: { timeoutMs?: number }): Promise<void>;
  /** Delivers what is due, and resolves when nothing is any more; what is to be tried later is left waiting. */
  drain(): Promise<void>;
  /** Brings dead letters back; those past the window only with `newIds`. */
  redrive(filter?: DeadLetterFilter, options?: OutboxRedriveOptions): Promise<RedriveResult>;
  /**
   * Removes dead letters for good; resolves to how many. Where a dead letter blocks its ordering key, the next event
   * of it may go: `outbox.drop({ ids: [eventId] })`.
   */
  drop(filter: DeadLetterFilter, options?: DropOptions): Promise<number>;
  /** Dead letters, oldest death first. A body is as it is stored. */
  dead(filter?: DeadLetterFilter, options?: { readonly limit?: number }): AsyncIterable<DeadLetter>;
  /** Where an event stands, with its attempts, at each listener it was enqueued for. */
  find(eventId: string): Promise<readonly OutboxEntry[]>;
  stats(): Promise<readonly OutboxListenerStats[]>;
  /** Stops, and closes the store. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * An outbox: an event that `enqueue` has acknowledged is delivered at least once under one id, or ends as a dead
 * letter with its history (docs/guides/outbox.md).
 *
 * @throws {TypeError | RangeError | HookproofError} for options that cannot work
 *
 * @example
 * ```ts
 * import { hmacSigner } from "hookproof";
 * import { createOutbox, memoryStore } from "hookproof/outbox";
 *
 * const outbox = createOutbox({
 *   store: memoryStore(),
 *   listeners: {
 *     offboarding: {
 *       url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
 *       signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }),
 *     },
 *   },
 * });
 * await outbox.enqueue({ listener: "offboarding", payload: { type: "user.offboarded", userId: "u_123" } });
 * ```
 */
export function createOutbox<Tx = unknown>(options: OutboxOptions<Tx>): Outbox<Tx> {
  const { store, encryption } = options;
  const clock = checkedClock(options.clock ?? systemClock);
  if (typeof store?.claim !== "function")
    throw new TypeError("store must be memoryStore(), sqliteStore(...) or postgresStore(...)");
  const observe = harmless(options.observe);
  const listeners = outboxListeners(options.listeners, { clock, observe });
  const context = dispatcherContext(options, { listeners, clock, observe });
  const urls = new Map([...listeners.values()].map(({ name, url }) => [name, url]));
  const { enqueueAll, prepare } = createEnqueue({ store, urls, encryption, clock, observe });
  let running: Dispatcher | undefined;

  function enqueue(event: OutboxMessage | PreparedEvent, options?: { tx?: Tx }): Promise<EnqueuedEvent>;
  function enqueue(
    events: readonly (OutboxMessage | PreparedEvent)[],
    options?: { tx?: Tx },
  ): Promise<readonly EnqueuedEvent[]>;
  function enqueue(
    given: OutboxMessage | PreparedEvent | readonly (OutboxMessage | PreparedEvent)[],
    { tx }: { tx?: Tx } = {},
  ): Promise<unknown> {
    if (isMany(given)) return enqueueAll(given, tx);
    return enqueueAll([given], tx).then(([receipt]) => receipt);
  }

  async function stop({ timeoutMs = 30_000 }: { timeoutMs?: number } = {}): Promise<void> {
    const current = running;
    running = undefined;
    await current?.stop(timeoutMs);
  }

  return {
    enqueue,
    prepare,
    start() {
      running ??= new Dispatcher(context);
    },
    stop,
    async drain() {
      if (running) return running.drained();
      const once = new Dispatcher(context);
      await once.drained();
      await once.stop(0);
    },
    async redrive(filter = {}, { newIds = false, limit = Number.POSITIVE_INFINITY, ...rest } = {}) {
      const names = filter.listener === undefined ? await namesOfDead() : [filter.listener];
      let [redriven, pastWindow] = [0, 0];
      for (const listener of names) {
        if (redriven >= limit) break;
        const windowMs = (listeners.get(listener)?.policy ?? DEFAULT_RETRY_POLICY).windowMs;
        const newId = newIds ? newEventId : undefined;
        const options = { ...rest, newId, windowMs, limit: limit - redriven };
        const result =
          newIds && encryption
            ? await redriveSealed(store, encryption, { ...filter, listener }, options)
            : await store.redrive({ ...filter, listener }, options);
        redriven += result.redriven;
        pastWindow += result.pastWindow;
      }
      return { redriven, pastWindow };
    },
    async drop(filter, options) {
      if (typeof filter !== "object" || filter === null)
        throw new TypeError("filter must say which dead letters: {} for all of them");
      return store.drop(filter, options);
    },
    dead: (filter, options) => store.dead(filter, options),
    find: (eventId) => store.find(eventId.toLowerCase()),
    async stats() {
      const [stats, now] = await Promise.all([store.stats(), store.now()]);
      const idle = [...listeners.keys()]
        .filter((name) => !stats.some(({ listener }) => listener === name))
        .map((listener) => ({ listener, pending: 0, inFlight: 0, delivered: 0, dead: 0 }));
      return [...stats, ...idle].map(({ oldestEnqueuedAt = now, ...counts }: ListenerStats) => {
        const breaker = listeners.get(counts.listener)?.limits.breaker;
        return {
          ...counts,
          oldestAgeMs: Math.max(0, now - oldestEnqueuedAt),
          ...(breaker ? { breaker } : {}),
        };
      });
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await store.close();
    },
  };

  async function namesOfDead(): Promise<string[]> {
    const stats = await store.stats();
    return stats.filter(({ dead }) => dead > 0).map(({ listener }) => listener);
  }
}

function isMany<One>(given: One | readonly One[]): given is readonly One[] {
  return Array.isArray(given);
}

function dispatcherContext<Tx>(
  options: OutboxOptions<Tx>,
  shared: Pick<DispatcherContext, "listeners" | "clock" | "observe">,
): DispatcherContext {
  const { store, concurrency = 250, leaseMs = 60_000, pollMs = 100, encryption } = options;
  const { allowUnencrypted = false } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError("concurrency must be a whole number, 1 or more");
  if (!(pollMs > 0)) throw new RangeError("pollMs must be above 0");
  for (const { name, attemptTimeoutMs } of shared.listeners.values())
    if (!(leaseMs >= attemptTimeoutMs + LEASE_MARGIN_MS))
      throw new RangeError(
        `leaseMs must be at least ${attemptTimeoutMs + LEASE_MARGIN_MS}: an attempt at ${JSON.stringify(name)} may take ${attemptTimeoutMs} ms`,
      );
  const retention = { deliveredMs: 7 * DAY_MS, deadMs: 30 * DAY_MS, ...options.retention };
  for (const name of ["deliveredMs", "deadMs"] as const)
    if (!(retention[name] >= 0)) throw new RangeError(`retention.${name} must be 0 or more`);
  const wait = steadyWait(options.wait);
  const random = steadyRandom(options.random ?? Math.random);
  const bodies = { encryption, allowUnencrypted };
  return { ...shared, ...bodies, store, concurrency, leaseMs, pollMs, retention, random, wait };
}
