import { usageError } from "./failure.js";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as `10s`, `1.5m` or `250ms`. */
export function durationMs(flag: string, text: string): number {
  const [, amount, unit = ""] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (amount !== undefined && factor !== undefined) return Number(amount) * factor;
  throw usageError(`--${flag} must be a duration such as 10s, 5m or 250ms, not ${JSON.stringify(text)}.`);
}
