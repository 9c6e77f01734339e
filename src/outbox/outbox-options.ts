// The options of an outbox: what they are, how they are checked, and what a dispatcher gets of them.
import { type Clock, steadySleep } from "../core/clock.js";
import { checkOptions, checkWholeNumber, type OptionNames, steadyRandom } from "../core/options.js";
import type { EventSchemas, UntypedEvents } from "../events/standard-schema.js";
import type { Observer } from "../sender/observe.js";
import type { BodyEncryption } from "./body-encryption.js";
import type { DispatcherContext } from "./dispatcher.js";
import { isName, type OutboxListenerOptions } from "./listener.js";
import type { ListenerCache, ListenerLookup } from "./listeners.js";
import type { OutboxStore } from "./outbox-store.js";
import type { Retention } from "./upkeep.js";

/** Options of `createOutbox`. */
export interface OutboxOptions<
  Events extends object = UntypedEvents,
  Tx = unknown,
  Names extends string = string,
> {
  /** `memoryStore()`, `sqliteStore(...)` or `postgresStore(...)`. */
  store: OutboxStore<Tx>;
  /**
   * The listeners by names of your own: `{ offboarding: { url, signer } }`. Events are enqueued and stored under these
   * names. Or a function that gives the listener of a name, such as a tenant of your database (`ListenerLookup`). It is
   * called before events are delivered, and never by `enqueue`. Events of a name that is no listener wait until it is
   * one; those that had an attempt wait until their window closes.
   */
  listeners: Readonly<Record<Names, OutboxListenerOptions>> | ListenerLookup;
  /** How long the answers of a function of listeners are kept; see `forget`. */
  listenerCache?: ListenerCache | undefined;
  /**
   * The catalogue of events: a schema of zod, valibot, arktype or the like for each `type` of payload. A payload of
   * another type, or one that its schema refuses, is not stored (EVENT_INVALID); what the schema gives is what is sent.
   */
  events?: EventSchemas<Events> | undefined;
  /**
   * Attempts of this process at the same time, for all listeners; 250 by default. An attempt that has had no answer for
   * a second no longer counts, so that hanging listeners do not hold back the others.
   */
  concurrency?: number | undefined;
  /**
   * How long a claimed event belongs to its worker, in milliseconds; 60,000 by default. Events of a worker that has
   * crashed are due again when this time is over.
   */
  leaseMs?: number | undefined;
  /** How often an idle worker looks for events, in milliseconds; 100 by default. */
  pollMs?: number | undefined;
  /** How long delivered events and dead letters are kept. */
  retention?: Partial<Retention> | undefined;
  /**
   * What this worker is called in the list of workers, in 1 to 200 characters; stored with the events. The machine's
   * host name and the process's id by default.
   */
  worker?: string | undefined;
  /** Encrypts bodies in the database, such as `aesGcmEncryption([{ id, key }])`. */
  encryption?: BodyEncryption | undefined;
  /**
   * Sends bodies that are stored unencrypted although there is `encryption`; `false` by default: such an event becomes
   * a dead letter (OUTBOX_BODY_UNREADABLE). Set it for events from before the encryption, or for events of the SQL
   * function. While it is set, anyone who can write to the database chooses what is signed.
   */
  allowUnencrypted?: boolean | undefined;
  /** Called with everything that happens; see `Activity`. */
  observe?: Observer | undefined;
  /**
   * Without `observe`, warnings and an unreachable store are a line each on standard error, such as the first 401, 403 or
   * 404 of a listener; `true` turns them off. `false` by default.
   */
  quiet?: boolean | undefined;
  /** The worker's clock, for tests; the system's by default. */
  clock?: Clock | undefined;
  /** Numbers from 0 up to 1 for the jitter, for tests; `Math.random` by default. */
  random?: (() => number) | undefined;
  /** The waits of the dispatcher, for tests; `setTimeout` by default. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

const OUTBOX_OPTIONS: OptionNames<OutboxOptions> = {
  ...{ store: 1, listeners: 1, listenerCache: "object", events: 1 },
  ...{ concurrency: "number", leaseMs: "number", pollMs: "number", retention: "object", worker: "string" },
  ...{ encryption: "object", allowUnencrypted: "boolean", observe: "function", quiet: "boolean" },
  ...{ clock: ".now", random: "function", wait: "function" },
};

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_WORKER_LENGTH = 200;

/** What a store must have. */
const METHODS =
  `enqueue claim markDelivered reschedule fail expire release redrive drop deadLetters find stats now followClock prune
  due changed unknown pause resume rest cancel pending close`.split(/\s+/) as (keyof OutboxStore)[];

/** @throws {TypeError} for a name that is no option, for a value of another kind, and for what is no store */
export function checkOutboxOptions<Events extends object, Tx, Names extends string>(
  options: OutboxOptions<Events, Tx, Names>,
): void {
  checkOptions("createOutbox", options, OUTBOX_OPTIONS);
  checkOptions("listenerCache", options.listenerCache ?? {}, { ttlMs: "number", max: "number" });
  checkOptions("retention", options.retention ?? {}, { deliveredMs: "number", deadMs: "number" });
  requireStore(options.store);
}

function requireStore(store: OutboxStore): void {
  const missing = METHODS.filter((name) => typeof store?.[name] !== "function");
  if (missing.length === 0) return;
  const which = missing.length === METHODS.length ? "" : `: this one has no ${missing.join(", no ")}`;
  throw new TypeError(
    `store must be memoryStore(), sqliteStore(...), postgresStore(...) or your own${which}`,
  );
}

function requireWorkerName(worker: string | undefined): void {
  if (worker !== undefined && !(isName(worker) && worker.length <= MAX_WORKER_LENGTH))
    throw new TypeError(`worker must be a name of 1 to ${MAX_WORKER_LENGTH} characters`);
}

function checkedRetention(given: Partial<Retention> | undefined): Retention {
  const retention = { deliveredMs: 7 * DAY_MS, deadMs: 30 * DAY_MS, ...given };
  for (const name of ["deliveredMs", "deadMs"] as const)
    if (!(retention[name] >= 0)) throw new RangeError(`retention.${name} must be 0 or more`);
  return retention;
}

/** @throws {TypeError | RangeError} for values that cannot work */
export function dispatcherContext<Events extends object, Tx, Names extends string>(
  options: OutboxOptions<Events, Tx, Names>,
  shared: Pick<DispatcherContext, "listeners" | "clock" | "observe" | "notice" | "leaseMs">,
): DispatcherContext {
  const { store, concurrency = 250, pollMs = 100, worker, encryption, allowUnencrypted = false } = options;
  checkWholeNumber("concurrency", concurrency);
  if (!(pollMs > 0)) throw new RangeError("pollMs must be above 0");
  requireWorkerName(worker);
  const [wait, random] = [steadySleep(options.wait), steadyRandom(options.random ?? Math.random)];
  const kept = { encryption, allowUnencrypted, retention: checkedRetention(options.retention) };
  return { ...shared, ...kept, store, concurrency, pollMs, worker, random, wait };
}
