// Checks events and stores them in the caller's transaction.
import { sha256Base64url } from "#hash";
import { type Clock, monotonicMs } from "../core/clock.js";
import { type ErrorCode, HookproofError, messageOf } from "../core/errors.js";
import { createEvent, isEventId, type WebhookEvent } from "../core/event.js";
import type { HeaderPair } from "../core/headers.js";
import type { KeptMessage } from "../core/kept-payload.js";
import { checkOptions, type OptionNames } from "../core/options.js";
import { andThen } from "../core/value-or-promise.js";
import type { Catalogue } from "../events/catalogue.js";
import type { EventPayload, UntypedEvents } from "../events/standard-schema.js";
import { newDelivery, type Observer } from "../sender/observe.js";
import type { BodyEncryption } from "./body-encryption.js";
import { deliveryTime } from "./control.js";
import { isName } from "./listener.js";
import type { Listeners } from "./listeners.js";
import type { OutboxStore } from "./outbox-store.js";
import type { OutboxEvent } from "./records.js";

/** An event to be delivered. */
export interface OutboxMessage<Events extends object = UntypedEvents, Names extends string = string> {
  /** The listener's name: one of `createOutbox({ listeners })`, or one for its function. */
  readonly listener: Names;
  /** A JSON value, a JSON text, the bytes of one, or an event of `createEvent`; one of the types' where there are such. */
  readonly payload: EventPayload<Events>;
  /** An id of your own, UUID v4. An event that is enqueued twice under one id is delivered once. */
  readonly eventId?: string | undefined;
  /**
   * Events of one key are delivered to the listener one at a time, in the order in which they were enqueued. 1 to 200
   * characters.
   */
  readonly orderingKey?: string | undefined;
  /**
   * When the event is due: a time, or milliseconds since the epoch, at most a year away; at once by default, and for a
   * time that has passed. Later events of its ordering key wait for it. The window of seven days begins with the first
   * attempt.
   */
  readonly deliverAt?: Date | number | undefined;
  /** The W3C trace context to continue; by default the one that an observer adds. */
  readonly traceparent?: string | undefined;
}

/** An event for several listeners: each has an entry, all under one event id and with the same bytes. */
export interface FanOutMessage<Events extends object = UntypedEvents, Names extends string = string>
  extends Omit<OutboxMessage<Events>, "listener"> {
  /** The listeners' names, 1 to 1,000, each once. */
  readonly listeners: readonly Names[];
  /** Left out: `listeners` takes its place. */
  readonly listener?: undefined;
}

const MESSAGE: OptionNames<OutboxMessage & FanOutMessage> = {
  listener: 1,
  listeners: 1,
  payload: 1,
  eventId: 1,
  orderingKey: 1,
  deliverAt: 1,
  traceparent: "string",
};

/** An event that is in the outbox, at one listener. */
export interface EnqueuedEvent {
  /** The listener's name. */
  readonly listener: string;
  /** The event's id, UUID v4, lower case. */
  readonly eventId: string;
}

/**
 * An event from `Outbox.prepare`: checked, with its bytes fixed and, where the outbox has encryption, encrypted.
 * `enqueue` takes it as it is; a copy such as `{ ...prepared }` is refused.
 *
 * @example
 * ```ts
 * import type { Outbox } from "hookproof/outbox";
 *
 * // Encryption takes time, so it is done before the transaction begins.
 * export async function storeWith(outbox: Outbox, transaction: (work: () => void) => void) {
 *   const prepared = await outbox.prepare({ listener: "offboarding", payload: { userId: "u_123" } });
 *   transaction(() => void outbox.enqueue(prepared));
 *   return prepared.eventId;
 * }
 * ```
 */
export class PreparedEvent {
  /** The listener's name. */
  readonly listener: string;
  /** The event's id, UUID v4, lower case. */
  readonly eventId: string;
  readonly #event: OutboxEvent;

  /** @internal */
  constructor(event: OutboxEvent) {
    this.listener = event.listener;
    this.eventId = event.id;
    this.#event = event;
    Object.freeze(this);
  }

  /** @internal The event of a value that `prepare` made; `undefined` for any other value. */
  static eventOf(value: object): OutboxEvent | undefined {
    return #event in value ? value.#event : undefined;
  }
}

/**
 * The database's answer was late or lost, so the events may be stored or not. Enqueue them again under their ids:
 * events that were stored are left as they are.
 *
 * @example
 * ```ts
 * import { type Outbox, OutcomeUnknownError } from "hookproof/outbox";
 *
 * const enqueue = (outbox: Outbox, payload: object) =>
 *   outbox.enqueue({ listener: "offboarding", payload }).catch((error) => {
 *     if (!(error instanceof OutcomeUnknownError)) throw error;
 *     return outbox.enqueue({ listener: "offboarding", payload, eventId: error.eventId });
 *   });
 * ```
 */
export class OutcomeUnknownError extends HookproofError {
  override readonly name: string = "OutcomeUnknownError";
  /** The events of the call, in its order. */
  readonly events: readonly EnqueuedEvent[];
  /** The id of the first event. */
  readonly eventId: string;

  /**
   * @param events the events of the call, in its order
   * @param cause the store's error
   */
  constructor(events: readonly EnqueuedEvent[], cause: unknown) {
    const ids = events.map(({ eventId }) => eventId).join(", ");
    const words = "Enqueue it again under its id, which stores it once";
    super("OUTBOX_OUTCOME_UNKNOWN", `${messageOf("OUTBOX_OUTCOME_UNKNOWN")} ${words}: ${ids}.`, { cause });
    this.events = events;
    this.eventId = events[0]?.eventId ?? "";
  }
}

/** What enqueueing needs of the outbox. */
interface EnqueueContext<Tx> {
  readonly store: OutboxStore<Tx>;
  readonly listeners: Listeners;
  readonly catalogue: Catalogue | undefined;
  readonly encryption: BodyEncryption | undefined;
  readonly clock: Clock;
  readonly observe: Observer | undefined;
}

/** An event that still has to be encrypted if the outbox has encryption. */
interface PlainEvent {
  readonly plain: OutboxEvent;
}

/** What a message becomes, sooner or later. */
type Checked = (OutboxEvent | PlainEvent)[] | Promise<PlainEvent[]>;

/** What `enqueue` takes, one or in a list. */
export type AnyMessage = OutboxMessage | FanOutMessage | PreparedEvent;

/**
 * What `prepare` takes in the place of `Given`. The compiler infers that from the first branch, and says in a line or two
 * what is wrong with it; of overloads it would say it of each.
 */
export type Preparable<Given, Events extends object, Names extends string> = Given extends never
  ? Given
  : (Given extends { readonly listeners: unknown }
      ? FanOutMessage<Events, Names>
      : OutboxMessage<Events, Names>) &
      KeptMessage<Given, Events>;

/** What `enqueue` takes in the place of `Given`. */
export type Enqueueable<Given, Events extends object, Names extends string> = Given extends readonly unknown[]
  ? { readonly [Index in keyof Given]: OneEnqueueable<Given[Index], Events, Names> }
  : OneEnqueueable<Given, Events, Names>;

type OneEnqueueable<Given, Events extends object, Names extends string> = Given extends PreparedEvent
  ? PreparedEvent
  : Preparable<Given, Events, Names>;

/** One for a message; several for a list, and for several listeners. */
export type OneOrMany<Given, One> = unknown extends Given
  ? One
  : Given extends readonly unknown[] | { readonly listeners: unknown }
    ? readonly One[]
    : One;

const MAX_ORDERING_KEY_LENGTH = 200;
const MAX_LISTENERS = 1_000;
/** How many names an error lists. */
const MAX_NAMED = 10;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

export function isMany<One>(given: One | readonly One[]): given is readonly One[] {
  return Array.isArray(given);
}

/** Whether a message is for several listeners, so that it has several receipts. */
export function isFanOut(message: object): message is FanOutMessage {
  return (message as Partial<FanOutMessage> | null)?.listeners !== undefined;
}

/** The way into an outbox. An invalid message throws in the caller's stack, so that it rolls a transaction back. */
export class Enqueuer<Tx> {
  readonly #context: EnqueueContext<Tx>;

  constructor(context: EnqueueContext<Tx>) {
    this.#context = context;
  }

  /** One event for each listener of the message. */
  async prepare(message: OutboxMessage | FanOutMessage): Promise<PreparedEvent[]> {
    const plain = await this.#check(message);
    const events = await Promise.all(plain.map((one) => this.#encrypted(one)));
    return events.map((event) => new PreparedEvent(event));
  }

  /** Stores all messages or none; with a synchronous store and without encryption before it returns. */
  enqueueAll(messages: readonly AnyMessage[], tx: Tx | undefined): Promise<EnqueuedEvent[]> {
    const given: Checked[] = [];
    for (const message of messages) given.push(this.#events(message)); // no map: a short stack shows the caller
    if (given.every(isDone)) return this.#store(given.flat(), tx);
    if (tx !== undefined)
      throw new TypeError(
        "A schema of events is asynchronous: prepare() events before the transaction and enqueue what it gives inside.",
      );
    return Promise.all(given).then((events) => this.#store(events.flat(), tx));
  }

  #store(given: readonly (OutboxEvent | PlainEvent)[], tx: Tx | undefined): Promise<EnqueuedEvent[]> {
    const isReady = (one: OutboxEvent | PlainEvent): one is OutboxEvent => !("plain" in one);
    if (!this.#context.encryption)
      return this.#insert(
        given.map((one) => (isReady(one) ? one : one.plain)),
        tx,
      );
    if (given.every(isReady)) return this.#insert(given, tx);
    if (tx !== undefined)
      throw new TypeError(
        "With encryption, prepare() events before the transaction and enqueue what it gives inside.",
      );
    return Promise.all(given.map((one) => (isReady(one) ? one : this.#encrypted(one)))).then((events) =>
      this.#insert(events, tx),
    );
  }

  #events(message: AnyMessage): Checked {
    const prepared = PreparedEvent.eventOf(Object(message));
    if (!prepared) {
      const checked = this.#check(message as OutboxMessage | FanOutMessage);
      if (checked instanceof Promise) checked.catch(() => {}); // another message may throw before it is awaited
      return checked;
    }
    this.requireListener(prepared.listener);
    return [prepared];
  }

  #check(message: OutboxMessage | FanOutMessage): PlainEvent[] | Promise<PlainEvent[]> {
    const { payload, eventId, orderingKey, traceparent } = message;
    const { clock, catalogue } = this.#context;
    const listeners = isFanOut(message) ? severalOf(message) : [message.listener];
    for (const listener of listeners) this.requireListener(listener);
    if (orderingKey !== undefined && !(isName(orderingKey) && orderingKey.length <= MAX_ORDERING_KEY_LENGTH))
      throw new TypeError(`orderingKey must be a text of 1 to ${MAX_ORDERING_KEY_LENGTH} characters`);
    if (traceparent !== undefined && !TRACEPARENT.test(traceparent))
      throw new TypeError("traceparent must be a W3C trace context, such as 00-{trace id}-{span id}-01");
    if (!("payload" in message))
      throw new TypeError(
        "payload is missing: enqueue takes messages and what prepare() gave, but no copy of that and no receipt of enqueue",
      );
    checkOptions("an event for the outbox", message, MESSAGE);
    const deliverAt = deliveryTime(message.deliverAt, clock);
    const plainEvents = ({ id, body }: WebhookEvent): PlainEvent[] => {
      if (!isEventId(id))
        throw new HookproofError(
          "EVENT_ID_INVALID",
          "An outbox keeps events under UUIDs of version 4 only: send an event with an id of its own form with createSender.",
        );
      const digest = sha256Base64url(body);
      return listeners.map((listener) => ({
        plain: { id, listener, body, digest, orderingKey, traceparent, deliverAt },
      }));
    };
    const event = catalogue ? catalogue.event(payload, { eventId }) : createEvent(payload, { eventId });
    return andThen(event, plainEvents);
  }

  /**
   * A function of listeners is not asked: that would be a look-up inside the caller's transaction.
   *
   * @throws {TypeError | HookproofError} for what is no name, or one that a map of listeners does not have
   */
  requireListener(listener: unknown): void {
    const { listeners } = this.#context;
    if (!isName(listener)) throw new TypeError("listener must be a listener's name");
    if (listeners.usesLookup || listeners.get(listener)) return;
    const { names } = listeners;
    const shown = names
      .slice(0, MAX_NAMED)
      .map((name) => JSON.stringify(name))
      .join(", ");
    const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
    throw new HookproofError(
      "LISTENER_NAME_UNKNOWN",
      `The outbox has no listener ${JSON.stringify(listener)}; it has ${shown}${more}.`,
    );
  }

  async #encrypted({ plain }: PlainEvent): Promise<OutboxEvent> {
    const { encryption } = this.#context;
    if (!encryption) return plain;
    const { listener, id: eventId } = plain;
    const { body, keyId } = await encryption.encrypt(plain.body, { listener, eventId });
    return { ...plain, body, encryptionKeyId: keyId };
  }

  /** With a synchronous store the events are stored, or an error is thrown, when this returns. */
  #insert(events: readonly OutboxEvent[], tx: Tx | undefined): Promise<EnqueuedEvent[]> {
    const { store, observe } = this.#context;
    const receipts = events.map(({ listener, id }) => ({ listener, eventId: id }));
    if (events.length === 0) return Promise.resolve(receipts);
    const started = observe && events.map((event) => this.#observeStart(event, observe));
    const end = (code?: ErrorCode) => started?.forEach((one) => void one.end(code));
    const stored = () => {
      end();
      return receipts;
    };
    const failed = (error: unknown): never => {
      const code = error instanceof HookproofError ? error.code : "OUTBOX_UNAVAILABLE";
      end(code);
      throw code === "OUTBOX_OUTCOME_UNKNOWN" ? new OutcomeUnknownError(receipts, error) : error;
    };
    let storing: void | Promise<void>;
    try {
      storing = store.enqueue(started?.map(({ event }) => event) ?? events, tx);
    } catch (error) {
      return failed(error);
    }
    return storing ? storing.then(stored, failed) : Promise.resolve(stored());
  }

  /** Tells the observer that an event is about to be stored, and takes the `traceparent` that it adds. */
  #observeStart(event: OutboxEvent, observe: Observer) {
    const { listeners, clock } = this.#context;
    const { id: eventId, listener, body } = event;
    const subject = { eventId, listener, url: listeners.get(listener)?.url ?? "", delivery: newDelivery() };
    const startedAt = monotonicMs(clock);
    const headers: HeaderPair[] = [];
    observe({ ...subject, type: "enqueue-started", bodyBytes: body.length, headers });
    const added = headers.find(([name]) => name.toLowerCase() === "traceparent")?.[1];
    const traceparent = event.traceparent ?? (added && TRACEPARENT.test(added) ? added : undefined);
    const end = (code?: ErrorCode) => {
      const durationMs = monotonicMs(clock) - startedAt;
      observe({ ...subject, type: "enqueue-ended", durationMs, ...(code ? { code } : {}) });
    };
    return { event: { ...event, traceparent }, end };
  }
}

/** The names of a message for several listeners. */
function severalOf({ listener, listeners }: FanOutMessage): readonly string[] {
  if (listener !== undefined) throw new TypeError("a message has listener or listeners, and not both");
  if (!Array.isArray(listeners) || listeners.length === 0)
    throw new TypeError("listeners must be an array of listeners' names, with one at least");
  if (listeners.length > MAX_LISTENERS)
    throw new RangeError(`listeners may hold ${MAX_LISTENERS} names; it holds ${listeners.length}`);
  const names = new Set(listeners);
  if (names.size < listeners.length) throw new TypeError("listeners must name each listener once");
  return [...names];
}

function isDone(checked: Checked): checked is (OutboxEvent | PlainEvent)[] {
  return !(checked instanceof Promise);
}
