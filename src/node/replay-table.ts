/** The table the SQL replay stores keep ids in, unless told otherwise. */
export const REPLAY_TABLE = "hookproof_event_ids";

/** How many expired ids one call removes at most, so that no request pays for a week of them. */
export const CLEANUP_ROWS = 500;

const CLEANUP_EVERY_MS = 60_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/**
 * Checks a table's name, as it becomes part of the SQL, and quotes it.
 *
 * @param name a name, or `schema.name` where the database has schemas
 */
export function quotedTable(name: string): string {
  const parts = typeof name === "string" ? name.split(".") : [];
  if (parts.length < 1 || parts.length > 2 || !parts.every((part) => NAME.test(part)))
    throw new TypeError("table must be a name of letters, digits and _, or schema.name");
  return parts.map((part) => `"${part}"`).join(".");
}

/** The name of the index on the expiry, which lives in its table's schema and is named without it. */
export function quotedIndex(table: string): string {
  return `"${table.split(".").at(-1)?.slice(0, 50)}_expires_at"`;
}

/** Says when it is time to remove expired ids: once a minute, and again at once while there are more. */
export function cleanupSchedule(): { isDue(now: number): boolean; done(now: number, removed: number): void } {
  let nextAt = 0;
  return {
    isDue: (now) => now >= nextAt,
    done(now, removed) {
      nextAt = removed < CLEANUP_ROWS ? now + CLEANUP_EVERY_MS : now;
    },
  };
}
