import { sha256Base64url } from "#hash";
import { HookproofError, messageOf } from "../errors.js";
import { type Clock, monotonicMs } from "../primitives/clock.js";
import { eventFrom, type WebhookEvent } from "../protocol/event.js";
import type { HeaderPair } from "../protocol/headers.js";
import { newDelivery, type Observe } from "../sender/observe.js";
import type { BodyEncryption } from "./body-encryption.js";
import type { OutboxEvent, OutboxStore } from "./outbox-store.js";

/** An event to be delivered. */
export interface OutboxMessage {
  /** The listener's name in `createOutbox({ listeners })`. */
  readonly listener: string;
  /** A JSON value, a JSON text, the bytes of one, or an event of `createEvent`. */
  readonly payload: unknown;
  /** An id of your own, UUID v4; with it an event that is enqueued twice is delivered once. */
  readonly eventId?: string | undefined;
  /** Events of one key are delivered to the listener one after another, in the order of their enqueueing. */
  readonly orderingKey?: string | undefined;
  /** W3C trace context to go on with; an observer's own otherwise. */
  readonly traceparent?: string | undefined;
}

/** A message that was checked, fixed and, where the outbox does so, encrypted; `enqueue` takes it. */
export interface PreparedEvent {
  readonly listener: string;
  readonly eventId: string;
}

/** An event that is in the outbox. */
export interface EnqueuedEvent {
  readonly listener: string;
  readonly eventId: string;
}

/**
 * Nobody knows whether events were stored: the database's answer was late, or lost. Enqueued again under their ids
 * they are stored once.
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
  /** The id of the first of them. */
  readonly eventId: string;

  constructor(events: readonly EnqueuedEvent[], cause: unknown) {
    const ids = events.map(({ eventId }) => eventId).join(", ");
    const words = "Enqueue it again under its id, which stores it once";
    super("OUTBOX_OUTCOME_UNKNOWN", `${messageOf("OUTBOX_OUTCOME_UNKNOWN")} ${words}: ${ids}.`, { cause });
    this.events = events;
    this.eventId = events[0]?.eventId ?? "";
  }
}

/** What enqueueing needs of the outbox. */
export interface EnqueueContext<Tx> {
  readonly store: OutboxStore<Tx>;
  /** The URL of each listener. */
  readonly urls: ReadonlyMap<string, string>;
  readonly encryption: BodyEncryption | undefined;
  readonly clock: Clock;
  readonly observe: Observe | undefined;
}

/** A message whose bytes are fixed and not yet encrypted. */
interface Checked {
  readonly listener: string;
  readonly event: WebhookEvent;
  readonly fields: Pick<OutboxEvent, "orderingKey" | "traceparent">;
}

const MAX_ORDERING_KEY_LENGTH = 200;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

const prepared = new WeakMap<PreparedEvent, OutboxEvent>();

/** The two ways into an outbox; what is wrong with a message is thrown in the caller's stack. */
export function createEnqueue<Tx>(context: EnqueueContext<Tx>) {
  const { store, urls, encryption, clock, observe } = context;

  function check(message: OutboxMessage): Checked {
    const { listener, payload, eventId, orderingKey, traceparent } = message;
    requireListener(listener);
    if (orderingKey !== undefined && !isOrderingKey(orderingKey))
      throw new TypeError(`orderingKey must be a text of 1 to ${MAX_ORDERING_KEY_LENGTH} characters`);
    if (traceparent !== undefined && !TRACEPARENT.test(traceparent))
      throw new TypeError("traceparent must be a W3C trace context, such as 00-{trace id}-{span id}-01");
    return { listener, event: eventFrom(payload, eventId), fields: { orderingKey, traceparent } };
  }

  function requireListener(listener: unknown): void {
    if (typeof listener !== "string") throw new TypeError("listener must be a listener's name");
    if (!urls.has(listener))
      throw new HookproofError(
        "OUTBOX_LISTENER_UNKNOWN",
        `The outbox has no listener ${JSON.stringify(listener)}; it has ${[...urls.keys()].map((name) => JSON.stringify(name)).join(", ")}.`,
      );
  }

  function plain({ listener, event: { id, body }, fields }: Checked): OutboxEvent {
    return { id, listener, body, digest: sha256Base64url(body), ...fields };
  }

  async function sealed(checked: Checked): Promise<OutboxEvent> {
    const event = plain(checked);
    if (!encryption) return event;
    const { body, keyId } = await encryption.encrypt(event.body, {
      listener: event.listener,
      eventId: event.id,
    });
    return { ...event, body, encryptionKeyId: keyId };
  }

  function known(message: OutboxMessage | PreparedEvent): OutboxEvent | undefined {
    const event = prepared.get(message as PreparedEvent);
    if (event) requireListener(event.listener);
    return event;
  }

  async function prepare(message: OutboxMessage): Promise<PreparedEvent> {
    const event = await sealed(check(message));
    const one = Object.freeze({ listener: event.listener, eventId: event.id });
    prepared.set(one, event);
    return one;
  }

  function enqueueAll(
    messages: readonly (OutboxMessage | PreparedEvent)[],
    tx: Tx | undefined,
  ): Promise<EnqueuedEvent[]> {
    const given: (OutboxEvent | Checked)[] = [];
    for (const message of messages) given.push(known(message) ?? check(message as OutboxMessage)); // not map: a short stack shows the caller
    const isReady = (one: OutboxEvent | Checked): one is OutboxEvent => "digest" in one;
    if (encryption && !given.every(isReady)) {
      if (tx !== undefined)
        throw new TypeError(
          "With encryption, prepare() events before the transaction and enqueue what it gives inside.",
        );
      return Promise.all(given.map((one) => (isReady(one) ? one : sealed(one)))).then((events) =>
        insert(events, tx),
      );
    }
    return insert(
      given.map((one) => (isReady(one) ? one : plain(one))),
      tx,
    );
  }

  /** With a synchronous store the insert is done, or has thrown, when this returns. */
  function insert(events: readonly OutboxEvent[], tx: Tx | undefined): Promise<EnqueuedEvent[]> {
    const told = observe && events.map((event) => tellStart(event, observe));
    const receipts = events.map(({ listener, id }) => ({ listener, eventId: id }));
    const tellEnd = (code?: HookproofError["code"]) => {
      for (const one of told ?? []) one.end(code);
    };
    const failed = (error: unknown): never => {
      const code = error instanceof HookproofError ? error.code : "OUTBOX_UNAVAILABLE";
      tellEnd(code);
      throw code === "OUTBOX_OUTCOME_UNKNOWN" ? new OutcomeUnknownError(receipts, error) : error;
    };
    if (events.length === 0) return Promise.resolve(receipts);
    try {
      const stored = store.enqueue(told?.map(({ event }) => event) ?? events, tx);
      if (stored) {
        return stored.then(() => {
          tellEnd();
          return receipts;
        }, failed);
      }
    } catch (error) {
      failed(error);
    }
    tellEnd();
    return Promise.resolve(receipts);
  }

  /** Tells of an event that is about to be stored, and takes the trace that an observer wants kept with it. */
  function tellStart(event: OutboxEvent, tell: Observe) {
    const { id: eventId, listener, body } = event;
    const subject = { eventId, listener, url: urls.get(listener) ?? "", delivery: newDelivery() };
    const startedAt = monotonicMs(clock);
    const headers: HeaderPair[] = [];
    tell({ ...subject, type: "enqueue-started", bodyBytes: body.length, headers });
    const pushed = headers.find(([name]) => name.toLowerCase() === "traceparent")?.[1];
    const traceparent = event.traceparent ?? (pushed && TRACEPARENT.test(pushed) ? pushed : undefined);
    return {
      event: { ...event, traceparent },
      end: (code?: HookproofError["code"]) =>
        tell({
          ...subject,
          type: "enqueue-ended",
          durationMs: monotonicMs(clock) - startedAt,
          ...(code ? { code } : {}),
        }),
    };
  }

  return { enqueueAll, prepare };
}

/** Whether a value is a text that every database can keep. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.isWellFormed() && !value.includes("\0");
}

function isOrderingKey(value: unknown): boolean {
  return isName(value) && value.length <= MAX_ORDERING_KEY_LENGTH;
}
