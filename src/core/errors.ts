// Every code with its status and its sentence.
/**
 * Every code of the library, the HTTP status a listener answers with (0: the code is local and never an
 * answer), and the sentence that may go on the wire. What was seen and what was wanted stays in `detail`.
 */
export const CODES = {
  LISTENER_UNKNOWN: [404, "There is no listener with this id."],
  METHOD_NOT_ALLOWED: [405, "Webhooks are sent with POST."],
  HEADERS_TOO_MANY: [431, "The request has too many header lines."],
  SOURCE_NOT_ALLOWED: [403, "The source address is not in the allowed list."],
  BODY_TOO_LARGE: [413, "The body is larger than 65,536 bytes."],
  BODY_UNREADABLE: [400, "The body ended before it was complete."],
  TIMESTAMP_MISSING: [400, "The header Webhook-Timestamp is missing."],
  TIMESTAMP_MALFORMED: [400, "Webhook-Timestamp must be one Unix time in whole seconds."],
  TIMESTAMP_OUT_OF_WINDOW: [400, "Webhook-Timestamp is more than 5 minutes away from the server's time."],
  EVENT_ID_MISSING: [400, "The header Webhook-Event-Id is missing."],
  EVENT_ID_MALFORMED: [400, "Webhook-Event-Id must be one UUID of version 4."],
  CONTENT_TYPE_MISSING: [400, "The header Content-Type is missing."],
  CONTENT_TYPE_MALFORMED: [400, "Content-Type must be one media type, sent once."],
  CONTENT_TYPE_UNSUPPORTED: [415, "Content-Type must be application/json."],
  CONTENT_ENCODING_UNSUPPORTED: [415, "The body must not be encoded."],
  BODY_NOT_JSON: [400, "The body is not valid JSON."],
  SIGNATURE_MISSING: [401, "The header Webhook-Signature is missing."],
  SIGNATURE_MALFORMED: [401, "Webhook-Signature must be 43 characters of base64url, sent once."],
  SIGNATURE_MISMATCH: [401, "The signature does not match."],
  TOKEN_MISSING: [401, "The header Authorization is missing."],
  TOKEN_MALFORMED: [401, "Authorization must be one Bearer token in compact form."],
  TOKEN_HEADER_REFUSED: [401, "The token's header has a member that is refused."],
  TOKEN_ALGORITHM_REFUSED: [401, "The token's alg is not RS256, ES256 or EdDSA."],
  TOKEN_KEY_ID_INVALID: [401, "The token's kid is missing or malformed."],
  TOKEN_SIGNATURE_MISMATCH: [401, "The token's signature does not match."],
  KEY_NOT_FOUND: [401, "No usable key of the key set has the token's kid and alg."],
  KEY_SET_UNAVAILABLE: [401, "The key set could not be fetched."],
  KEY_SET_INVALID: [401, "The key set is not valid."],
  CLAIM_SUB_INVALID: [401, "The claim sub is not the tenant's base URL."],
  CLAIM_AUD_INVALID: [401, "The claim aud is not the listener's URL."],
  CLAIM_ISS_INVALID: [401, "The claim iss is not the issuer that is expected."],
  CLAIM_EXP_INVALID: [401, "The claim exp is missing, past, or more than 10 minutes ahead."],
  CLAIM_NBF_INVALID: [401, "The claim nbf is malformed or in the future."],
  CLAIM_JTI_INVALID: [401, "The claim jti is not the event id."],
  CLAIM_HTM_INVALID: [401, "The claim htm is not POST."],
  CLAIM_HTB_S256_INVALID: [401, "The claim htb_s256 is not the hash of this body."],
  CLAIM_EVENTS_INVALID: [401, "The claim events is not one object with the events by their URIs."],
  EVENT_DUPLICATE: [409, "This event id has been processed; the automation did not run again."],
  TRIGGER_INACTIVE: [404, "The automation is not published or its trigger is not enabled."],
  EVENT_IN_FLIGHT: [503, "A request with this event id is being processed."],
  REPLAY_STORE_UNAVAILABLE: [503, "Processed event ids cannot be looked up right now."],
  RUN_FAILED: [503, "The event could not be accepted; send it again."],

  PAYLOAD_NOT_JSON: [0, "The payload is not JSON."],
  PAYLOAD_NOT_UTF8: [0, "The payload is not valid UTF-8."],
  PAYLOAD_TOO_LARGE: [0, "The payload is larger than 65,536 bytes."],
  EVENT_INVALID: [0, "The event is not in the catalogue, or does not fit its schema."],
  EVENT_ID_INVALID: [0, "The event id is not of a form that can be sent."],
  EVENT_ID_REUSED: [0, "The event id was used before with other bytes."],
  TIMESTAMP_INVALID: [0, "The timestamp is not a Unix time in whole seconds."],
  SECRET_INVALID: [0, "The signing secret cannot be used."],
  KEY_UNFIT: [0, "The key does not fit its algorithm."],
  SIGNER_FAILED: [0, "The signer failed."],
  LISTENER_URL_INVALID: [0, "The URL is not a listener's URL."],
  BASE_URL_MISMATCH: [0, "The base URL does not fit the listener's URL."],
  TLS_REQUIRED: [0, "Plain HTTP is allowed on loopback, and in development for names that an option gives."],
  HEADER_INVALID: [0, "A header value has characters that are not allowed."],
  CIDR_INVALID: [0, "The address range is not a CIDR."],
  KEY_SET_URL_REFUSED: [0, "The key set's URL is refused."],
  KEY_STORE_INVALID: [0, "The key store's file is malformed."],
  KEY_STORE_UNREADABLE: [0, "The key store's files cannot be read or written."],
  KEY_STORE_NEWER: [0, "The key store was written by a newer version."],
  KEY_STORE_EXPOSED: [0, "Others on this machine can read or replace the key store."],
  KEY_STORE_BUSY: [0, "Another process keeps the key store locked."],
  KEY_STORE_PASSPHRASE: [0, "The key store's passphrase is missing or wrong."],
  KEY_STORE_PUBLISHED: [0, "The key store is published at another URL."],
  KEY_SET_UPLOAD_FAILED: [0, "The key set could not be brought to its host."],
  KEY_SET_NOT_PUBLISHED: [0, "The key set's host does not show the store's keys."],
  BEHAVIOUR_INVALID: [0, "The behaviour profile is malformed, or of a newer version."],
  KEY_ID_REUSED: [0, "The key id was used before; ids are never used twice."],
  KEY_IN_USE: [0, "The key signs, or its tokens may be under way."],
  RESERVATION_LOST: [0, "The reservation of the event id expired, and another request took the id."],

  LISTENER_NAME_UNKNOWN: [0, "No listener has that name."],
  OUTBOX_UNAVAILABLE: [0, "The outbox's database cannot be reached or written."],
  OUTBOX_OUTCOME_UNKNOWN: [0, "The outbox's database did not say whether it was stored."],
  OUTBOX_NEWER: [0, "The outbox's database was made by a newer version."],
  OUTBOX_ENCODING: [0, "The outbox's database must be encoded in UTF8."],
  OUTBOX_KEY_MISSING: [0, "The key that decrypts the event's body is missing."],
  OUTBOX_BODY_UNREADABLE: [0, "The event's stored body was changed, or cannot be decrypted."],
  LEASE_LOST: [0, "The lease on the event ran out, and its outcome is unknown."],

  ADDRESS_REFUSED: [0, "The address is private or reserved."],
  CONNECTION_FAILED: [0, "No connection could be made."],
  CONNECTION_LOST: [0, "The connection broke before the answer was complete."],
  TLS_FAILED: [0, "The TLS connection could not be trusted."],
  PROXY_FAILED: [0, "A proxy answered instead of the receiver."],
  RESPONSE_INVALID: [0, "The answer is not valid HTTP or exceeds a limit."],
  TIMED_OUT: [0, "There was no answer in time."],
  ABORTED: [0, "Interrupted."],

  REQUEST_REFUSED: [0, "The receiver refused the request permanently."],
  AUTHENTICATION_REFUSED: [0, "The receiver refused the request as not authenticated."],
  SOURCE_REFUSED: [0, "The receiver refused the request as forbidden."],
  LISTENER_NOT_FOUND: [0, "The receiver knows no such listener, or its trigger is inactive."],
  REDIRECT_REFUSED: [0, "The receiver answered with a redirect, which is never followed."],
  RECEIVER_UNAVAILABLE: [0, "The receiver did not accept the event at that time."],
  WINDOW_CLOSED: [0, "The receiver would have forgotten the event id before another attempt."],
} as const satisfies Record<string, readonly [status: number, message: string]>;

/** A stable code: the name of what went wrong, the same in verdicts, errors, logs and on the wire. */
export type ErrorCode = keyof typeof CODES;

/** The codes a listener answers with. */
export type VerdictCode = {
  [Code in ErrorCode]: (typeof CODES)[Code][0] extends 0 ? never : Code;
}[ErrorCode];

/** The HTTP status a listener answers with for a code. */
export function statusOf(code: VerdictCode): number {
  return CODES[code][0];
}

/** The sentence for a code that may be shown to anybody. */
export function messageOf(code: ErrorCode): string {
  return CODES[code][1];
}

/**
 * The error that the library throws for bad data or failed I/O; a wrong call is a `TypeError` or `RangeError`.
 * Neither the message nor the cause carries a secret, a token or a body.
 *
 * @example
 * ```ts
 * import { createEvent, HookproofError } from "hookproof";
 *
 * try {
 *   createEvent("{not json");
 * } catch (error) {
 *   if (error instanceof HookproofError) console.error(error.code); // PAYLOAD_NOT_JSON
 * }
 * ```
 */
export class HookproofError extends Error {
  override readonly name: string = "HookproofError";
  /** What went wrong, by its stable name. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a text is what an environment variable gives that is not set, or set to nothing. */
export function isNotGiven(value: unknown): value is undefined | "" {
  return value === undefined || value === "";
}

/** The refusal of a secret or key that an environment variable has not given. */
export function notGiven(
  what: string,
  value: undefined | "",
  code: "SECRET_INVALID" | "KEY_UNFIT" = "SECRET_INVALID",
): HookproofError {
  return new HookproofError(
    code,
    `${what} is ${value === "" ? "empty" : value}: is its environment variable set?`,
  );
}

/**
 * What a store rejects with when its database fails. Of the driver's error only name, message and code are kept,
 * as the error itself may hold a password.
 */
export function databaseFailure(code: ErrorCode, error: unknown): HookproofError {
  if (error instanceof HookproofError) return error;
  const { name, message, code: own } = Object(error) as { name?: unknown; message?: unknown; code?: unknown };
  const cause = Object.assign(new Error(String(message)), {
    name: String(name ?? "Error"),
    ...(own === undefined ? {} : { code: own }),
  });
  return new HookproofError(code, messageOf(code), { cause });
}
