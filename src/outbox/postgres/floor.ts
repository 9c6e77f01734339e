// Keeps claims cheap while a transaction holds its snapshot, whose dead rows no vacuum removes.
import { type Database, jsonLiteral } from "../../postgres/database.js";
import { type OutboxNames, OWN_NAMES } from "./names.js";

/*
 * A claim goes along the index of waiting events, and over the entries of those that were claimed before, which stay
 * until no snapshot needs them. When it has read many blocks, it notes from which time on there are events that wait:
 * the listener's floor. Looks and claims begin there. An event that comes back stands at the floor at the earliest.
 *
 * An event may still appear below: its transaction was committed late, or had read an earlier floor. So a worker looks
 * below now and then, piece by piece: each value that the floor has had is a bound, so a piece holds about as many
 * entries as one claim went over, whatever the number of events delivered. What it finds it sets to the floor. Nothing
 * depends on who holds what, nor on the order of steps: a floor that is too high is a delay until the next look. Pieces
 * that are cheap again are joined, and when nothing dear is left below, there is no floor any more: it is -infinity, as
 * not every role of a worker may delete, and upkeep removes the row.
 */

/** So many blocks of events that a walk reads are many: about 15,000 entries. */
export const SLOW_BLOCKS = 300;

/** Where a walk over several listeners is slow, each that took more than so many blocks of it is noted. */
const NOTED_BLOCKS = SLOW_BLOCKS / 10;

/** With so many floors, only a listener that is slow by itself gets one: each is looked below in turn, and read by each claim. */
const MANY_FLOORS = 1_000;

/** A floor is at least so far below the time, so that transactions which are as short never store below it. */
const LAG_MS = 2_000;

/** A look below ends when it has read so many blocks: about 30 ms. */
const LOOK_BLOCKS = 10 * SLOW_BLOCKS;

/** Looks below take one part in so many of the time. */
const SHARE = 20;

/** How many events a look sets to the floor at once. */
const LOOK_PAGE = 1_000;

/** How many blocks of events this transaction has read; exact, where a time would depend on what else runs. */
export function blocksRead({ event }: OutboxNames): string {
  return `pg_stat_get_xact_blocks_fetched('${event}'::regclass)`;
}

/**
 * The time from which on a listener's first waiting event is looked for, of its row `low`: the floor, while workers look
 * below it. Where they do not, or a look has failed, all are looked through, so that no age is missing.
 */
export function lookedFrom(low: string): string {
  const goOn = `${low}.look_at BETWEEN now() - interval '1 min' AND now() + interval '1 min'`;
  return `CASE WHEN ${goOn} THEN ${low}.due_from ELSE '-infinity' END`;
}

/** The time at which an event that comes back stands in line. */
export function aboveFloor({ floor }: OutboxNames, due = "e.due_at"): string {
  return `greatest(${due}, (SELECT low.due_from FROM ${floor} low WHERE low.listener = e.listener))`;
}

/**
 * Notes floors, where the function `claim` has `passed` many entries. A look below that found something meanwhile wins.
 * New ones are stored in one order, so that two claims cannot wait for each other.
 */
export function raiseFloors({ floor }: OutboxNames, given = "passed"): string {
  const risen = `least(p.since, now() - ${LAG_MS} * interval '1 ms')`;
  const passed = `json_to_recordset(${given}) AS p(listener text, since timestamptz, due_from timestamptz)`;
  const soon = "clock_timestamp() + interval '1 s'";
  return `UPDATE ${floor} f SET due_from = ${risen},
          bounds = CASE WHEN f.due_from > '-infinity' THEN f.bounds || f.due_from ELSE '{}' END,
          looked_to = CASE WHEN f.due_from > '-infinity' THEN f.looked_to ELSE ${risen} END,
          noted_at = CASE WHEN f.due_from > '-infinity' THEN f.noted_at ELSE now() END,
          look_at = CASE WHEN f.look_at = 'infinity' THEN ${soon} ELSE f.look_at END FROM ${passed}
        WHERE f.listener = p.listener AND f.due_from = p.due_from AND ${risen} > p.due_from
          AND f.ctid = ANY (ARRAY(SELECT own.ctid FROM ${floor} own WHERE own.listener IN (
            SELECT q.listener FROM json_to_recordset(${given}) AS q(listener text)) FOR UPDATE SKIP LOCKED));
        INSERT INTO ${floor} (listener, due_from, bounds, looked_to, look_at, noted_at)
        SELECT p.listener, ${risen}, '{}', ${risen}, ${soon}, now() FROM ${passed}
        WHERE p.due_from IS NULL ORDER BY p.listener ON CONFLICT DO NOTHING;`;
}

/**
 * Those of the listeners `w` over whose waiting events a walk from their floors goes at length: to be noted by
 * `raiseFloors`. `before` is how many blocks had been read.
 */
export function passedSql(names: OutboxNames, listeners: string, before: string): string {
  const { event, floor } = names;
  return `WITH walked AS MATERIALIZED (
        SELECT w.place, w.listener, next.due_at AS since, low.due_from, ${blocksRead(names)} AS read
        FROM ${listeners}
        CROSS JOIN LATERAL (SELECT (SELECT f.due_from FROM ${floor} f WHERE f.listener = w.listener) OFFSET 0) low(due_from)
        LEFT JOIN LATERAL (
          SELECT n.due_at FROM ${event} n WHERE n.state = 'waiting' AND n.listener = w.listener
            AND n.due_at >= coalesce(low.due_from, '-infinity')
          ORDER BY n.due_at LIMIT 1) next ON true)
      SELECT json_agg(p) AS passed FROM (
        SELECT listener, since, due_from, read - lag(read, 1, ${before}) OVER (ORDER BY place) AS cost
        FROM walked) p WHERE p.cost > ${SLOW_BLOCKS} OR p.cost > ${NOTED_BLOCKS} AND (p.due_from IS NOT NULL
        OR (SELECT count(*) FROM (SELECT FROM ${floor} LIMIT ${MANY_FLOORS}) f) < ${MANY_FLOORS})`;
}

/** Raises the floors of those of the listeners whose walks are slow, outside the function `claim`. */
export function raiseSlowFloors(names: OutboxNames, listeners: readonly string[]): string[] {
  const given = `json_array_elements_text(${jsonLiteral(listeners)}) WITH ORDINALITY AS w(listener, place)`;
  const read = "current_setting('hookproof.read')::bigint";
  const passed = "current_setting('hookproof.passed')::json";
  return [
    `SELECT set_config('hookproof.read', ${blocksRead(names)}::text, true)`,
    `SELECT set_config('hookproof.passed', coalesce(s.passed::text, '[]'), true)
     FROM (${passedSql(names, given, read)}) s`,
    raiseFloors(names, passed),
  ];
}

/**
 * `look_below()` goes on below the floor whose turn it is: from where the last look ended, downwards, and from the bottom
 * to the floor again.
 */
export function lookBelowFunction(names: OutboxNames): string {
  const { schema, event, floor } = names;
  return `
    CREATE FUNCTION ${schema}.look_below() RETURNS void LANGUAGE plpgsql ${OWN_NAMES}
    SET plan_cache_mode = force_generic_plan AS $below$
    DECLARE
      low ${floor}%ROWTYPE;
      bottom timestamptz;
      found_here int;
      found_any boolean := false;
      began timestamptz := clock_timestamp();
      first_read bigint := ${blocksRead(names)};
      piece_read bigint := first_read;
    BEGIN
      SELECT f.* INTO low FROM ${floor} f WHERE f.look_at <= clock_timestamp()
        ORDER BY f.look_at LIMIT 1 FOR UPDATE SKIP LOCKED;
      IF low.listener IS NULL THEN
        RETURN;
      END IF;
      LOOP
        bottom := coalesce((SELECT max(b) FROM unnest(low.bounds) b WHERE b < low.looked_to), '-infinity');
        -- A claim that went over these events before must not raise the floor above them: it compares what it has read.
        UPDATE ${event} e SET due_at = low.due_from - interval '1 us' WHERE e.ctid = ANY (ARRAY(
          SELECT n.ctid FROM ${event} n WHERE n.state = 'waiting' AND n.listener = low.listener
            AND n.due_at >= bottom AND n.due_at < low.looked_to ORDER BY n.due_at LIMIT ${LOOK_PAGE} FOR UPDATE SKIP LOCKED));
        GET DIAGNOSTICS found_here = ROW_COUNT;
        found_any := found_any OR found_here > 0;
        EXIT WHEN found_here = ${LOOK_PAGE};
        IF found_here > 0 OR ${blocksRead(names)} - piece_read > ${SLOW_BLOCKS / 3} THEN
          piece_read := ${blocksRead(names)};
        ELSIF bottom > '-infinity' THEN
          low.bounds := array_remove(low.bounds, bottom);
        ELSIF low.looked_to = low.due_from THEN
          UPDATE ${floor} SET due_from = '-infinity', look_at = 'infinity', bounds = '{}' WHERE listener = low.listener;
          RETURN;
        END IF;
        low.looked_to := bottom;
        EXIT WHEN bottom = '-infinity' OR ${blocksRead(names)} - first_read > ${LOOK_BLOCKS};
      END LOOP;
      IF found_any THEN
        low.due_from := low.due_from - interval '1 us';
      END IF;
      UPDATE ${floor} SET due_from = low.due_from, bounds = low.bounds,
        looked_to = CASE WHEN low.looked_to = '-infinity' THEN low.due_from ELSE least(low.looked_to, low.due_from) END,
        look_at = clock_timestamp() + CASE WHEN low.looked_to = '-infinity' THEN interval '1 s' ELSE interval '0' END
          + ${SHARE} * (clock_timestamp() - began) * (SELECT count(*) FROM ${floor} WHERE look_at < 'infinity')
        WHERE listener = low.listener;
    END $below$;`;
}

/** Looks below floors when a claim has seen that it is time to. */
export function belowLook(database: Database, { schema, floor }: OutboxNames) {
  const putOff = `UPDATE ${floor} SET look_at = clock_timestamp() + interval '5 min' WHERE look_at <= clock_timestamp()`;
  let isDue = false;
  return {
    saw(below: boolean | undefined): void {
      isDue = below ?? false;
    },
    async look(): Promise<void> {
      if (!isDue) return;
      isDue = false;
      // Where it does not end in time it would fail ahead of each claim; where the put-off fails too, the claim tells why.
      await database
        .script([`SELECT ${schema}.look_below()`])
        .catch(() => database.script([putOff]).catch(() => {}));
    },
  };
}
