// Keeps the order of ordering keys in PostgreSQL.
import { LATER_MS, type State } from "../engine.js";
import { aboveFloor, blocksRead } from "./floor.js";
import { fromKeyFloor, lowerKeyFloors, raiseKeyFloors, SLOW_KEY_BLOCKS } from "./key-floor.js";
import { FROM_FIRST, type From, LATER_OF_ALL } from "./looks.js";
import { type OutboxNames, OWN_NAMES } from "./names.js";

/*
 * Of each ordering key one event at a time is waiting, aside or leased: its head. The others are parked. A transaction that
 * enqueues may be long, so it decides nothing about the order and waits for no lock: a keyed event is `new`, and it is
 * `new` again when it is rescheduled, released, or its lease expires. Workers give new events their place, and let the
 * next event wait when the head ends. Both happen under one lock, so neither misses a change by the other: at READ
 * COMMITTED, statements after the lock see everything that was committed before it.
 */

/** Where an event of a key is that has not ended, or ended so that it blocks its key. */
export const OF_KEYS: readonly State[] = ["new", "parked", "waiting", "aside", "leased", "dead"];

/** Where the head of a key is. */
const HEADS: readonly State[] = ["waiting", "aside", "leased"];

/** How many new events one call of `settle` gives their place. */
const PLACED = 2_000;

/** Matches a key's unfinished or blocking events in one state; written for the index of keys and no other. */
export function ofKey(names: OutboxNames, row: string, key: string, state: State): string {
  return `${row}.listener = ${key}.listener AND ${row}.ordering_key = ${key}.ordering_key
    AND (${row}.ended_at IS NULL OR ${row}.blocks_key) AND (${row}.state || '') = '${state}'
    AND ${row}.seq >= ${fromKeyFloor(names, key)}`;
}

/** The `seq` of a key's first event in a state; null if there is none. */
function firstOf(names: OutboxNames, key: string, state: State): string {
  return `(SELECT f.seq FROM ${names.event} f WHERE ${ofKey(names, "f", key, state)} ORDER BY f.seq LIMIT 1)`;
}

/** Whether events of a row's key wait behind it, if it is a dead letter that blocks its key. */
export function holdsUp(names: OutboxNames, row: string): string {
  const waits = OF_KEYS.filter((state) => state !== "dead").map(
    (state) =>
      `EXISTS (SELECT FROM ${names.event} w WHERE ${ofKey(names, "w", row, state)} AND w.seq > ${row}.seq)`,
  );
  return `(${row}.blocks_key AND ${row}.ordering_key IS NOT NULL AND (${waits.join(" OR ")}))`;
}

/** The keys that an earlier statement of the transaction noted, each with the last `seq` of its rows. */
const NOTED =
  "json_to_recordset(current_setting('hookproof.keys')::json) AS k(listener text, ordering_key text, seq bigint)";

/** An expression that notes the ordering keys of a query's rows for later statements of the transaction. */
export function noteKeys(from: string): string {
  return `set_config('hookproof.keys', coalesce((SELECT json_agg(noted) FROM (
    SELECT listener, ordering_key, max(seq) AS seq FROM ${from} GROUP BY listener, ordering_key) noted)::text, '[]'), true)`;
}

export function lockOrder({ orderLock }: OutboxNames): string {
  return `SELECT pg_advisory_xact_lock(${orderLock})`;
}

/** Whether an ordering key has a head. */
function hasHead(names: OutboxNames): string {
  return `coalesce(${HEADS.map((state) => firstOf(names, "k", state)).join(", ")}) IS NOT NULL`;
}

/** Makes the next event of each noted key `waiting`, unless the key has a head. */
export function passOn({ schema }: OutboxNames): string {
  return `SELECT ${schema}.pass_on()`;
}

/** `pass_on()`: a function, because it counts what it reads. */
export function passOnFunction(names: OutboxNames): string {
  const { schema, event } = names;
  return `
    CREATE FUNCTION ${schema}.pass_on() RETURNS void LANGUAGE plpgsql ${OWN_NAMES}
    SET plan_cache_mode = force_generic_plan AS $pass_on$
    DECLARE
      read_before bigint := ${blocksRead(names)};
    BEGIN
      UPDATE ${event} e SET state = 'waiting', due_at = ${aboveFloor(names)} FROM (
        SELECT p.ctid FROM ${NOTED} CROSS JOIN LATERAL (
          SELECT p.ctid, p.seq FROM ${event} p WHERE ${ofKey(names, "p", "k", "parked")} ORDER BY p.seq LIMIT 1) p
        WHERE NOT (${hasHead(names)})
          AND coalesce(${firstOf(names, "k", "dead")} > p.seq, true)) next
      WHERE e.ctid = next.ctid AND e.state = 'parked';
      IF ${blocksRead(names)} - read_before > ${SLOW_KEY_BLOCKS} THEN
        ${raiseKeyFloors(
          names,
          NOTED,
          OF_KEYS.map((state) => firstOf(names, "k", state)),
        )}
      END IF;
    END $pass_on$;`;
}

/** The state of an event that may be claimed at `due`, an SQL expression. */
export function openState(key: string, due: string): string {
  const isLater = `${due} > now() + ${LATER_MS} * interval '1 ms'`;
  return `CASE WHEN ${key} IS NOT NULL THEN 'new' WHEN ${isLater} THEN 'later' ELSE 'waiting' END`;
}

/** Makes events due again whose lease has expired. */
function endLeases(names: OutboxNames, after: string): string {
  const { event } = names;
  return `UPDATE ${event} e SET ${givenBack(names)} WHERE e.ctid = ANY (ARRAY(
    SELECT l.ctid FROM ${event} l WHERE l.state = 'leased' AND l.leased_until > ${after} AND l.leased_until <= now()
    ORDER BY l.leased_until LIMIT ${PLACED} FOR UPDATE SKIP LOCKED))`;
}

/** Events that were put off and are due now join those that may be claimed. */
function ripen(names: OutboxNames, after: string): string {
  const { event } = names;
  return `UPDATE ${event} e SET state = 'waiting', due_at = ${aboveFloor(names)} WHERE e.ctid = ANY (ARRAY(
    SELECT l.ctid FROM ${event} l WHERE ${LATER_OF_ALL} AND l.due_at > ${after} AND l.due_at <= now()
    ORDER BY l.due_at LIMIT ${PLACED} FOR UPDATE SKIP LOCKED))`;
}

/** Makes an event claimable again that was leased. */
export function givenBack(names: OutboxNames): string {
  return `state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END, leased_until = NULL,
  due_at = ${aboveFloor(names)}`;
}

/**
 * Makes events due again whose lease has expired, and those whose time has come, and gives new events their place: head
 * of their key, or parked. The lock comes first, because its holder may be changing the same events.
 *
 * @param from where a look has found that they begin
 * @param before a statement that gives events back, which then are to be settled
 */
export function settle(
  names: OutboxNames,
  from: From = FROM_FIRST,
  before: readonly string[] = [],
): string[] {
  const { event } = names;
  // The rows of a key are one array, and not joined with it: how many there are is not known when the plan is made. What
  // is `new` without a key was written so by a role that enqueues; it would stand before all others for ever.
  const place = `WITH fresh AS MATERIALIZED (
      SELECT ctid, listener, ordering_key, seq FROM ${event} WHERE state = 'new' AND enqueued_at > ${from.fresh}
      ORDER BY enqueued_at LIMIT ${PLACED} FOR UPDATE SKIP LOCKED),
    keys AS MATERIALIZED (
      SELECT k.*, ${hasHead(names)} OR coalesce(least(${firstOf(names, "k", "parked")}, ${firstOf(names, "k", "dead")}) < k.seq, false) AS behind
      FROM (SELECT listener, ordering_key, min(seq) AS seq, array_agg(ctid ORDER BY seq) AS ctids
        FROM fresh GROUP BY listener, ordering_key) k),
    lowered AS (${lowerKeyFloors(names, "keys")}),
    placed AS (
      UPDATE ${event} e SET due_at = ${aboveFloor(names)},
        state = CASE WHEN k.ordering_key IS NULL OR f.place = 1 AND NOT k.behind THEN 'waiting' ELSE 'parked' END
      FROM keys k CROSS JOIN LATERAL unnest(k.ctids) WITH ORDINALITY AS f(ctid, place)
      WHERE e.ctid = f.ctid)
    SELECT ${noteKeys("keys WHERE behind AND ordering_key IS NOT NULL")}`;
  // A waiting head gives way to an event that was redriven to its old place or committed late.
  const giveWay = `UPDATE ${event} e SET state = 'parked' FROM ${NOTED}
    CROSS JOIN LATERAL (
      SELECT h.ctid FROM ${event} h WHERE ${ofKey(names, "h", "k", "waiting")}
        AND h.seq > ${firstOf(names, "k", "parked")} LIMIT 1) head
    WHERE e.ctid = head.ctid AND e.state = 'waiting'`;
  const settled = [endLeases(names, from.expired), ripen(names, from.ripe), place, giveWay, passOn(names)];
  return [lockOrder(names), ...before, ...settled];
}
