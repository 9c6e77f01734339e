import { HookproofError, messageOf } from "../errors.js";
import { databaseFailure, withinLimit } from "../primitives/database-call.js";

/** What a method of a replay store rejects with when its database fails. */
export function storeFailure(error: unknown): HookproofError {
  return databaseFailure("REPLAY_STORE_UNAVAILABLE", error);
}

/** The holder's own error for a reservation that somebody else took over. */
export function reservationLost(): HookproofError {
  return new HookproofError("RESERVATION_LOST", messageOf("RESERVATION_LOST"));
}

/** Runs a call of a replay store to its database, with a time limit; `undo` takes back what it did too late. */
export function withinMs<Value>(
  limitMs: number,
  call: () => Promise<Value>,
  undo?: (value: Value) => unknown,
): Promise<Value> {
  return withinLimit(limitMs, call, storeFailure, undo);
}

/** Checks a time in an option. */
export function checkMs(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new RangeError(`${name} must be a whole number, 1 or more`);
}
