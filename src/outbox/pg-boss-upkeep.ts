import type { ExpiredEvent, OutboxStore } from "./outbox-store.js";
import { rowsOf } from "./pg-boss-database.js";
import { DEATH } from "./pg-boss-endings.js";
import { type EventKey, lockKeys, unparkNext } from "./pg-boss-keys.js";
import { takeOver } from "./pg-boss-leases.js";
import { KEY_COLUMNS, ms, type OutboxTables } from "./pg-boss-tables.js";

/** How many events one call ends or removes at most. */
const BATCH = 1_000;

type Windows = Parameters<OutboxStore["expire"]>[0];

/** Buries events whose window has closed; see `OutboxStore`. Their jobs go when they are fetched. */
export async function expireEvents(tables: OutboxTables, windows: Windows): Promise<ExpiredEvent[]> {
  const { database, events: table } = tables;
  await takeOver(tables);
  const input = [...windows].map(([listener, window]) => ({ listener, ...window }));
  const late = `e.window_from < now() - i."windowMs" * interval '1 ms'`;
  const keys = await rowsOf<EventKey & { id: string }>(
    database,
    `SELECT e.id, ${KEY_COLUMNS}, i."blocksKey", i."windowMs"
     FROM json_to_recordset($1::text::json) AS i(listener text, "windowMs" float8, "blocksKey" boolean)
     JOIN ${table} e ON e.listener = i.listener AND ${late} LIMIT ${BATCH}`,
    input,
  );
  if (keys.length === 0) return [];
  return tables.transaction(async (db) => {
    await lockKeys(db, keys);
    const expired = await rowsOf<ExpiredEvent>(
      db,
      `UPDATE ${table} e SET ${DEATH} FROM (
         SELECT i.*, 'window' AS reason, 'WINDOW_CLOSED' AS code
         FROM json_to_recordset($1::text::json) AS i(id uuid, listener text, "windowMs" float8, "blocksKey" boolean)
         JOIN ${table} e ON e.id = i.id AND e.listener = i.listener AND ${late} FOR UPDATE OF e SKIP LOCKED) i
       WHERE e.id = i.id AND e.listener = i.listener
       RETURNING e.listener, e.id, ${ms("e.enqueued_at")} AS "enqueuedAt", e.attempts`,
      keys,
    );
    await unparkNext(tables, db, keys);
    return expired;
  });
}

/** Removes what ended before these times; see `OutboxStore`. */
export function pruneEvents(
  tables: OutboxTables,
  before: Parameters<OutboxStore["prune"]>[0],
): Promise<number> {
  const { events: table } = tables;
  return tables.transaction(async (db) => {
    const removed = await rowsOf<EventKey & { blocksKey: boolean }>(
      db,
      `DELETE FROM ${table} e USING (
         SELECT old.id, old.listener
         FROM json_to_recordset($1::text::json) AS i(state text, before float8)
         CROSS JOIN LATERAL (
           SELECT o.id, o.listener FROM ${table} o
           WHERE o.state = i.state AND o.ended_at < to_timestamp(i.before / 1000)
           ORDER BY o.ended_at LIMIT ${BATCH / 2} FOR UPDATE SKIP LOCKED) old) old
       WHERE e.id = old.id AND e.listener = old.listener
       RETURNING ${KEY_COLUMNS}, e.blocks_key AS "blocksKey"`,
      Object.entries(before).map(([state, time]) => ({ state, before: time })),
    );
    const blocked = removed.filter(({ blocksKey }) => blocksKey);
    await lockKeys(db, blocked);
    await unparkNext(tables, db, blocked);
    return removed.length;
  });
}
