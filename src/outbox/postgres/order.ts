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

/** Everything of an ordering key that is not over, along one index. */
export const ofKey = (row: string, key: string) =>
  `${row}.listener = ${key}.listener AND ${row}.ordering_key = ${key}.ordering_key
    AND (${row}.ended_at IS NULL OR ${row}.blocks_key)`;

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
  return `UPDATE ${event} e SET state = 'waiting' FROM ${NOTED}
    CROSS JOIN LATERAL (
      SELECT p.seq FROM ${event} p WHERE ${ofKey("p", "k")} AND p.state = 'parked' ORDER BY p.seq LIMIT 1) next
    WHERE ${ofKey("e", "k")} AND e.state = 'parked' AND e.seq = next.seq
      AND NOT EXISTS (SELECT FROM ${event} h WHERE ${ofKey("h", "k")} AND h.state IN ('waiting', 'leased'))
      AND NOT EXISTS (
        SELECT FROM ${event} h WHERE ${ofKey("h", "k")} AND h.state = 'dead' AND h.seq < next.seq)`;
}

/** Makes events whose lease ran out due again. */
export function takeOver({ event }: OutboxNames): string {
  return `UPDATE ${event} e SET ${GIVEN_BACK} WHERE e.ctid = ANY (ARRAY(
    SELECT l.ctid FROM ${event} l WHERE l.state = 'leased' AND l.leased_until <= now()
    ORDER BY l.leased_until LIMIT ${PLACED} FOR UPDATE SKIP LOCKED))`;
}

/** What becomes of an event that is leased no longer. */
export const GIVEN_BACK = `state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END, leased_until = NULL`;

/** Gives new events their place: at the head of their key, or behind it. */
export function placeNew(names: OutboxNames): string[] {
  const { event } = names;
  const place = `WITH fresh AS MATERIALIZED (
      SELECT listener, ordering_key, seq FROM ${event} WHERE state = 'new' ORDER BY seq LIMIT ${PLACED}
      FOR UPDATE SKIP LOCKED),
    keys AS MATERIALIZED (
      SELECT k.*, EXISTS (SELECT FROM ${event} h WHERE ${ofKey("h", "k")} AND h.state IN ('waiting', 'leased'))
          OR EXISTS (SELECT FROM ${event} h WHERE ${ofKey("h", "k")} AND h.state IN ('parked', 'dead')
            AND h.seq < k.first) AS behind
      FROM (SELECT listener, ordering_key, min(seq) AS first FROM fresh GROUP BY listener, ordering_key) k),
    placed AS (
      UPDATE ${event} e SET state = CASE WHEN f.seq = k.first AND NOT k.behind THEN 'waiting' ELSE 'parked' END
      FROM fresh f JOIN keys k ON k.listener = f.listener AND k.ordering_key = f.ordering_key
      WHERE ${ofKey("e", "f")} AND e.state = 'new' AND e.seq = f.seq)
    SELECT ${noteKeys("keys WHERE behind")}`;
  // Only what was redriven to its place, or committed late, is before a head that waits.
  const giveWay = `UPDATE ${event} e SET state = 'parked' FROM ${NOTED}
    WHERE ${ofKey("e", "k")} AND e.state = 'waiting' AND EXISTS (
      SELECT FROM ${event} p WHERE ${ofKey("p", "k")} AND p.state = 'parked' AND p.seq < e.seq)`;
  return [lockOrder(names), place, giveWay, passOn(names)];
}
