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

/** The database's clock. */
export async function nowOf({ database }: OutboxTables): Promise<number> {
  const { rows } = await database.executeSql(`SELECT ${ms("now()")} AS now`);
  return (rows as { now: number }[])[0]?.now ?? Number.NaN;
}
