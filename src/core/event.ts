// What an event is: an id and bytes that never change.
import { newUuid } from "#hash";
import { decodeUtf8, NO_TEXT, utf8 } from "./bytes.js";
import { HookproofError } from "./errors.js";
import { parseJson } from "./json.js";
import type { KeptPayload } from "./kept-payload.js";
import { checkOptions } from "./options.js";
import { lossIn } from "./payload-loss.js";
import { MAX_BODY_BYTES } from "./protocol.js";
import { INSPECT } from "./shown.js";

/**
 * What an event's id may be. `uuid`: a UUID of version 4, as the Access Governance Service demands it. `own`: also any 1 to
 * 256 visible ASCII characters, such as `msg_2b…`, for the other schemes.
 */
export type EventIdForm = "uuid" | "own";

/** What may be said of a new event besides its payload. */
export const EVENT_OPTIONS = { eventId: 1, idForm: 1 } as const;

/** An id in a form of one's own: 1 to 256 visible ASCII characters. */
export const OWN_ID = /^[!-~]{1,256}$/;

/** An id as others may send it: 1 to 256 characters that every database can store, and its index. */
export const STORABLE_ID = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** RFC 9562, section 5.4, with the variant of section 4.1. */
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** One event: an id and the body's bytes, fixed before the first byte leaves. */
export interface WebhookEvent {
  /** UUID of version 4, in lower case: `Webhook-Event-Id`, and the claim `jti`. An id of your own form where you asked for it. */
  readonly id: string;
  /** The exact bytes that are hashed, signed, stored and sent. */
  readonly body: Uint8Array;
}

/**
 * Fixes an event: its id, and its body as bytes. A value is serialised once with `JSON.stringify`, and what that would
 * empty or change is refused with its kind and its place (docs/guides/payloads.md); a text and bytes in any buffer or view
 * are JSON already and are kept as they are (specification 4.10 and 5.2). An event stays the event that it is, also
 * as a copy: an object of nothing but its `id` and the bytes of its `body`, as a spread makes it or a database gives it
 * back.
 *
 * @param payload a JSON value, a JSON text, the UTF-8 bytes of one, or an event; at most 65,536 bytes
 * @param options.eventId an id of your own, UUID v4; a new one otherwise
 * @param options.idForm `own` where `eventId` may have another form, such as `msg_2b…`; the schemes besides the default one
 * send it
 * @throws {HookproofError} PAYLOAD_NOT_JSON, PAYLOAD_NOT_UTF8, PAYLOAD_TOO_LARGE or EVENT_ID_INVALID; EVENT_ID_REUSED
 * for a second id of an event
 *
 * @example
 * ```ts
 * import { createEvent } from "hookproof";
 *
 * const event = createEvent({ type: "user.offboarded", userId: "u_123" });
 * event.body.length; // 43
 * ```
 */
export function createEvent<Payload>(
  payload: Payload & KeptPayload<Payload>,
  options: {
    /** An id of your own, UUID v4; a new one otherwise. */
    eventId?: string | undefined;
    /** `own` where `eventId` may have another form; `uuid` by default. */
    idForm?: "uuid" | "own" | undefined;
  } = {},
): WebhookEvent {
  checkOptions("createEvent", options, EVENT_OPTIONS);
  const { eventId, idForm } = options;
  const event = eventIn(payload);
  if (!event) return new FixedEvent(eventIdOf(eventId, idForm), payloadBytes(payload));
  if (eventId === undefined || eventIdOf(eventId, idForm) === event.id) return event;
  throw new HookproofError(
    "EVENT_ID_REUSED",
    "This event has an id already; a second id would make it a second event.",
  );
}

/** The event that a value is, or is a copy of; `undefined` for any other payload. */
export function eventIn(value: unknown): WebhookEvent | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (FixedEvent.is(value)) return value;
  let { id, body }: { id?: unknown; body?: unknown } = {};
  try {
    ({ id, body } = value as { id?: unknown; body?: unknown });
  } catch {
    return undefined; // it fails again where it is written, and is refused
  }
  if (typeof id !== "string" || !hasMembers(body) || !OWN_ID.test(id)) return undefined;
  if (Object.keys(value).length !== 2) return undefined;
  // No payload holds bytes, so these two members are an event, whatever form its id has.
  if (body instanceof Uint8Array) return new FixedEvent(eventIdOf(id, "own"), payloadBytes(body));
  if (isEventId(id) && isBytesInJson(body))
    throw new HookproofError(
      "PAYLOAD_NOT_JSON",
      "The payload is an event that went through JSON, which made numbers of its body's bytes. Keep the body as bytes or as text, and send createEvent(body, { eventId: id }).",
    );
  return undefined;
}

function hasMembers(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether an object is what JSON makes of bytes: `{"0":123,…}`, or `{"type":"Buffer","data":[123,…]}`. */
function isBytesInJson(body: object): boolean {
  const { type, data } = body as { type?: unknown; data?: unknown };
  const bytes = type === "Buffer" && Array.isArray(data) ? data : body;
  const entries = Object.entries(bytes);
  return (
    entries.length > 0 &&
    entries.every(([key, byte], place) => key === String(place) && (byte & 0xff) === byte)
  );
}

/** What `createEvent` makes. Its private mark tells that its body was checked and cannot be another one. */
class FixedEvent implements WebhookEvent {
  readonly #fixed = true;

  constructor(
    readonly id: string,
    readonly body: Uint8Array,
  ) {
    Object.freeze(this);
  }

  static is(value: unknown): value is WebhookEvent {
    return typeof value === "object" && value !== null && #fixed in value;
  }

  [INSPECT](): string {
    return `WebhookEvent { id: '${this.id}', body: [${this.body.length} bytes] }`;
  }
}

function eventIdOf(given: string | undefined, form: EventIdForm = "uuid"): string {
  if (form !== "uuid" && form !== "own") throw new TypeError('idForm must be "uuid" or "own"');
  if (given === undefined) return newEventId();
  if (typeof given === "string" && isEventId(given)) return given.toLowerCase();
  if (form === "own" && typeof given === "string" && OWN_ID.test(given)) return given;
  throw new HookproofError(
    "EVENT_ID_INVALID",
    form === "own"
      ? "eventId must have 1 to 256 visible ASCII characters."
      : 'eventId must be a UUID of version 4, such as newEventId() makes; another scheme than the default one takes other ids with idForm: "own".',
  );
}

function payloadBytes(payload: unknown): Uint8Array {
  const bytes = bytesOf(payload);
  if (bytes.length <= MAX_BODY_BYTES) return bytes;
  throw new HookproofError(
    "PAYLOAD_TOO_LARGE",
    `The payload has ${bytes.length} bytes; a listener takes at most ${MAX_BODY_BYTES}.`,
  );
}

function bytesOf(payload: unknown): Uint8Array {
  if (typeof payload === "string") return jsonTextBytes(payload);
  if (isBytes(payload)) return jsonBytes(copyOf(payload));
  return utf8(serialise(payload));
}

/** Whether a value is bytes: any view or buffer, of any realm. */
export function isBytes(value: unknown): value is ArrayBufferView | ArrayBuffer {
  if (ArrayBuffer.isView(value)) return true;
  try {
    return (
      hasMembers(value) && /^\[object (?:Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value))
    );
  } catch {
    return false; // a revoked Proxy
  }
}

/** A copy of the bytes, which nobody can change; the slice() of a Buffer copies nothing. */
function copyOf(bytes: ArrayBufferView | ArrayBuffer): Uint8Array {
  let view: Uint8Array;
  try {
    view = ArrayBuffer.isView(bytes)
      ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      : new Uint8Array(bytes);
  } catch {
    throw new HookproofError(
      "PAYLOAD_NOT_JSON",
      "The payload is an ArrayBuffer that was transferred: its bytes are gone from here.",
    );
  }
  return new Uint8Array(view);
}

function jsonTextBytes(text: string): Uint8Array {
  if (!text.isWellFormed())
    throw new HookproofError(
      "PAYLOAD_NOT_UTF8",
      "The payload text has a lone surrogate, which UTF-8 cannot carry.",
    );
  return jsonBytes(utf8(text));
}

function jsonBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_BODY_BYTES) return bytes; // refused for its size, and not parsed first
  const parsed = parseJson(bytes);
  if (parsed.ok) return bytes;
  const [first = 0, second = 0] = bytes;
  // A byte order mark of two bytes, or a NUL in what begins as ASCII.
  if (bytes.length > 1 && (first * second === 0 || first * second === 0xfe * 0xff))
    throw new HookproofError("PAYLOAD_NOT_UTF8", `The payload ${NO_TEXT}.`);
  if (parsed.reason === "not-utf8")
    throw new HookproofError("PAYLOAD_NOT_UTF8", "The payload bytes are not valid UTF-8.");
  const bom = decodeUtf8(bytes.subarray(0, 3)) === "\uFEFF";
  throw new HookproofError(
    "PAYLOAD_NOT_JSON",
    bom
      ? "The payload starts with a byte order mark, which JSON must not have."
      : "The payload text is not JSON. A string value needs its quotes: pass JSON.stringify(value).",
  );
}

function serialise(value: unknown): string {
  let text: string | undefined;
  let loss: string | undefined;
  try {
    text = JSON.stringify(value);
    // Refused for its size, and not looked through first.
    if (text === undefined || text.length <= MAX_BODY_BYTES)
      loss = lossIn(value, text?.includes(HALF) ? new Set() : undefined);
  } catch (error) {
    loss = reasonOf(value, error); // the engine's own message repeats values of the payload
  }
  if (loss !== undefined || text === undefined)
    throw new HookproofError(
      "PAYLOAD_NOT_JSON",
      `${loss ?? "The payload has a toJSON() that gives nothing"}.`,
    );
  return text;
}

/** How `JSON.stringify` writes the half of a character; a text may have these letters by itself. */
const HALF = "\\ud";

/** Why a value cannot be written as JSON. */
function reasonOf(value: unknown, error: unknown): string {
  try {
    if (!(error instanceof RangeError)) return lossIn(value, new Set()) ?? FAILED;
  } catch (again) {
    if (!(again instanceof RangeError)) return FAILED;
  }
  return "The payload is nested too deeply, so it cannot be serialised";
}

const FAILED = "The payload has a toJSON() or another member that fails, so it cannot be serialised";

/**
 * A new event id: a random UUID of version 4, in lower case (specification 5.2).
 *
 * @example
 * ```ts
 * import { isEventId, newEventId } from "hookproof";
 *
 * isEventId(newEventId()); // true
 * ```
 */
export function newEventId(): string {
  return newUuid();
}

/**
 * Whether a text is an event id: a UUID of version 4 in either case, without braces or prefix
 * (specification 5.2).
 *
 * @example
 * ```ts
 * import { isEventId } from "hookproof";
 *
 * isEventId("00000000-0000-0000-0000-000000000000"); // false: a UUID, but not of version 4
 * ```
 */
export function isEventId(text: string): boolean {
  return typeof text === "string" && UUID_V4.test(text);
}
