import { type ErrorCode, HookproofError, messageOf } from "../errors.js";

/** What a store rejects with when its database fails. The driver's own error may hold a password. */
export function databaseFailure(code: ErrorCode, error: unknown): HookproofError {
  if (error instanceof HookproofError) return error;
  const { name, message, code: own } = Object(error) as { name?: unknown; message?: unknown; code?: unknown };
  const cause = Object.assign(new Error(String(message)), {
    name: String(name ?? "Error"),
    ...(own === undefined ? {} : { code: own }),
  });
  return new HookproofError(code, messageOf(code), { cause });
}

/**
 * Runs a call to a database on the network with a time limit: drivers queue calls while they reconnect, and a
 * caller waits no longer than its own time limit for the answer. What goes wrong is thrown as `failure` makes it.
 */
export async function withinLimit<Value>(
  limitMs: number,
  call: () => Promise<Value>,
  failure: (error: unknown) => Error,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([call(), limit]);
  } catch (error) {
    throw failure(error);
  } finally {
    clearTimeout(timer);
  }
}
