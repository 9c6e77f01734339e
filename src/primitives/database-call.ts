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
 *
 * The call itself goes on: what it did after its caller was told that it failed, `undo` takes back.
 */
export async function withinLimit<Value>(
  limitMs: number,
  call: () => Promise<Value>,
  failure: (error: unknown) => Error,
  undo?: (value: Value) => unknown,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLate = false;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isLate = true;
      reject(new Error(`no answer within ${limitMs} ms`));
    }, limitMs);
  });
  try {
    const work = call();
    if (undo) work.then((value) => isLate && undo(value)).catch(() => {}); // nobody waits for it any more
    return await Promise.race([work, limit]);
  } catch (error) {
    throw failure(error);
  } finally {
    clearTimeout(timer);
  }
}
