// Sends events to many listeners.
import { lookedUp, monotonicMs, systemClock } from "../core/clock.js";
import { HookproofError, messageOf } from "../core/errors.js";
import type { KeptMessage } from "../core/kept-payload.js";
import { checkOptions, checkWholeNumber, type OptionNames } from "../core/options.js";
import type { EventPayload, UntypedEvents } from "../events/standard-schema.js";
import { inOrder } from "./send-many.js";
import {
  createSender,
  type Sender,
  type SenderOptions,
  type SendManyOptions,
  type SendResult,
} from "./sender.js";

/** An event for one of several listeners. */
export interface ListenerMessage<Events extends object = UntypedEvents> {
  /** The listener's name, for the function of listeners. */
  readonly listener: string;
  /** What `send` takes: a JSON value, a JSON text, the bytes of one, or an event of `createEvent`. */
  readonly payload: EventPayload<Events>;
  /** An id of your own, UUID v4. */
  readonly eventId?: string | undefined;
  /** `own` where `eventId` may have another form that the listener's scheme takes; `uuid` by default. */
  readonly idForm?: "uuid" | "own" | undefined;
}

const MESSAGE: OptionNames<ListenerMessage> = { listener: 1, payload: 1, eventId: 1, idForm: 1 };

/** Options of the function `sendToListeners`. */
export interface SendToListenersOptions<Events extends object = UntypedEvents> extends SendManyOptions {
  /** Gives a listener by its name, such as a tenant's from your database; `undefined` if there is no such listener. */
  listeners: (name: string) => SenderOptions<Events> | undefined | Promise<SenderOptions<Events> | undefined>;
  /** Milliseconds after which the function is asked again about a name; 60,000 by default. */
  ttlMs?: number | undefined;
}

/** What came of one message. */
export type ListenerResult = SendResult & {
  /** The listener's name. */
  readonly listener: string;
};

/** What `sendToListeners` takes in the place of `Given`, by the rule of `sendMany`. */
type Messages<Given, Events extends object> = Given extends never
  ? Given
  : Given extends readonly unknown[]
    ? { readonly [Index in keyof Given]: ListenerMessage<Events> & KeptMessage<Given[Index], Events> }
    : Iterable<ListenerMessage<Events>> | AsyncIterable<ListenerMessage<Events>>;

/** How many senders are kept at most. */
const MAX = 10_000;

/**
 * Sends events to many listeners, `concurrency` at a time (8 by default); results come in the order of the messages. A
 * listener that the function does not know, or fails for, is a result with the code LISTENER_NAME_UNKNOWN, and holds up no
 * other. Its sender is kept and used for later messages.
 *
 * @typeParam Given inferred; of a list the compiler looks at each payload
 * @param messages `ListenerMessage`s in a list or in another iterable, also an asynchronous one
 * @throws {TypeError | RangeError} for options that cannot work
 *
 * @example
 * ```ts
 * import { hmacSigner, sendToListeners } from "hookproof";
 *
 * const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding";
 * const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
 * const messages = [{ listener: "acme", payload: { type: "user.offboarded", userId: "u_123" } }];
 * const listeners = async (name: string) =>
 *   name === "acme" ? { url, signer: hmacSigner({ secret }) } : undefined;
 * for await (const { listener, ok } of sendToListeners(messages, { listeners })) console.log(listener, ok);
 * ```
 */
export function sendToListeners<Events extends object = UntypedEvents, Given = unknown>(
  messages: Messages<Given, Events>,
  options: SendToListenersOptions<Events>,
): AsyncGenerator<ListenerResult, void, undefined> {
  checkOptions("sendToListeners", options, {
    listeners: 1,
    ttlMs: "number",
    concurrency: "number",
    signal: ".addEventListener",
  });
  const { listeners, ttlMs = 60_000, concurrency = 8, signal } = options;
  if (typeof listeners !== "function") throw new TypeError("listeners must be a function");
  if (!(ttlMs > 0)) throw new RangeError("ttlMs must be above 0");
  checkWholeNumber("concurrency", concurrency);
  const senders = new Map<string, { readonly sender: Promise<Sender<Events>>; readonly until: number }>();

  function senderOf(name: string): Promise<Sender<Events>> {
    const now = monotonicMs(systemClock);
    const known = senders.get(name);
    if (known && now < known.until) return known.sender;
    const sender = newSender(name);
    senders.delete(name);
    senders.set(name, { sender, until: now + ttlMs });
    const [oldest = name] = senders.keys();
    if (senders.size > MAX) senders.delete(oldest);
    return sender;
  }

  async function newSender(name: string): Promise<Sender<Events>> {
    let cause: unknown;
    try {
      const options = await lookedUp(listeners, name);
      if (options) return createSender(options);
    } catch (error) {
      cause = error;
    }
    const why = cause === undefined ? "" : ` ${Object(cause).message ?? cause}`;
    const words = `${messageOf("LISTENER_NAME_UNKNOWN")} It is ${JSON.stringify(name)}.${why}`;
    throw new HookproofError("LISTENER_NAME_UNKNOWN", words, { cause });
  }

  return inOrder(messages, { concurrency, signal }, async (message): Promise<ListenerResult> => {
    const { listener, payload, eventId, idForm }: Partial<ListenerMessage<Events>> = message ?? {};
    if (typeof listener !== "string")
      throw new TypeError("a message must have a listener's name and a payload");
    checkOptions("a message", message, MESSAGE);
    try {
      const sender = await senderOf(listener);
      return { listener, ...(await sender.trySend(payload, { eventId, idForm, signal })) };
    } catch (error) {
      if (!(error instanceof HookproofError)) throw error;
      senders.delete(listener); // it may be there the next time
      return { listener, ok: false, code: error.code, attempts: [], error };
    }
  });
}
