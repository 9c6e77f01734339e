import type { Clock } from "hookproof";
import { durationMs } from "./duration.js";
import { usageError } from "./failure.js";

/** The clock that `--timestamp` asks for: Unix seconds, or a shift such as `+10m` or `-6m`; it goes on from there. */
export function signingClock(option: string | undefined): Clock {
  const shiftMs = option === undefined ? 0 : shiftOf(option);
  return { now: () => Date.now() + shiftMs };
}

function shiftOf(text: string): number {
  const [, sign, rest] = /^([+-])(.+)$/.exec(text) ?? [];
  if (sign && rest) return (sign === "-" ? -1 : 1) * durationMs("timestamp", rest);
  if (/^[0-9]{1,15}$/.test(text)) return Number(text) * 1000 - Date.now();
  throw usageError(
    `--timestamp must be Unix seconds, or a shift such as +10m or -6m, not ${JSON.stringify(text)}.`,
  );
}
