import { HookproofError, messageOf } from "../errors.js";

/** What a store method rejects with when its database fails. The driver's own error may hold a password. */
export function storeFailure(error: unknown): HookproofError {
  if (error instanceof HookproofError) return error;
  const { name, message, code } = Object(error) as { name?: unknown; message?: unknown; code?: unknown };
  const cause = Object.assign(new Error(String(message)), {
    name: String(name ?? "Error"),
    ...(code === undefined ? {} : { code }),
  });
  return new HookproofError("REPLAY_STORE_UNAVAILABLE", messageOf("REPLAY_STORE_UNAVAILABLE"), { cause });
}

/** The holder's own error for a reservation that somebody else took over. */
export function reservationLost(): HookproofError {
  return new HookproofError("RESERVATION_LOST", messageOf("RESERVATION_LOST"));
}

/**
 * Runs a call to a database on the network with a time limit: drivers queue calls while they reconnect, and a
 * sender waits no longer than its own time limit for the answer.
 */
export async function withinMs<Value>(limitMs: number, call: () => Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([call(), limit]);
  } catch (error) {
    throw storeFailure(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks a time in an option. */
export function checkMs(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new RangeError(`${name} must be a whole number, 1 or more`);
}
