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
 * How far the receiver's clock is ahead of the local one, if a 400 shows that it matters: with a fresh `Date`
 * (no `Age`: nothing cached) more than 240 s away from the time that was signed, in an answer whose transport says
 * that it is the receiver's own (`authenticated`).
 */
export function clockOffset(
  response: TransportResponse,
  { sentAt, receivedAt, offsetMs }: Exchange,
): number | undefined {
  if (response.authenticated !== true) return undefined;
  if (response.headers.some(([name]) => name.toLowerCase() === "age")) return undefined;
  const date = httpDate(single(response.headers, "date"));
  if (date === undefined) return undefined;
  const estimate = Math.round(date - (sentAt + receivedAt) / 2);
  return Math.abs(estimate - offsetMs) > NOTICED_MS && Math.abs(estimate) <= MAX_OFFSET_MS
    ? estimate
    : undefined;
}
