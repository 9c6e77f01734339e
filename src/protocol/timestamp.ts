import { HookproofError } from "../errors.js";

const GRAMMAR = /^(?:0|[1-9][0-9]{0,14})$/;

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
