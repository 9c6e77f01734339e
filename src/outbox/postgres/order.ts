import type { OutboxNames } from "./schema.js";

/*
 * Of an ordering key one event at a time waits or is leased: its head. The others are parked. Whoever enqueues
 * decides nothing and waits for nobody, as its transaction may be long: the event is `new`, and so is one whose
 * lease ended otherwise than by its end. Workers place what is new, and pass a key on when its head ends, both
 * under one lock; so neither misses what the other one does. Statements after the lock see all that was committed
 * before it, as the level is read committed.
 */

/** How many new events are placed at once. */
const PLACED = 2_000;

/** What is not over of an ordering key, in one state: along the index of keys, and no other. */
export function ofKey(row: string, key: string, state: string): string {
  return `${row}.listener = ${key}.listener AND ${row}.ordering_key = ${key}.ordering_key
    AND (${row}.ended_at IS NULL OR ${row}.blocks_key) AND (${row}.state || '') = '${state}'`;
}

/** The number of a key's first event in a state; null if there is none. */
function firstOf(event: string, key: string, state: string): string {
  return `(SELECT f.seq FROM ${event} f WHERE ${ofKey("f", key, state)} ORDER BY f.seq LIMIT 1)`;
}

/** The keys that a statement noted for those after it in its transaction. */
const NOTED = `json_to_recordset(current_setting('hookproof.keys')::json) AS k(listener text, ordering_key text)`;

/** An expression that notes the ordering keys of a query's rows. */
export function noteKeys(from: string): string {
  return `set_config('hookproof.keys', coalesce((SELECT json_agg(DISTINCT jsonb_build_object(
    'listener', listener, 'ordering_key', ordering_key)) FROM ${from})::text, '[]'), true)`;
}

export function lockOrder({ orderLock }: OutboxNames): string {
  return `SELECT pg_advisory_xact_lock(${orderLock})`;
}

/** Lets the next event of each noted key wait for a worker, if none does and none is leased. */
export function passOn({ event }: OutboxNames): string {
  return `UPDATE ${event} e SET state = 'waiting' FROM (
      SELECT p.ctid FROM ${NOTED} CROSS JOIN LATERAL (
        SELECT p.ctid, p.seq FROM ${event} p WHERE ${ofKey("p", "k", "parked")} ORDER BY p.seq LIMIT 1) p
      WHERE ${firstOf(event, "k", "waiting")} IS NULL AND ${firstOf(event, "k", "leased")} IS NULL
        AND coalesce(${firstOf(event, "k", "dead")} > p.seq, true)) next
    WHERE e.ctid = next.ctid AND e.state = 'parked'`;
}

/** Makes events whose lease ran out due again. */
function takeOver({ event }: OutboxNames): string {
  return `UPDATE ${event} e SET ${GIVEN_BACK} WHERE e.ctid = ANY (ARRAY(
    SELECT l.ctid FROM ${event} l WHERE l.state = 'leased' AND l.leased_until <= now()
    ORDER BY l.leased_until LIMIT ${PLACED} FOR UPDATE SKIP LOCKED))`;
}

/** What becomes of an event that is leased no longer. */
export const GIVEN_BACK = `state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END, leased_until = NULL`;

/**
 * Makes events due again whose lease ran out, and gives new ones their place: at the head of their key, or behind it.
 * The lock comes first: who has it may be about to change the same events.
 */
export function settle(names: OutboxNames, ...before: readonly string[]): string[] {
  const { event } = names;
  const place = `WITH fresh AS MATERIALIZED (
      SELECT ctid, listener, ordering_key, seq FROM ${event} WHERE state = 'new' ORDER BY seq LIMIT ${PLACED}
      FOR UPDATE SKIP LOCKED),
    keys AS MATERIALIZED (
      SELECT k.*, ${firstOf(event, "k", "waiting")} IS NOT NULL OR ${firstOf(event, "k", "leased")} IS NOT NULL
        OR coalesce(least(${firstOf(event, "k", "parked")}, ${firstOf(event, "k", "dead")}) < k.first, false) AS behind
      FROM (SELECT listener, ordering_key, min(seq) AS first FROM fresh GROUP BY listener, ordering_key) k),
    placed AS (
      UPDATE ${event} e SET state = CASE WHEN f.seq = k.first AND NOT k.behind THEN 'waiting' ELSE 'parked' END
      FROM fresh f JOIN keys k ON k.listener = f.listener AND k.ordering_key = f.ordering_key
      WHERE e.ctid = f.ctid)
    SELECT ${noteKeys("keys WHERE behind")}`;
  // Only what was redriven to its place, or committed late, is before a head that waits.
  const giveWay = `UPDATE ${event} e SET state = 'parked' FROM ${NOTED}
    CROSS JOIN LATERAL (
      SELECT h.ctid FROM ${event} h WHERE ${ofKey("h", "k", "waiting")}
        AND h.seq > ${firstOf(event, "k", "parked")} LIMIT 1) head
    WHERE e.ctid = head.ctid AND e.state = 'waiting'`;
  return [lockOrder(names), ...before, takeOver(names), place, giveWay, passOn(names)];
}
