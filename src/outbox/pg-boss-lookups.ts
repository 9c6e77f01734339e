import { isEventId } from "../protocol/event-id.js";
import type { ListenerStats, OutboxAttempt, OutboxEntry } from "./outbox-store.js";
import { rowsOf } from "./pg-boss-database.js";
import { ms, type OutboxTables } from "./pg-boss-tables.js";

const IS_LEASED = "e.state = 'leased' AND e.leased_until > now()";
const IS_PENDING = "e.ended_at IS NULL AND (e.state <> 'leased' OR e.leased_until <= now())";

interface EntryRow {
  readonly listener: string;
  readonly id: string;
  readonly state: OutboxEntry["state"];
  readonly enqueuedAt: number;
  readonly dueAt: number;
  readonly firstAttemptAt: number | null;
  readonly outcome: "accepted" | "duplicate" | null;
  readonly history: OutboxAttempt[];
}

/** Where an event stands at each of its listeners. */
export async function findEvent(
  { database, events: table }: OutboxTables,
  id: string,
): Promise<OutboxEntry[]> {
  if (!isEventId(id)) return [];
  const rows = await rowsOf<EntryRow>(
    database,
    `SELECT e.listener, e.id, ${ms("e.enqueued_at")} AS "enqueuedAt", ${ms("e.due_at")} AS "dueAt",
       ${ms("e.first_attempt_at")} AS "firstAttemptAt", e.outcome, array_to_json(e.history) AS history,
       CASE WHEN ${IS_LEASED} THEN 'in-flight' WHEN ${IS_PENDING} THEN 'pending' ELSE e.state END AS state
     FROM json_to_record($1::text::json) AS i(id uuid) JOIN ${table} e ON e.id = i.id ORDER BY e.seq`,
    { id },
  );
  return rows.map(({ dueAt, firstAttemptAt, outcome, history, ...entry }) => ({
    ...entry,
    ...(entry.state === "pending" ? { dueAt } : {}),
    firstAttemptAt: firstAttemptAt ?? undefined,
    outcome: outcome ?? undefined,
    attempts: history,
  }));
}

/** What there is of each listener. */
export async function statsOf({ database, events: table }: OutboxTables): Promise<ListenerStats[]> {
  const { rows } = await database.executeSql(
    `SELECT e.listener, count(*) FILTER (WHERE ${IS_PENDING})::float8 AS pending,
       count(*) FILTER (WHERE ${IS_LEASED})::float8 AS "inFlight",
       count(*) FILTER (WHERE e.state = 'delivered')::float8 AS delivered,
       count(*) FILTER (WHERE e.state = 'dead')::float8 AS dead,
       ${ms(`min(e.enqueued_at) FILTER (WHERE ${IS_PENDING})`)} AS "oldestEnqueuedAt"
     FROM ${table} e GROUP BY e.listener ORDER BY e.listener`,
  );
  return (rows as (ListenerStats & { oldestEnqueuedAt: number | null })[]).map((row) => ({
    ...row,
    oldestEnqueuedAt: row.oldestEnqueuedAt ?? undefined,
  }));
}

/** When the next event of these listeners is due; one whose worker is gone is due when its lease runs out. */
export async function nextDueOf(
  { database, events: table }: OutboxTables,
  listeners: Iterable<string>,
): Promise<{ now: number; at?: number }> {
  const [row] = await rowsOf<{ now: number; at: number | null }>(
    database,
    `SELECT ${ms("now()")} AS now, ${ms("min(LEAST(w.due_at, l.leased_until))")} AS at
     FROM json_to_recordset($1::text::json) AS i(listener text)
     LEFT JOIN LATERAL (SELECT e.due_at FROM ${table} e
       WHERE e.listener = i.listener AND e.state = 'waiting' ORDER BY e.due_at LIMIT 1) w ON true
     LEFT JOIN LATERAL (SELECT min(e.leased_until) AS leased_until FROM ${table} e
       WHERE e.listener = i.listener AND e.state = 'leased') l ON true`,
    [...listeners].map((listener) => ({ listener })),
  );
  if (!row) throw new Error("no answer");
  return row.at === null ? { now: row.now } : { now: row.now, at: row.at };
}
