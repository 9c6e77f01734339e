// Works out from an answer how far two clocks differ.
import { httpDate, onlyValue } from "../core/headers.js";
import type { TransportResponse } from "../http/transport.js";

const NOTICED_MS = 240_000;
const MAX_OFFSET_MS = 24 * 60 * 60 * 1000;

/** The moments of one request, by the local clock without any correction, in milliseconds. */
interface Moments {
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The correction that was in use. */
  readonly offsetMs: number;
}

/**
 * How far the receiver's clock is ahead of the time that was signed, if that is far enough for it to refuse: by a
 * fresh `Date` (no `Age`: nothing cached), however far.
 */
export function clockDifference(
  response: TransportResponse,
  { sentAt, receivedAt, offsetMs }: Moments,
): number | undefined {
  const estimate = clockEstimate(response, sentAt, receivedAt);
  if (estimate === undefined || Math.abs(estimate - offsetMs) <= NOTICED_MS) return undefined;
  return estimate - offsetMs;
}

/**
 * How far the receiver's clock is ahead of the local one, if a 400 shows that it matters: with a fresh `Date`
 * (no `Age`: nothing cached) more than 240 s away from the time that was signed, in an answer whose transport says
 * that it is the receiver's own (`authenticated`).
 */
export function clockOffset(
  response: TransportResponse,
  { sentAt, receivedAt, offsetMs }: Moments,
): number | undefined {
  if (response.authenticated !== true) return undefined;
  const estimate = clockEstimate(response, sentAt, receivedAt);
  if (estimate === undefined) return undefined;
  return Math.abs(estimate - offsetMs) > NOTICED_MS && Math.abs(estimate) <= MAX_OFFSET_MS
    ? estimate
    : undefined;
}

function clockEstimate(response: TransportResponse, sentAt: number, receivedAt: number): number | undefined {
  if (response.headers.some(([name]) => name.toLowerCase() === "age")) return undefined;
  const date = httpDate(onlyValue(response.headers, "date"));
  if (date === undefined) return undefined;
  return Math.round(date - (sentAt + receivedAt) / 2);
}

/** Whether a proof's time is so far ahead of the receiver's that it may refuse it; it will not when that time has come. */
export function isAhead(provedAt: number, receiverNow: number): boolean {
  return provedAt - receiverNow > NOTICED_MS;
}
