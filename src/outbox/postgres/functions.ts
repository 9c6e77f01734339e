// The SQL functions that workers call all the time.
import { blocksRead, lookBelowFunction, passedSql, raiseFloors, SLOW_BLOCKS } from "./floor.js";
import { MAX_ATTEMPTS, type OutboxNames, OWN_NAMES } from "./names.js";
import { ofKey } from "./order.js";
import { bodyOf, ms } from "./rows.js";

/*
 * The functions of the tables that workers call all the time. Functions and not statements, because PostgreSQL keeps the
 * plans of a function's statements on each connection: planning them was most of what a claim cost that finds nothing.
 */

/** How many advisory locks there are for all listeners. */
const LOCKS = 1_024;

/** What a claim wants of a listener, as a row of the function's argument. */
export interface WantedRow {
  readonly place: number;
  readonly listener: string;
  readonly most: number;
  readonly window_ms: number;
  readonly concurrency: number | undefined;
  readonly per_second: number | undefined;
  readonly burst: number;
}

/** `since` is the time from which on the listener's due events are, which a claim finds out first. */
const WANTED = `w(place int, listener text, most int, window_ms float8, concurrency int, per_second float8, burst float8,
  since timestamptz)`;

/** A subquery by the primary key: true if the listener is paused or rests. */
function isHeld({ listener }: OutboxNames, name: string): string {
  return `(SELECT h.paused_at IS NOT NULL OR h.rest_until > now() FROM ${listener} h WHERE h.name = ${name})`;
}

const HEAD = `LANGUAGE plpgsql ${OWN_NAMES} SET plan_cache_mode = force_generic_plan`;

export function workerFunctions(names: OutboxNames): string {
  return `${claimFunction(names)}${unsettledBefore(names)}${lookBelowFunction(names)}`;
}

/** `claim(wanted, most, lease_ms, new_token)` leases events, and gives each as a `ClaimedRow`. */
export function claimFunction(names: OutboxNames): string {
  const columns = CLAIMED.map(([name, type]) => `${name} ${type}`).join();
  return `
    CREATE OR REPLACE FUNCTION ${names.schema}.claim(wanted json, most int, lease_ms float8, new_token uuid)
    RETURNS TABLE (${columns}) ${HEAD} AS $claim$
    #variable_conflict use_column
    DECLARE
      mine json;
      passed json;
      read_before bigint := ${blocksRead(names)};
    BEGIN
      IF EXISTS (SELECT FROM ${names.floor}) THEN
        ${dueSql(names, atFloor(names))}
      ELSE
        ${dueSql(names, "")}
      END IF;
      IF ${blocksRead(names)} - read_before > ${SLOW_BLOCKS} THEN
        read_before := ${blocksRead(names)};
        passed := (${passedSql(names, `json_to_recordset($1) AS ${WANTED}`, "read_before")});
        ${raiseFloors(names)}
      END IF;
      IF mine IS NULL THEN
        RETURN;
      END IF;
      RETURN QUERY ${claimSql(names)};
    END $claim$;`;
}

/**
 * Notes for the next statement which of the listeners have due events and are not held, and locks each: limits over all
 * workers are kept by counting, and what is counted must not change meanwhile. The statement after it sees everything
 * that was committed before the lock was given. Listeners that another worker is claiming from are left out, unless
 * there are no others: then it waits for them.
 */
function dueSql(names: OutboxNames, fromFloor: string): string {
  const { event, claimLock } = names;
  return `WITH due AS MATERIALIZED (
        SELECT w.place, w.listener, w.most, w.window_ms, w.concurrency, w.per_second, w.burst, next.due_at AS since
        FROM json_to_recordset($1) AS ${WANTED}
        CROSS JOIN LATERAL (
          SELECT n.due_at FROM ${event} n WHERE n.state = 'waiting' AND n.listener = w.listener ${fromFloor}
          ORDER BY n.due_at LIMIT 1) next
        WHERE next.due_at <= now() AND ${isHeld(names, "w.listener")} IS NOT TRUE),
      -- In one order, so that two workers cannot wait for each other.
      keys AS MATERIALIZED (SELECT DISTINCT hashtext(listener) & ${LOCKS - 1} AS key FROM due ORDER BY 1),
      free AS MATERIALIZED (SELECT key FROM keys WHERE pg_try_advisory_xact_lock(${claimLock}, key)),
      late AS MATERIALIZED (
        SELECT key, pg_advisory_xact_lock(${claimLock}, key)::text FROM keys WHERE NOT EXISTS (SELECT FROM free)),
      own AS (
        SELECT d.* FROM due d
        WHERE hashtext(d.listener) & ${LOCKS - 1} IN (SELECT key FROM free UNION ALL SELECT key FROM late))
      SELECT json_agg(own) INTO mine FROM own;`;
}

/** The condition on a waiting event `n` of the listener that it stands at the floor or above. */
function atFloor({ floor }: OutboxNames): string {
  return `AND n.due_at >= coalesce((SELECT f.due_from FROM ${floor} f WHERE f.listener = w.listener), '-infinity')`;
}

/** The columns of a claimed event: the name in `ClaimedRow`, its type, and what it is. */
const CLAIMED: readonly (readonly [name: string, type: string, value: (names: OutboxNames) => string])[] = [
  ["id", "uuid", () => "e.id"],
  ["listener", "text", () => "e.listener"],
  ["body", "bytea", bodyOf],
  ["digest", "text", () => "e.digest"],
  ["ordering_key", "text", () => "e.ordering_key"],
  ["traceparent", "text", () => "e.traceparent"],
  ["encryption_key_id", "text", () => "e.encryption_key_id"],
  ["seq", "float8", () => "e.seq::float8"],
  ["token", "uuid", () => "e.token"],
  ["attempts", "int", () => "e.attempts"],
  ["attempts_before_redrive", "int", () => "e.attempts_before_redrive"],
  // By another time than this claim's: after the clock was put back, one of before lies ahead.
  ["sent_before", "boolean", () => "e.first_attempt_at <> now()"],
  ["first_attempt_at", "float8", () => ms("e.first_attempt_at")],
  ["enqueued_at", "float8", () => ms("e.enqueued_at")],
  ["due_at", "float8", () => ms("e.due_at")],
  ["now", "float8", () => ms("now()")],
  ["leased_until", "float8", () => ms("e.leased_until")],
  ["share", "int", () => "(SELECT one.share FROM one)"],
];

function claimSql(names: OutboxNames): string {
  const { event, listener: table } = names;
  // See `allowedBy` and `paceAfter`, which are the same in TypeScript.
  const ahead = "date_part('epoch', h.pace - now()) * w.per_second";
  return `WITH due AS MATERIALIZED (
        SELECT w.*, p.pace, least(w.most, CASE WHEN w.concurrency IS NOT NULL THEN w.concurrency - (
            SELECT count(*) FROM ${event} l WHERE l.listener = w.listener AND l.state = 'leased'
              AND l.token IS NOT NULL AND l.leased_until > now()) END,
          floor(w.burst - w.per_second * date_part('epoch', p.pace - now()) + 1e-6))::int AS room
        FROM json_to_recordset(mine) AS ${WANTED}
        CROSS JOIN LATERAL (SELECT coalesce((
          SELECT h.pace FROM ${table} h
          WHERE h.name = w.listener AND h.pace > now() AND ${ahead} <= w.burst + 1), now()) AS pace) p
        ORDER BY w.place),
      one AS MATERIALIZED (SELECT ceil($2 / greatest(1, count(*))::float8)::int AS share FROM due WHERE room > 0),
      taken AS MATERIALIZED (
        SELECT t.ctid, due.listener, due.pace, due.per_second FROM due CROSS JOIN one CROSS JOIN LATERAL (
          SELECT e.ctid FROM ${event} e
          WHERE e.listener = due.listener AND e.state = 'waiting' AND e.due_at >= due.since AND e.due_at <= now()
            AND (e.first_attempt_at IS NULL
              OR e.first_attempt_at >= now() - due.window_ms * interval '1 ms')
            AND (e.ordering_key IS NULL OR NOT EXISTS (
              SELECT FROM ${event} n WHERE ${ofKey(names, "n", "e", "new")} AND n.seq < e.seq))
          ORDER BY e.due_at, e.seq LIMIT least(due.room, one.share) FOR UPDATE SKIP LOCKED) t
        WHERE due.room > 0 LIMIT $2),
      paced AS (
        INSERT INTO ${table} (name, pace)
        SELECT listener, pace + count(*) / per_second * interval '1 s' FROM taken WHERE per_second IS NOT NULL
        GROUP BY listener, pace, per_second
        ON CONFLICT (name) DO UPDATE SET pace = excluded.pace)
      UPDATE ${event} e SET state = 'leased', token = $4, claimed_at = now(),
        leased_until = now() + $3 * interval '1 ms', attempts = least(e.attempts + 1, ${MAX_ATTEMPTS}),
        first_attempt_at = coalesce(e.first_attempt_at, now())
      WHERE e.ctid = ANY (ARRAY(SELECT ctid FROM taken))
      RETURNING ${CLAIMED.map(([, , value]) => value(names)).join(", ")}`;
}

/** `unsettled(since)` of workers of version 2 and before; since then it is another one: see looks.ts. */
function unsettledBefore(names: OutboxNames): string {
  const { schema, event, floor } = names;
  return `
    CREATE FUNCTION ${schema}.unsettled(since timestamptz, OUT expired boolean, OUT other boolean, OUT read bigint,
      OUT below boolean)
    ${HEAD} AS $unsettled$
    BEGIN
      read := ${blocksRead(names)};
      SELECT (SELECT EXISTS (SELECT FROM ${event} WHERE state = 'leased' AND leased_until > $1 AND leased_until <= now())), (SELECT EXISTS (SELECT FROM ${event} WHERE state = 'later' AND due_at <= now())
    OR EXISTS (SELECT FROM ${event} WHERE state = 'new')), EXISTS (SELECT FROM ${floor} WHERE look_at <= now())
        INTO expired, other, below;
      read := ${blocksRead(names)} - read;
    END $unsettled$;`;
}
