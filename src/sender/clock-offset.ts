import type { TransportResponse } from "../http/transport.js";
import { httpDate, single } from "./response-headers.js";

const NOTICED_MS = 240_000;
const MAX_OFFSET_MS = 24 * 60 * 60 * 1000;

/** The moments of one exchange, by the local clock without any correction, in milliseconds. */
export interface Exchange {
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
  { sentAt, receivedAt, offsetMs }: Exchange,
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
  { sentAt, receivedAt, offsetMs }: Exchange,
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
  const date = httpDate(single(response.headers, "date"));
  if (date === undefined) return undefined;
  return Math.round(date - (sentAt + receivedAt) / 2);
}
