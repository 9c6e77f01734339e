import { rowsOf, type SqlRunner } from "./pg-boss-database.js";
import type { EventJob } from "./pg-boss-jobs.js";
import { IS_INPUT, KEY_COLUMNS, type OutboxTables } from "./pg-boss-tables.js";

/** An ordering key of a listener, and its lock; none if they are null. */
export interface EventKey {
  readonly listener: string;
  readonly orderingKey: string | null;
  readonly lock?: string | null | undefined;
}

/*
 * Of an ordering key one event at a time is handed out. A claim that fetches another one parks it: the job is
 * completed, and whoever ends the event before it adds a new one. Both hold the key's lock, so that none is parked
 * behind an event that has just ended. The lock comes before the events' rows, or two of them could wait for each
 * other. Callers' transactions never take it.
 */

/** Locks ordering keys until the transaction ends, in one order for everybody. */
export async function lockKeys(
  db: SqlRunner,
  keys: readonly { readonly lock?: string | null | undefined }[],
): Promise<void> {
  const locks = keys.flatMap(({ lock }) => (lock ? [{ lock }] : []));
  if (locks.length === 0) return;
  await rowsOf(
    db,
    `SELECT pg_advisory_xact_lock(lock) FROM (
       SELECT DISTINCT lock FROM json_to_recordset($1::text::json) AS i(lock bigint) ORDER BY lock) locks`,
    locks,
  );
}

/** Locks the ordering keys of fetched events, and parks those whose turn it is not. */
export async function parkOthers(
  { events: table }: OutboxTables,
  db: SqlRunner,
  fetched: readonly EventJob[],
): Promise<void> {
  const keys = await rowsOf<EventKey>(
    db,
    `SELECT ${KEY_COLUMNS} FROM json_to_recordset($1::text::json) AS i(id uuid, listener text)
     JOIN ${table} e ON e.id = i.id AND e.listener = i.listener`,
    fetched,
  );
  await lockKeys(db, keys);
  await rowsOf(
    db,
    `WITH i AS (
       SELECT * FROM json_to_recordset($1::text::json) AS i(id uuid, listener text, "jobId" uuid))
     UPDATE ${table} e SET state = 'parked', job_id = NULL
     FROM i WHERE ${IS_INPUT} AND e.ordering_key IS NOT NULL AND e.ended_at IS NULL
       AND (EXISTS (SELECT FROM ${table} o WHERE o.listener = e.listener AND o.ordering_key = e.ordering_key
                AND o.seq < e.seq AND (o.ended_at IS NULL OR o.blocks_key))
         OR EXISTS (SELECT FROM ${table} o WHERE o.listener = e.listener AND o.ordering_key = e.ordering_key
                AND o.state = 'leased' AND o.id <> e.id))`,
    fetched,
  );
}

/** Gives the first parked event of each of these ordering keys a job again. The keys are locked. */
export async function unparkNext(
  { events: table, jobs, channel }: OutboxTables,
  db: SqlRunner,
  keys: readonly EventKey[],
): Promise<void> {
  const keyed = namesOf(keys);
  if (keyed.length === 0) return;
  const rows = await rowsOf<{ listener: string; id: string; jobId: string; at: Date }>(
    db,
    `WITH next AS (
       SELECT n.id, n.listener FROM (
         SELECT DISTINCT listener, "orderingKey" AS key
         FROM json_to_recordset($1::text::json) AS i(listener text, "orderingKey" text)) k
       CROSS JOIN LATERAL (
         SELECT * FROM ${table} e WHERE e.listener = k.listener AND e.ordering_key = k.key
           AND (e.ended_at IS NULL OR e.blocks_key) ORDER BY e.seq LIMIT 1) n
       WHERE n.state = 'parked'
     ), freed AS (
       UPDATE ${table} e SET state = 'waiting', job_id = gen_random_uuid() FROM next
       WHERE e.id = next.id AND e.listener = next.listener
       RETURNING e.listener, e.id, e.job_id AS "jobId", e.due_at AS at
     ), told AS (SELECT pg_notify('${channel}', '') FROM freed LIMIT 1)
     SELECT * FROM freed WHERE (SELECT count(*) FROM told) > 0`,
    keyed,
  );
  await jobs.add(
    db,
    rows.map(({ at, ...named }) => ({ ...named, at: new Date(at).toISOString() })),
  );
}

function namesOf(keys: readonly EventKey[]): EventKey[] {
  return keys.flatMap(({ listener, orderingKey }) =>
    orderingKey === null ? [] : [{ listener, orderingKey }],
  );
}
