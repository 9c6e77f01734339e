// An outbox: keeps events until they are delivered.
/// <reference lib="esnext.disposable" preserve="true" />
// A user's own `lib` setting may lack Symbol.asyncDispose, which the declarations need.

import { checkedClock, systemClock } from "../core/clock.js";
import { checkOptions, harmless } from "../core/options.js";
import { Catalogue } from "../events/catalogue.js";
import type { UntypedEvents } from "../events/standard-schema.js";
import { DEFAULT_RETRY_POLICY } from "../sender/retry-policy.js";
import { type BodyEncryption, timelyEncryption } from "./body-encryption.js";
import {
  type CancelFilter,
  cancelEvents,
  dropLetters,
  listedLetters,
  pauseListener,
  pendingEvents,
  redriveAll,
} from "./control.js";
import { Dispatcher, type DispatcherContext } from "./dispatcher.js";
import {
  type AnyMessage,
  type Enqueueable,
  type EnqueuedEvent,
  Enqueuer,
  type FanOutMessage,
  isFanOut,
  isMany,
  type OneOrMany,
  type OutboxMessage,
  type Preparable,
  type PreparedEvent,
} from "./enqueue.js";
import { Listeners } from "./listeners.js";
import { consoleNotices } from "./notices.js";
import { checkOutboxOptions, dispatcherContext, type OutboxOptions } from "./outbox-options.js";
import type { CancelResult, EventFilter, OutboxStore } from "./outbox-store.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  DropOptions,
  ListenerStats,
  OutboxEntry,
  RedriveOptions,
  RedriveResult,
} from "./records.js";

/** Keeps events until they are delivered, and delivers them. `Names` are its listeners, where a map says them. */
export interface Outbox<Events extends object = UntypedEvents, Tx = unknown, Names extends string = string> {
  /**
   * Stores one event, or all of several, inside your own transaction if one is given: the event is delivered if and
   * only if that commits. An invalid event throws at once, and is not a rejection. With a synchronous store and
   * without encryption the event is stored when the call returns, unless a schema of `events` is asynchronous.
   *
   * A message with `listeners` is stored once for each of them, under one event id, and has a receipt for each.
   *
   * @typeParam Given inferred; it decides whether there is one receipt, or a list of them
   * @param event an `OutboxMessage`, a `FanOutMessage` (with `listeners`), what `prepare` gave, or a list of those
   * @throws {HookproofError} LISTENER_NAME_UNKNOWN, PAYLOAD_NOT_JSON, PAYLOAD_NOT_UTF8, PAYLOAD_TOO_LARGE,
   * EVENT_INVALID, EVENT_ID_INVALID, EVENT_ID_REUSED, OUTBOX_UNAVAILABLE
   * @throws {OutcomeUnknownError} if the events may be stored or not
   */
  enqueue<Given>(
    event: Enqueueable<Given, Events, Names>,
    options?: {
      /** Your own transaction, as your driver has it: the event is stored if that commits. */
      tx?: Tx;
    },
  ): Promise<OneOrMany<Given, EnqueuedEvent>>;
  /**
   * Does everything that takes time, such as encryption or an asynchronous schema, before a transaction. A message with
   * `listeners` gives an event for each, to be enqueued in one call.
   *
   * @typeParam Given inferred; it decides whether there is one event, or a list of them
   * @param event an `OutboxMessage`, or a `FanOutMessage` (with `listeners`)
   */
  prepare<Given>(event: Preparable<Given, Events, Names>): Promise<OneOrMany<Given, PreparedEvent>>;
  /** Starts to deliver. `enqueue` works without it. */
  start(): void;
  /**
   * Claims no more events and waits for attempts under way, up to `timeoutMs` (30,000 by default). Then it aborts
   * them; their events are due again at once, for this process or another. It ends a `drain` as well.
   */
  stop(options?: {
    /** How long attempts under way may still take, in milliseconds. */
    timeoutMs?: number;
  }): Promise<void>;
  /**
   * Delivers what is due, and resolves when nothing is left to deliver now. Later retries stay pending, and so do the
   * events of listeners that are paused or unknown.
   */
  drain(): Promise<void>;
  /** Makes dead letters pending again; those past their window only with `newIds`. */
  redrive(filter?: DeadLetterFilter, options?: RedriveOptions): Promise<RedriveResult>;
  /**
   * Removes dead letters permanently; resolves to how many. If a dead letter blocks its ordering key, dropping it lets
   * the next event go: `outbox.drop({ ids: [eventId] })`.
   */
  drop(filter: DeadLetterFilter, options?: DropOptions): Promise<number>;
  /** Dead letters, the oldest first. A body is as it is stored. */
  deadLetters(
    filter?: DeadLetterFilter,
    options?: {
      /** How many at most; all by default. */
      readonly limit?: number;
    },
  ): AsyncIterable<DeadLetter>;
  /** Where an event stands, with its attempts, at each listener it was enqueued for. */
  find(eventId: string): Promise<readonly OutboxEntry[]>;
  /** Counts the events of each listener, with this process's circuit breakers, last error and last success. */
  stats(): Promise<readonly ListenerStats[]>;
  /**
   * The workers that were not stopped, at most 100, those seen last first: `{ id, name, startedAt, lastSeenAt, silentMs }`.
   * One that was killed stays for a day.
   */
  workers(): Promise<
    readonly {
      readonly id: string;
      readonly name: string;
      readonly startedAt: number;
      readonly lastSeenAt: number;
      readonly silentMs: number;
    }[]
  >;
  /**
   * Stops the deliveries to a listener, in every worker, until `resume`. Attempts under way end as usual. `enqueue`
   * goes on to accept its events; they wait. `stats()` shows the reason, a text of 1 to 200 characters:
   * `outbox.pause("offboarding", { reason: "their maintenance until 06:00" })`.
   *
   * @throws {HookproofError} LISTENER_NAME_UNKNOWN
   * @throws {TypeError} for a reason of another length
   */
  pause(
    listener: Names,
    options?: {
      /** Why, in 1 to 200 characters, for everyone who looks at the outbox. */
      readonly reason?: string;
    },
  ): Promise<void>;
  /**
   * Ends a pause: the events that waited are due again at once. Resolves to whether the listener was paused.
   *
   * @throws {HookproofError} LISTENER_NAME_UNKNOWN
   */
  resume(listener: Names): Promise<boolean>;
  /**
   * Makes every worker ask the function of listeners again before it delivers more to this listener:
   * `outbox.forget("acme")`. Call it when a tenant was added, changed or removed, after that is committed. Attempts
   * under way end as they began. With a map of listeners there is no function to ask, and nothing changes.
   *
   * @throws {HookproofError} LISTENER_NAME_UNKNOWN
   */
  forget(listener: Names): Promise<void>;
  /**
   * Takes back events for which no attempt has begun: `outbox.cancel({ eventId })`, or `{ listener }` for all of a
   * listener. Resolves to how many were cancelled, and for how many it was too late.
   *
   * @throws {TypeError} for a filter without `eventId`, `ids` and `listener`
   */
  cancel(filter: CancelFilter): Promise<CancelResult>;
  /**
   * Events that wait or are in flight, with their attempts, the first enqueued first:
   * `outbox.pending({ listener: "acme" }, { limit: 20 })`. `limit` is 100 by default and 1,000 at most.
   */
  pending(
    filter?: EventFilter,
    options?: {
      /** How many at most: 100 by default, and no more than 1,000. */
      readonly limit?: number;
    },
  ): Promise<readonly OutboxEntry[]>;
  /** Stops, and closes the store. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Makes an outbox. An event that `enqueue` has stored is delivered at least once under one id, or becomes a dead letter
 * with its history (docs/guides/outbox.md).
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
export function createOutbox<
  Events extends object = UntypedEvents,
  Tx = unknown,
  Names extends string = string,
>(options: OutboxOptions<Events, Tx, Names>): Outbox<Events, Tx, [Names] extends [never] ? string : Names> {
  return new StoredOutbox<Events, Tx, string>(options) as never; // a function of listeners has no names to infer
}

class StoredOutbox<Events extends object, Tx, Names extends string> implements Outbox<Events, Tx, Names> {
  readonly #store: OutboxStore<Tx>;
  readonly #listeners: Listeners;
  readonly #encryption: BodyEncryption | undefined;
  readonly #enqueuer: Enqueuer<Tx>;
  readonly #context: DispatcherContext;
  #running: Dispatcher | undefined;
  /** The calls of `drain()` without `start()`. */
  readonly #drains = new Set<Dispatcher>();

  constructor(options: OutboxOptions<Events, Tx, Names>) {
    checkOutboxOptions(options);
    const { store, events } = options;
    const encryption = timelyEncryption(options.encryption);
    const clock = checkedClock(options.clock ?? systemClock);
    const { listeners: given, listenerCache = {}, leaseMs = 60_000, quiet = false } = options;
    const observe = harmless(options.observe);
    const notice = observe ?? (quiet ? () => {} : consoleNotices());
    const listeners = new Listeners(given, listenerCache, { clock, observe, notice, leaseMs });
    this.#context = dispatcherContext(
      { ...options, encryption },
      { listeners, clock, observe, notice, leaseMs },
    );
    const catalogue = events === undefined ? undefined : new Catalogue(events);
    this.#enqueuer = new Enqueuer({ store, listeners, catalogue, encryption, clock, observe });
    this.#store = store;
    this.#listeners = listeners;
    this.#encryption = encryption;
  }

  enqueue<Given>(
    event: Enqueueable<Given, Events, Names>,
    options?: { tx?: Tx },
  ): Promise<OneOrMany<Given, EnqueuedEvent>>;
  enqueue(typed: unknown, options: { tx?: Tx } = {}): Promise<unknown> {
    checkOptions("enqueue", options, { tx: 1 });
    const { tx } = options;
    const given = typed as AnyMessage | readonly AnyMessage[]; // the catalogue checks what the types say
    if (isMany(given)) return this.#enqueuer.enqueueAll(given, tx);
    const receipts = this.#enqueuer.enqueueAll([given], tx);
    return isFanOut(given) ? receipts : receipts.then(([receipt]) => receipt);
  }

  prepare<Given>(event: Preparable<Given, Events, Names>): Promise<OneOrMany<Given, PreparedEvent>>;
  async prepare(typed: unknown): Promise<unknown> {
    const event = typed as OutboxMessage | FanOutMessage;
    const prepared = await this.#enqueuer.prepare(event);
    return isFanOut(event) ? prepared : prepared[0];
  }

  start(): void {
    this.#running ??= new Dispatcher(this.#context);
  }

  async stop(options: { timeoutMs?: number } = {}): Promise<void> {
    checkOptions("stop", options, { timeoutMs: "number" });
    const { timeoutMs = 30_000 } = options;
    const current = [...this.#drains, ...(this.#running ? [this.#running] : [])];
    this.#running = undefined;
    this.#drains.clear();
    await Promise.all(current.map((one) => one.stop(timeoutMs)));
  }

  async drain(): Promise<void> {
    if (this.#running) return this.#running.drained();
    const once = new Dispatcher(this.#context);
    this.#drains.add(once);
    await once.drained();
    if (this.#drains.delete(once)) await once.stop(0);
  }

  redrive(filter: DeadLetterFilter = {}, options: RedriveOptions = {}): Promise<RedriveResult> {
    const windowMs = async (listener: string) =>
      ((await this.#listeners.find(listener))?.policy ?? DEFAULT_RETRY_POLICY).windowMs;
    return redriveAll({ store: this.#store, encryption: this.#encryption, windowMs }, filter, options);
  }

  async drop(filter: DeadLetterFilter, options?: DropOptions): Promise<number> {
    return dropLetters(this.#store, filter, options);
  }

  deadLetters(filter?: DeadLetterFilter, options?: { readonly limit?: number }): AsyncIterable<DeadLetter> {
    return listedLetters(this.#store, filter, options);
  }

  find(eventId: string): Promise<readonly OutboxEntry[]> {
    return this.#store.find(eventId.toLowerCase());
  }

  async stats(): Promise<readonly ListenerStats[]> {
    const stats = new Map((await this.#store.stats()).map((one) => [one.listener, one]));
    for (const { name: listener, limits, last } of this.#listeners.all()) {
      const nothing = { listener, pending: 0, inFlight: 0, delivered: 0, dead: 0, oldestAgeMs: 0 };
      stats.set(listener, { ...(stats.get(listener) ?? nothing), ...last, breaker: limits.breaker });
    }
    return [...stats.values()];
  }

  async workers(): ReturnType<Outbox["workers"]> {
    return this.#store.workers();
  }

  async pause(listener: string, options: { readonly reason?: string } = {}): Promise<void> {
    this.#enqueuer.requireListener(listener);
    checkOptions("pause", options, { reason: 1 });
    await pauseListener(this.#store, listener, options.reason);
  }

  async resume(listener: string): Promise<boolean> {
    this.#enqueuer.requireListener(listener);
    return this.#store.resume(listener);
  }

  async forget(listener: string): Promise<void> {
    this.#enqueuer.requireListener(listener);
    this.#listeners.forget(listener);
    await this.#store.changed(listener);
    this.#listeners.forget(listener); // it may have been asked for meanwhile
  }

  async cancel(filter: CancelFilter): Promise<CancelResult> {
    return cancelEvents(this.#store, filter);
  }

  async pending(
    filter?: EventFilter,
    options?: { readonly limit?: number },
  ): Promise<readonly OutboxEntry[]> {
    return pendingEvents(this.#store, filter, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#store.close();
  }
}
