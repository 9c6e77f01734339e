import { usageError } from "./failure.js";

/** Milliseconds since the epoch of a flag's value: Unix seconds or a date. */
export function pointInTime(flag: string, text: string): number {
  const time = /^[0-9]{1,15}$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw usageError(
    `--${flag} must be Unix seconds or a date such as 2026-01-01T00:00:00Z, not ${JSON.stringify(text)}.`,
  );
}
