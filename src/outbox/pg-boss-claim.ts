import type { ClaimedEvent, ClaimRequest } from "./outbox-store.js";
import { rowsOf, type SqlRunner } from "./pg-boss-database.js";
import { buryLost } from "./pg-boss-endings.js";
import { type EventJob, tokenOf } from "./pg-boss-jobs.js";
import { parkOthers } from "./pg-boss-keys.js";
import { takeOver } from "./pg-boss-leases.js";
import {
  EVENT_COLUMNS,
  type EventRow,
  eventOf,
  IS_INPUT,
  isIn,
  ms,
  type OutboxTables,
} from "./pg-boss-tables.js";

/** How often one claim goes back for more when what it fetched was not to be handed out. */
const ROUNDS = 8;

interface Due {
  readonly listener: string;
  /** Due events, as many as are wanted of it at most. */
  readonly due: number;
}

interface LeasedRow extends EventRow, EventJob {
  readonly dueAt: number;
  readonly attempt: number;
  readonly attemptsBeforeRedrive: number;
  readonly firstAttemptAt: number;
  readonly isFirst: boolean;
  readonly enqueuedAt: number;
  readonly now: number;
}

/** Hands out due events; see `OutboxStore`. */
export async function claimEvents(tables: OutboxTables, request: ClaimRequest): Promise<ClaimedEvent[]> {
  const wanted = new Map([...request.listeners].map(([listener, { most }]) => [listener, most]));
  const claimed: LeasedRow[] = [];
  if (wanted.size === 0) return [];
  for (let round = 0; round < ROUNDS && claimed.length < request.limit; round++) {
    const shares = sharesOf(await dueOf(tables, wanted), request.limit - claimed.length);
    if (shares.size === 0) break;
    await tables.jobs.prepare(shares.keys());
    const { leased, fetched } = await tables.transaction((db) => lease(tables, db, shares, request));
    claimed.push(...leased);
    for (const { listener } of leased) wanted.set(listener, (wanted.get(listener) ?? 0) - 1);
    // What is due and cannot be fetched is another worker's by now, or pg-boss has it no longer.
    for (const listener of shares.keys())
      if (!fetched.some((job) => job.listener === listener)) {
        wanted.delete(listener);
        await buryLost(tables, listener);
      }
    if (fetched.length === leased.length) break;
  }
  return inTurn(claimed, request.listeners.keys()).map((row) => claimedOf(row, request));
}

/** What is due, after events whose worker is gone have become due again. */
async function dueOf(tables: OutboxTables, wanted: ReadonlyMap<string, number>): Promise<Due[]> {
  let rows = await waitingOf(tables, wanted);
  if (rows.some(({ listener }) => listener === null)) {
    await takeOver(tables);
    rows = await waitingOf(tables, wanted);
  }
  const due = new Map(rows.map((row) => [row.listener, row.due]));
  return [...wanted].flatMap(([listener, most]) => {
    const those = Math.min(most, due.get(listener) ?? 0);
    return those > 0 ? [{ listener, due: those }] : [];
  });
}

/** Up to so many listeners are looked up one by one, which takes a third of the planning; past it, along the index. */
const FEW_LISTENERS = 16;

/**
 * From one listener to the next along the index, so that neither those with nothing due nor a backlog count. The
 * order keeps PostgreSQL on that index: for a few rows of many it would read the table from its start.
 */
const alongTheIndex = (table: string) => `WITH RECURSIVE next (listener) AS (
    (SELECT e.listener FROM ${table} e WHERE e.state = 'waiting' ORDER BY e.listener LIMIT 1)
    UNION ALL
    SELECT (SELECT e.listener FROM ${table} e WHERE e.state = 'waiting' AND e.listener > next.listener
      ORDER BY e.listener LIMIT 1)
    FROM next WHERE next.listener IS NOT NULL),
  one AS (SELECT listener FROM next WHERE listener IS NOT NULL)`;

const ONE_BY_ONE = `WITH one AS (SELECT listener FROM json_array_elements_text($1::text::json -> 'few') AS i(listener))`;

/** How many are due, as many as are wanted at most. A row without a listener says that a lease ran out. */
function waitingOf(
  { database, events: table }: OutboxTables,
  wanted: ReadonlyMap<string, number>,
): Promise<{ listener: string | null; due: number }[]> {
  const few = wanted.size <= FEW_LISTENERS ? [...wanted.keys()] : undefined;
  return rowsOf(
    database,
    `${few ? ONE_BY_ONE : alongTheIndex(table)}
     SELECT one.listener, d.due FROM one
     CROSS JOIN LATERAL (SELECT count(*)::int AS due FROM (
       SELECT FROM ${table} e WHERE e.listener = one.listener AND e.state = 'waiting' AND e.due_at <= now()
       ORDER BY e.due_at LIMIT ($1::text::json ->> 'most')::int) those) d
     WHERE d.due > 0
     UNION ALL
     (SELECT NULL, 1 FROM ${table} e WHERE e.state = 'leased' AND e.leased_until <= now()
       ORDER BY e.leased_until LIMIT 1)`,
    { few, most: Math.max(...wanted.values()) },
  );
}

/** Fetches each listener's share and leases what may be handed out of it. */
async function lease(
  tables: OutboxTables,
  db: SqlRunner,
  shares: ReadonlyMap<string, number>,
  request: ClaimRequest,
): Promise<{ leased: LeasedRow[]; fetched: EventJob[] }> {
  const fetched: EventJob[] = [];
  for (const [listener, most] of shares) fetched.push(...(await tables.jobs.fetch(db, listener, most)));
  if (fetched.length === 0) return { leased: [], fetched };
  const leased = await leaseRows(tables, db, fetched, request, "free");
  const others = without(fetched, leased);
  if (others.length > 0) {
    await parkOthers(tables, db, others);
    leased.push(...(await leaseRows(tables, db, others, request, "keyed")));
    // Parked now, or ended while their jobs were still there.
    await tables.jobs.complete(db, without(others, leased));
  }
  return { leased, fetched };
}

/** Leases the events of fetched jobs: those with an ordering key, or those without. */
function leaseRows(
  { events: table }: OutboxTables,
  db: SqlRunner,
  fetched: readonly EventJob[],
  { leaseMs, listeners }: ClaimRequest,
  keyed: "keyed" | "free",
): Promise<LeasedRow[]> {
  return rowsOf(
    db,
    `UPDATE ${table} e SET state = 'leased', fetched = i.fetched, window_from = NULL,
       leased_until = now() + $2::text::float8 * interval '1 ms',
       attempts = e.attempts + 1, first_attempt_at = COALESCE(e.first_attempt_at, now())
     FROM json_to_recordset($1::text::json)
       AS i(id uuid, listener text, "jobId" uuid, fetched int, "windowMs" float8)
     WHERE (e.first_attempt_at IS NULL OR e.first_attempt_at >= now() - i."windowMs" * interval '1 ms') AND ${IS_INPUT} AND ${isIn("waiting", "leased")}
       AND e.ordering_key IS ${keyed === "keyed" ? "NOT NULL" : "NULL"}
     RETURNING ${EVENT_COLUMNS}, e.job_id AS "jobId", e.fetched, e.attempts AS attempt,
       e.first_attempt_at = now() AS "isFirst", e.attempts_before_redrive AS "attemptsBeforeRedrive", ${ms("e.due_at")} AS "dueAt",
       ${ms("e.first_attempt_at")} AS "firstAttemptAt", ${ms("e.enqueued_at")} AS "enqueuedAt", ${ms("now()")} AS now`,
    fetched.map((job) => ({ ...job, windowMs: listeners.get(job.listener)?.windowMs })),
    String(leaseMs),
  );
}

function without(jobs: readonly EventJob[], taken: readonly EventJob[]): EventJob[] {
  const ids = new Set(taken.map(({ jobId }) => jobId));
  return jobs.filter(({ jobId }) => !ids.has(jobId));
}

function claimedOf(row: LeasedRow, { leaseMs }: ClaimRequest): ClaimedEvent {
  const { listener, id, attempt, attemptsBeforeRedrive, firstAttemptAt, isFirst, enqueuedAt, now } = row;
  return {
    event: eventOf(row),
    lease: { listener, id, token: tokenOf(row, isFirst), expiresAt: now + leaseMs },
    attempt,
    attemptsBeforeRedrive,
    firstAttemptAt,
    sentBefore: !isFirst,
    enqueuedAt,
    now,
  };
}

/** How many to fetch of each listener: one of each in turn until the limit is reached. */
function sharesOf(due: readonly Due[], limit: number): Map<string, number> {
  const shares = new Map<string, number>();
  let left = limit;
  for (let open = due; open.length > 0 && left > 0; ) {
    const served = open.slice(0, left);
    for (const { listener } of served) shares.set(listener, (shares.get(listener) ?? 0) + 1);
    left -= served.length;
    open = open.filter(({ listener, due: all }) => (shares.get(listener) ?? 0) < all);
  }
  return shares;
}

/** One of each listener in turn, and those of one listener by how long they have been due. */
function inTurn(rows: readonly LeasedRow[], listeners: Iterable<string>): LeasedRow[] {
  const lanes = [...listeners].map((name) =>
    rows.filter(({ listener }) => listener === name).sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq),
  );
  const deepest = Math.max(0, ...lanes.map(({ length }) => length));
  return Array.from({ length: deepest }, (_, depth) => lanes.flatMap((lane) => lane[depth] ?? [])).flat();
}
