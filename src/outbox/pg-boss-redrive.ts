import { isEventId, newEventId } from "../protocol/event-id.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  DropOptions,
  OutboxAttempt,
  RedriveOptions,
  RedriveResult,
} from "./outbox-store.js";
import { rowsOf, type SqlRunner } from "./pg-boss-database.js";
import { type EventKey, lockKeys, unparkNext } from "./pg-boss-keys.js";
import {
  EVENT_COLUMNS,
  type EventRow,
  eventOf,
  KEY_COLUMNS,
  ms,
  type OutboxTables,
} from "./pg-boss-tables.js";

/** How many dead letters one transaction brings back, and how many are read at once. */
const CHUNK = 500;

/** A filter and a page as a JSON parameter. */
const FILTER = `json_to_record($1::text::json) AS f(listener text, ids uuid[], reason text, code text, before float8,
  "windowMs" float8, "newIds" boolean, most int, "afterTime" timestamptz, "afterSeq" bigint)`;

const FITS = `e.state = 'dead' AND (f.listener IS NULL OR e.listener = f.listener)
  AND (f.ids IS NULL OR e.id = ANY (f.ids)) AND (f.reason IS NULL OR e.reason = f.reason)
  AND (f.code IS NULL OR e.code = f.code) AND (f.before IS NULL OR e.ended_at < to_timestamp(f.before / 1000))`;

const IN_WINDOW = `(f."newIds" OR e.first_attempt_at IS NULL
  OR e.first_attempt_at >= now() - f."windowMs" * interval '1 ms')`;

interface Revived extends EventKey {
  readonly id: string;
  readonly place: number;
}

/** Brings dead letters back; see `OutboxStore`. */
export async function redriveEvents(
  tables: OutboxTables,
  filter: DeadLetterFilter,
  options: RedriveOptions,
): Promise<RedriveResult> {
  const { dryRun = false, newId, windowMs, limit = Number.POSITIVE_INFINITY } = options;
  const wanted = { ...inputOf(filter), windowMs, newIds: newId !== undefined };
  const [counts] = await rowsOf<{ inside: number; outside: number }>(
    tables.database,
    `SELECT count(*) FILTER (WHERE ${IN_WINDOW})::float8 AS inside,
       count(*) FILTER (WHERE NOT ${IN_WINDOW})::float8 AS outside
     FROM ${FILTER} JOIN ${tables.events} e ON ${FITS}`,
    wanted,
  );
  const { inside = 0, outside: pastWindow = 0 } = counts ?? {};
  if (dryRun) return { redriven: Math.min(inside, limit), pastWindow };
  let redriven = 0;
  while (redriven < limit) {
    const most = Math.min(CHUNK, limit - redriven);
    const revived = await tables.transaction((db) => revive(tables, db, { ...wanted, most }, options));
    redriven += revived;
    if (revived < most) break;
  }
  return { redriven, pastWindow };
}

async function revive(
  tables: OutboxTables,
  db: SqlRunner,
  wanted: object,
  { place = "end", newId }: RedriveOptions,
): Promise<number> {
  const { events: table, jobs, channel, sequence } = tables;
  const dead = await rowsOf<Revived>(
    db,
    `SELECT e.id, ${KEY_COLUMNS} FROM ${FILTER} JOIN ${table} e ON ${FITS}
     WHERE ${IN_WINDOW} ORDER BY e.ended_at, e.seq LIMIT (SELECT most FROM ${FILTER}) FOR UPDATE OF e SKIP LOCKED`,
    wanted,
  );
  if (dead.length === 0) return 0;
  await lockKeys(db, dead);
  const input = dead.map(({ id, listener }, index) => ({
    place: index,
    id,
    listener,
    jobId: newEventId(),
    newId: newId?.() ?? null,
  }));
  const added = await rowsOf<{ listener: string; id: string; jobId: string }>(
    db,
    `WITH revived AS (
       UPDATE ${table} e SET state = 'waiting', due_at = now(), job_id = i."jobId", fetched = NULL,
         id = COALESCE(i."newId", e.id), seq = ${place === "end" ? "i.seq" : "e.seq"},
         first_attempt_at = CASE WHEN i."newId" IS NULL THEN e.first_attempt_at END,
         window_from = CASE WHEN i."newId" IS NULL THEN e.first_attempt_at END,
         attempts_before_redrive = e.attempts, ended_at = NULL, reason = NULL, code = NULL, blocks_key = false
       FROM (SELECT o.*, nextval(${sequence}) AS seq FROM (
         SELECT * FROM json_to_recordset($1::text::json)
           AS r(place int, id uuid, listener text, "jobId" uuid, "newId" uuid) ORDER BY place) o) i
       WHERE e.id = i.id AND e.listener = i.listener
       RETURNING e.listener, e.id, e.job_id AS "jobId", i.place
     ), told AS (SELECT pg_notify('${channel}', '') FROM revived LIMIT 1)
     SELECT listener, id, "jobId" FROM revived WHERE (SELECT count(*) FROM told) > 0 ORDER BY place`,
    input,
  );
  await jobs.add(db, added);
  await unparkNext(tables, db, dead);
  return added.length;
}

/** Removes dead letters; see `OutboxStore`. */
export function dropEvents(
  tables: OutboxTables,
  filter: DeadLetterFilter,
  { dryRun = false, limit = Number.POSITIVE_INFINITY }: DropOptions = {},
): Promise<number> {
  const most = Number.isFinite(limit) ? limit : undefined;
  const wanted = `SELECT e.id, ${KEY_COLUMNS} FROM ${FILTER} JOIN ${tables.events} e ON ${FITS}
    ORDER BY e.ended_at, e.seq LIMIT (SELECT most FROM ${FILTER})`;
  return tables.transaction(async (db) => {
    const dead = await rowsOf<Revived>(db, wanted, { ...inputOf(filter), most });
    if (dryRun || dead.length === 0) return dead.length;
    await lockKeys(db, dead);
    const gone = await rowsOf(
      db,
      `DELETE FROM ${tables.events} e USING json_to_recordset($1::text::json) AS i(id uuid, listener text)
       WHERE e.id = i.id AND e.listener = i.listener AND e.state = 'dead' RETURNING e.id`,
      dead,
    );
    await unparkNext(tables, db, dead);
    return gone.length;
  });
}

interface DeadRow extends EventRow {
  readonly reason: DeadLetter["reason"];
  readonly code: DeadLetter["code"];
  readonly diedAt: number;
  readonly enqueuedAt: number;
  readonly firstAttemptAt: number | null;
  readonly history: OutboxAttempt[];
  readonly afterTime: string;
}

/** Dead letters, oldest death first. */
export async function* deadLetters(
  { database, events: table }: OutboxTables,
  filter: DeadLetterFilter,
  limit: number,
): AsyncGenerator<DeadLetter> {
  let after: { afterTime?: string; afterSeq?: number } = {};
  for (let left = limit; left > 0; ) {
    const most = Math.min(CHUNK, left);
    const rows = await rowsOf<DeadRow>(
      database,
      `SELECT ${EVENT_COLUMNS}, e.reason, e.code, ${ms("e.ended_at")} AS "diedAt",
         ${ms("e.enqueued_at")} AS "enqueuedAt", ${ms("e.first_attempt_at")} AS "firstAttemptAt", array_to_json(e.history) AS history,
         e.ended_at::text AS "afterTime"
       FROM ${FILTER} JOIN ${table} e ON ${FITS}
       WHERE f."afterTime" IS NULL OR (e.ended_at, e.seq) > (f."afterTime", f."afterSeq")
       ORDER BY e.ended_at, e.seq LIMIT (SELECT most FROM ${FILTER})`,
      { ...inputOf(filter), ...after, most },
    );
    for (const row of rows) yield deadLetterOf(row);
    const last = rows.at(-1);
    if (!last || rows.length < most) return;
    left -= rows.length;
    after = { afterTime: last.afterTime, afterSeq: last.seq };
  }
}

function deadLetterOf(row: DeadRow): DeadLetter {
  const { reason, code, diedAt, enqueuedAt, firstAttemptAt, history } = row;
  const times = { diedAt, enqueuedAt, firstAttemptAt: firstAttemptAt ?? undefined };
  return { event: eventOf(row), reason, code, ...times, attempts: history };
}

/** What is no event id is no event's. */
function inputOf({ ids, ...filter }: DeadLetterFilter): object {
  return ids === undefined ? filter : { ...filter, ids: ids.filter(isEventId) };
}
