import { rowsOf } from "./pg-boss-database.js";
import type { EventJob } from "./pg-boss-jobs.js";
import { type EventKey, lockKeys, unparkNext } from "./pg-boss-keys.js";
import { JOB_COLUMNS, KEY_COLUMNS, type OutboxTables } from "./pg-boss-tables.js";

/** Makes events whose lease ran out due again. */
export async function takeOver(tables: OutboxTables): Promise<void> {
  const { database, events: table, jobs } = tables;
  const expired = `SELECT e.id, ${KEY_COLUMNS} FROM ${table} e
    WHERE e.state = 'leased' AND e.leased_until <= now() ORDER BY e.leased_until LIMIT 500`;
  const rows = (await database.executeSql(expired)).rows as (EventKey & { id: string })[];
  if (rows.length === 0) return;
  await tables.transaction(async (db) => {
    await lockKeys(db, rows);
    const gone = await rowsOf<EventJob & EventKey>(
      db,
      `UPDATE ${table} e SET state = 'waiting', leased_until = NULL, window_from = first_attempt_at
       FROM (SELECT e.id, e.listener FROM json_to_recordset($1::text::json) AS i(id uuid, listener text)
         JOIN ${table} e ON e.id = i.id AND e.listener = i.listener
         WHERE e.state = 'leased' AND e.leased_until <= now() FOR UPDATE OF e SKIP LOCKED) i
       WHERE e.id = i.id AND e.listener = i.listener RETURNING ${JOB_COLUMNS}`,
      rows,
    );
    await jobs.giveBack(db, gone);
    await unparkNext(tables, db, gone);
  });
}
