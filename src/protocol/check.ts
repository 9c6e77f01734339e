import type { VerdictCode } from "../errors.js";

/** The steps of the receiving pipeline, in the service's own order (docs/decisions.md). */
export type CheckStep =
  | "listener"
  | "method"
  | "headers"
  | "source"
  | "size"
  | "timestamp"
  | "event-id"
  | "content-type"
  | "window"
  | "credential"
  | "token"
  | "key"
  | "signature"
  | "exp"
  | "nbf"
  | "sub"
  | "aud"
  | "jti"
  | "htm"
  | "htb_s256"
  | "body"
  | "replay"
  | "trigger"
  | "run";

/** One step of a verdict: private detail, for logs and tools on the receiver's own side, never for the wire. */
export interface Check {
  readonly step: CheckStep;
  readonly ok: boolean;
  /** Present when the step failed. */
  readonly code?: VerdictCode;
  /** What the step demands, in words. */
  readonly rule: string;
  /** What the request had. Secrets, signatures and tokens are shortened. */
  readonly seen?: string;
  /** What it should have been, where that is one value. */
  readonly wanted?: string;
}

/** The detail of a failed check in one line. */
export function detailOf(check: Check): string {
  const wanted = check.wanted === undefined ? "" : `; wanted ${check.wanted}`;
  return check.seen === undefined ? check.rule : `${check.rule}; saw ${check.seen}${wanted}`;
}

const STEERING = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Printable ASCII without quotes and backslashes, which is shown as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text from outside, short enough to be shown and with everything escaped that steers a terminal or hides. */
export function shown(value: unknown, length = 80): string {
  const text = typeof value === "string" ? value : jsonText(value);
  if (text === value && text.length <= length && PLAIN.test(text)) return `"${text}"`;
  const quoted = JSON.stringify(text.length > length ? `${text.slice(0, length)}…` : text);
  // JSON escapes the first 32 characters only; U+009B and the marks for direction act in terminals as well.
  const inert = quoted.replace(STEERING, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return typeof value === "string" ? inert : inert.slice(1, -1).replaceAll('\\"', '"');
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "a value too deep to show";
  }
}
