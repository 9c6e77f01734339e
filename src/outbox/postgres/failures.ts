// Says of an error of PostgreSQL what is wrong with an outbox's schema, and what fixes it.
import { databaseFailure, HookproofError } from "../../core/errors.js";
import { FORBIDDEN, sqlState } from "../../postgres/database.js";
import type { OutboxNames } from "./names.js";

/** Undefined table, function, column and schema. */
const MISSING = new Set(["42P01", "42883", "42703", "3F000"]);

/** Makes the store's error of the driver's. */
export function storeFailure({ schema }: OutboxNames) {
  return (error: unknown, isUnknown: boolean): HookproofError => {
    const failure = databaseFailure(isUnknown ? "OUTBOX_OUTCOME_UNKNOWN" : "OUTBOX_UNAVAILABLE", error);
    const words = wordsOf(error, schema);
    return words === undefined || isUnknown || error instanceof HookproofError
      ? failure
      : new HookproofError("OUTBOX_UNAVAILABLE", words, { cause: failure.cause });
  };
}

function wordsOf(error: unknown, schema: string): string | undefined {
  const state = sqlState(error);
  const said = error instanceof Error ? error.message : String(error);
  if (state === FORBIDDEN)
    return `The role lacks a right in the outbox's schema ${schema}: ${said}. The guide's grants are for it; where EXECUTE is revoked from PUBLIC, GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} as well.`;
  if (state !== undefined && MISSING.has(state))
    return `The schema ${schema} has no outbox, or one of another version: ${said}. Where it was dropped, \`hookproof outbox create\` makes an empty one; one of another version is brought up to date by the version of the program that knows it.`;
  return undefined;
}
