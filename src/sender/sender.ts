// A sender for one listener.
import { abortedWith } from "../core/aborted-with.js";
import { type Clock, checkedClock, steadySleep, systemClock } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import { createEvent, EVENT_OPTIONS, type WebhookEvent } from "../core/event.js";
import type { KeptPayload } from "../core/kept-payload.js";
import { checkOptions, checkWholeNumber, harmless, type OptionNames, steadyRandom } from "../core/options.js";
import { Catalogue } from "../events/catalogue.js";
import type { EventPayload, EventSchemas, UntypedEvents } from "../events/standard-schema.js";
import { ATTEMPT_OPTIONS, type AttemptOptions, prepareAttempts } from "./attempt-options.js";
import type { AttemptRecord } from "./attempt-record.js";
import { type DeliveryContext, DeliveryError, deliver, type Receipt } from "./deliver.js";
import type { Observer } from "./observe.js";
import { type RetryPolicy, retryPolicy } from "./retry-policy.js";
import { inOrder } from "./send-many.js";
import { SentIds } from "./sent-ids.js";
import { withFitId } from "./sign-request.js";

/** Options of `createSender`. */
export interface SenderOptions<Events extends object = UntypedEvents> extends AttemptOptions {
  /**
   * The catalogue of events: a schema of zod, valibot, arktype or the like for each `type` of payload. A payload of
   * another type, or one that its schema refuses, is not sent (EVENT_INVALID); what the schema gives is what is sent.
   */
  events?: EventSchemas<Events> | undefined;
  /** Fields of the retry policy to change; 3 attempts by default. */
  retry?: Partial<RetryPolicy> | undefined;
  /** How long `send` may take with all its attempts and waits; 30,000 ms by default. */
  deadlineMs?: number | undefined;
  /** Called with every activity of the sender; see `Activity`. */
  observe?: Observer | undefined;
  /** The source of time; the system's clocks by default. */
  clock?: Clock | undefined;
  /** Numbers from 0 up to 1, for the jitter; `Math.random` by default. */
  random?: (() => number) | undefined;
  /** Waits between attempts; `setTimeout` by default, and where it fails. Tests pass one that moves their clock. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** A function, as a bundler keeps a table with `...` in it for everybody. */
const senderOptions = (): OptionNames<SenderOptions> => ({
  ...ATTEMPT_OPTIONS,
  retry: "object",
  deadlineMs: "number",
  events: 1,
  observe: "function",
  clock: ".now",
  random: "function",
  wait: "function",
});

/** Options of one `send`. */
export interface SendOptions {
  /** An id of your own, UUID v4, when the same event may be sent again after a crash. */
  eventId?: string | undefined;
  /**
   * `own` where `eventId` may have another form, such as `msg_2b…`: 1 to 256 visible ASCII characters. Schemes besides the
   * default one take it; `uuid` by default.
   */
  idForm?: "uuid" | "own" | undefined;
  /** Ends the delivery: `send` throws ABORTED. */
  signal?: AbortSignal | undefined;
}

const SEND_OPTIONS: OptionNames<SendOptions> = { eventId: 1, idForm: 1, signal: ".addEventListener" };

/** Options of `sendMany`. */
export interface SendManyOptions {
  /** How many events are sent at the same time; 8 by default. */
  concurrency?: number | undefined;
  /** Ends the run; requests under way are waited for. */
  signal?: AbortSignal | undefined;
}

const SEND_MANY_OPTIONS: OptionNames<SendManyOptions> = {
  concurrency: "number",
  signal: ".addEventListener",
};

/** What `trySend` gives: a receipt, or the error that `send` would have thrown. */
export type SendResult =
  | ({ readonly ok: true } & Receipt)
  | {
      readonly ok: false;
      /** Why it failed. */
      readonly code: HookproofError["code"];
      /** Absent when the payload was refused before it became an event. */
      readonly eventId?: string;
      /** All attempts, in order; empty when none was made. */
      readonly attempts: readonly AttemptRecord[];
      /** The error that `send` would have thrown. */
      readonly error: HookproofError;
    };

/** A payload of the catalogue; without one any that JSON keeps. */
type Sendable<Payload, Events> = string extends keyof Events
  ? Payload & KeptPayload<Payload>
  : EventPayload<Events>;

/**
 * What `sendMany` takes in the place of `Given`, which the compiler infers from the first branch. Of a list it looks at
 * each payload, so that an error names the one; what other iterables give is looked at when it is sent.
 */
type Payloads<Given, Events> = Given extends never
  ? Given
  : Given extends readonly unknown[]
    ? { readonly [Index in keyof Given]: PayloadIn<Given[Index], Events> }
    : Iterable<EventPayload<Events>> | AsyncIterable<EventPayload<Events>>;

type PayloadIn<Payload, Events> = string extends keyof Events ? KeptPayload<Payload> : EventPayload<Events>;

/** Sends events to one listener. */
export interface Sender<Events extends object = UntypedEvents> {
  /**
   * Delivers a payload, or an event of `createEvent`.
   *
   * @throws {DeliveryError} when no answer says that it arrived
   * @throws {HookproofError} PAYLOAD_NOT_JSON, PAYLOAD_NOT_UTF8, PAYLOAD_TOO_LARGE, EVENT_INVALID, EVENT_ID_INVALID or
   * EVENT_ID_REUSED, before anything is sent
   */
  send<Payload>(payload: Sendable<Payload, Events>, options?: SendOptions): Promise<Receipt>;
  /** The same, with failures as values instead of errors. */
  trySend<Payload>(payload: Sendable<Payload, Events>, options?: SendOptions): Promise<SendResult>;
  /**
   * Sends many, `concurrency` at a time (8 by default); results come in the order of the payloads.
   *
   * @typeParam Given inferred; of a list the compiler looks at each payload
   * @param payloads what `send` takes, in a list or in another iterable, also an asynchronous one
   */
  sendMany<Given>(
    payloads: Payloads<Given, Events>,
    options?: SendManyOptions,
  ): AsyncGenerator<SendResult, void, undefined>;
  /**
   * Checks a payload by the catalogue and fixes its event, to be stored and sent later. Without a catalogue it is
   * `createEvent`.
   *
   * @throws {HookproofError} PAYLOAD_NOT_JSON, PAYLOAD_NOT_UTF8, PAYLOAD_TOO_LARGE, EVENT_INVALID or EVENT_ID_INVALID
   */
  createEvent<Payload>(
    payload: Sendable<Payload, Events>,
    options?: {
      /** An id of your own, UUID v4; a new one otherwise. */
      readonly eventId?: string | undefined;
      /** `own` where `eventId` may have another form that the scheme takes; `uuid` by default. */
      readonly idForm?: "uuid" | "own" | undefined;
    },
  ): Promise<WebhookEvent>;
}

/**
 * A sender for one listener: signs every attempt again with the same id and bytes, and follows the protocol in
 * what it retries (specification 4.10, 5.2, 7). Keep it: connections, the clock correction
 * and the secret that works are remembered in it.
 *
 * @throws {TypeError | RangeError | HookproofError} for options that cannot work
 *
 * @example
 * ```ts
 * import { createSender, hmacSigner } from "hookproof";
 *
 * const sender = createSender({
 *   url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
 *   signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }),
 * });
 * const offboard = (userId: string) => sender.send({ type: "user.offboarded", userId });
 * ```
 */
export function createSender<Events extends object = UntypedEvents>(
  options: SenderOptions<Events>,
): Sender<Events> {
  checkOptions("createSender", options, senderOptions());
  const { deadlineMs = 30_000 } = options;
  const clock = checkedClock(options.clock ?? systemClock);
  if (!(deadlineMs > 0)) throw new RangeError("deadlineMs must be above 0");
  const observe = harmless(options.observe);
  const attempts = prepareAttempts(options, { clock, observe });
  const context: SenderContext = {
    ...attempts,
    policy: retryPolicy(options.retry, attempts.scheme.rememberedMs),
    clock,
    random: steadyRandom(options.random ?? Math.random),
    wait: steadySleep(options.wait),
    deadlineMs,
    observe,
    sentIds: new SentIds(),
    catalogue: options.events === undefined ? undefined : new Catalogue(options.events),
  };
  return {
    send: (payload, sendOptions) => send(context, payload, sendOptions),
    trySend: (payload, sendOptions) => trySend(context, payload, sendOptions),
    sendMany: (payloads, manyOptions) => sendMany(context, payloads, manyOptions),
    createEvent: async (payload, eventOptions = {}) => {
      checkOptions("createEvent", eventOptions, EVENT_OPTIONS);
      const { eventId, idForm } = eventOptions;
      const made = context.catalogue?.event(payload, { eventId, idForm });
      return withFitId(context.scheme, (await made) ?? createEvent(payload as unknown, { eventId, idForm }));
    },
  };
}

interface SenderContext extends DeliveryContext {
  readonly sentIds: SentIds;
  readonly catalogue: Catalogue | undefined;
}

async function send(context: SenderContext, payload: unknown, options: SendOptions = {}): Promise<Receipt> {
  checkOptions("send", options, SEND_OPTIONS);
  const { signal } = options;
  return signal
    ? abortedWith(signal, (own) => sendNew(context, payload, options, own))
    : sendNew(context, payload, options);
}

async function sendNew(
  context: SenderContext,
  payload: unknown,
  { eventId, idForm }: SendOptions,
  signal?: AbortSignal,
): Promise<Receipt> {
  const { sentIds, catalogue } = context;
  const event = catalogue
    ? await catalogue.event(payload, { eventId, idForm }, signal)
    : createEvent(payload, { eventId, idForm });
  // What a schema gives may be an event as well.
  if (eventId === undefined && !catalogue && !mayBeEvent(payload)) sentIds.addFresh(event);
  else sentIds.addChosen(withFitId(context.scheme, event));
  return deliver(context, event, signal);
}

async function trySend(context: SenderContext, payload: unknown, options?: SendOptions): Promise<SendResult> {
  try {
    return { ok: true, ...(await send(context, payload, options)) };
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    if (!(error instanceof DeliveryError)) return { ok: false, code: error.code, attempts: [], error };
    return { ok: false, code: error.code, eventId: error.event.id, attempts: error.attempts, error };
  }
}

function sendMany(
  context: SenderContext,
  payloads: Iterable<unknown> | AsyncIterable<unknown>,
  options: SendManyOptions = {},
): AsyncGenerator<SendResult, void, undefined> {
  checkOptions("sendMany", options, SEND_MANY_OPTIONS);
  const { concurrency = 8, signal } = options;
  checkWholeNumber("concurrency", concurrency);
  return inOrder(payloads, { concurrency, signal }, (payload) => trySend(context, payload, { signal }));
}

/** Whether a payload may be an event already, or a copy of one. */
function mayBeEvent(payload: unknown): boolean {
  return typeof payload === "object" && payload !== null && "id" in payload && "body" in payload;
}
