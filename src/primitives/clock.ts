/** Where time comes from, everywhere in the library: milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** The whole seconds a `Webhook-Timestamp` and a token's `exp` count in. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}
