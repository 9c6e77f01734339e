// The numbers of the specification, with their units.
import { HookproofError } from "./errors.js";

/** The numbers of the specification (sections 5.2 and 8) and of docs/decisions.md, with their units. */

/** A body has at most this many bytes ("64 KB"). */
export const MAX_BODY_BYTES = 65_536;

/** A timestamp is at most this far from the receiver's clock, in either direction. */
export const TIMESTAMP_TOLERANCE_SECONDS = 300;

/** A token expires at most this long after the receiver's clock. */
export const MAX_TOKEN_LIFETIME_SECONDS = 600;

/** How long our own tokens live unless told otherwise. */
export const DEFAULT_TOKEN_LIFETIME_SECONDS = 300;

/** A token has at most this many characters. */
export const MAX_TOKEN_LENGTH = 8_192;

/** A key id has at most this many characters. */
export const MAX_KEY_ID_LENGTH = 256;

/** A processed event id is remembered this long. */
export const EVENT_ID_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;

const GRAMMAR = /^(?:0|[1-9]\d{0,14})$/;

/** Whether a text is a `Webhook-Timestamp`: Unix seconds in decimal, one spelling for each value. */
export function isTimestamp(text: string): boolean {
  return GRAMMAR.test(text);
}

/** The header text of a timestamp a caller gave, in seconds; a text is used as it is. */
export function timestampText(timestamp: number | string): string {
  const text = typeof timestamp === "number" ? String(timestamp) : timestamp;
  if (isTimestamp(text)) return text;
  throw new HookproofError(
    "TIMESTAMP_INVALID",
    "timestamp must be a Unix time in whole seconds, such as 1767225600.",
  );
}
