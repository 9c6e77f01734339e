// Times and lengths of time on the command line, read and shown.
import type { Clock } from "hookproof";
import { usageError } from "./failure.js";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Of a duration that is waited for: no timer of Node is longer. */
export const WAITED: readonly [min: number, max: number] = [1, 24 * 86_400_000];

/** Whole milliseconds of a duration such as `10s`, `1.5m` or `250ms`: 1.005 s is 1004.9999999999999 ms as it stands. */
export function durationMs(flag: string, text: string): number {
  const [, amount, unit = ""] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (amount !== undefined && factor !== undefined) return Math.round(Number(amount) * factor);
  throw usageError(`--${flag} must be a duration such as 10s, 5m or 250ms, not ${JSON.stringify(text)}.`);
}

/** The same within a range; by default up to a hundred years, as a time further away is no date any more. */
export function checkedDuration(
  flag: string,
  text: string,
  [min, max]: readonly [number, number] = [0, 36_500 * 86_400_000],
): number {
  const ms = durationMs(flag, text);
  if (ms >= min && ms <= max) return ms;
  throw usageError(`--${flag} must be ${shownAge(min)} to ${shownAge(max)}, not ${text}.`);
}

/** Milliseconds since the epoch of a value, Unix seconds or a date; `name` is what the user gave it to. */
export function pointInTime(name: string, text: string): number {
  const time = instantOf(text);
  if (time !== undefined) return time;
  throw usageError(
    `${name} must be Unix seconds or a date such as 2026-01-01T00:00:00Z, not ${JSON.stringify(text)}.`,
  );
}

/** Unix seconds, a day in UTC, or ISO 8601 with its offset: what the zone of this machine would decide is no time. */
function instantOf(text: string): number | undefined {
  if (/^[0-9]{1,12}$/.test(text)) return Number(text) * 1000;
  const [, day, time, offset = ""] =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)(Z|[+-][0-9]{2}:[0-9]{2}))?$/.exec(
      text,
    ) ?? [];
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // JavaScript takes 30 February for 2 March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day ?? "-")) return undefined;
  const instant = time === undefined ? midnight : Date.parse(`${day}T${time}${offset}`);
  return Number.isNaN(instant) || time?.startsWith("24") ? undefined : instant;
}

/** The clock of `--timestamp`: it starts at Unix seconds, or is shifted by a duration such as `+10m` or `-6m`. */
export function signingClock(option: string | undefined): Clock {
  const shiftMs = option === undefined ? 0 : shiftOf(option);
  return { now: () => Date.now() + shiftMs };
}

function shiftOf(text: string): number {
  const [, sign, rest] = /^([+-])(.+)$/.exec(text) ?? [];
  if (sign && rest) return (sign === "-" ? -1 : 1) * checkedDuration("timestamp", rest);
  const time = instantOf(text);
  if (time !== undefined) return time - Date.now();
  throw usageError(
    `--timestamp must be Unix seconds or a date such as 2026-01-01T00:00:00Z, or a shift such as +10m or -6m, not ${JSON.stringify(text)}.`,
  );
}

const AGE_UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
];

/** A length of time in its largest unit, such as `5m`. */
export function shownAge(ms: number): string {
  const [size, unit] = AGE_UNITS.find(([min]) => ms >= min) ?? [1, "ms"];
  return `${Math.floor(ms / size)}${unit}`;
}

/** A time in ISO 8601 without milliseconds, or `-`. */
export function shownTime(at: number | undefined): string {
  return at === undefined ? "-" : exactTime(Math.floor(at / 1000) * 1000).replace(".000Z", "Z");
}

/** A time in ISO 8601, or `-` for what is none: another program may have written anything. */
export function exactTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "-" : date.toISOString();
}
