import { HookproofError, messageOf } from "../errors.js";

/** What the store fails with when SQLite does; SQLite's own words name tables and files, and no values. */
export function unavailable(error: unknown): HookproofError {
  if (error instanceof HookproofError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new HookproofError("OUTBOX_UNAVAILABLE", `${messageOf("OUTBOX_UNAVAILABLE")} SQLite: ${words}`, {
    cause: error,
  });
}

/** Runs what asks SQLite something, and gives its failures their code. */
export function asking<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw unavailable(error);
  }
}
