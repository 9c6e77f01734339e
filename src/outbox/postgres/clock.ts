// Lets go on what waits in PostgreSQL when its clock is put back.
import { type Database, rowsOf } from "../../postgres/database.js";
import { CLOCK_AHEAD_MS, CLOCK_SEEN_MS, CLOCK_STEP_MS, CLOCK_UNSEEN_MS } from "../engine.js";
import type { OutboxNames } from "./names.js";
import { ms } from "./rows.js";

/** How many blocks of the table one statement goes over: some 20,000 events, a few milliseconds. */
const BLOCKS = 500;

/** A time that was given as `deliver_at`, of an event that was never tried. */
const KEEPS_TIME = "(e.attempts = 0 AND e.attempts_before_redrive = 0 AND e.ready_at > e.enqueued_at)";

const AHEAD = `now() + ${CLOCK_AHEAD_MS} * interval '1 ms'`;

/** Events that were written before the clock was put back, or became due again then. */
const STALE = `e.ended_at IS NULL AND (e.enqueued_at > ${AHEAD} OR e.claimed_at > ${AHEAD} OR e.first_attempt_at > ${AHEAD}
  OR e.due_at > ${AHEAD} AND e.state <> 'leased' AND e.attempts = e.attempts_before_redrive
    AND (NOT ${KEEPS_TIME} OR e.due_at > e.ready_at))`;

/** `least` would give the other one where one is null. */
const past = (column: string) => `${column} = CASE WHEN e.${column} > now() THEN now() ELSE e.${column} END`;

/** Where the claim is the first attempt, both have one time: `release` knows by that whether there was one before. */
const FIRST = `first_attempt_at = CASE WHEN e.first_attempt_at > now() AND e.first_attempt_at < e.claimed_at
    THEN now() - interval '1 us' WHEN e.first_attempt_at > now() THEN now() ELSE e.first_attempt_at END`;

const FOLLOWED = `${past("enqueued_at")}, ${past("claimed_at")}, ${FIRST},
  ready_at = CASE WHEN ${KEEPS_TIME} THEN e.ready_at ELSE least(e.ready_at, now()) END,
  leased_until = CASE WHEN e.claimed_at > ${AHEAD} THEN now() + (e.leased_until - e.claimed_at) ELSE e.leased_until END,
  due_at = CASE WHEN e.state <> 'leased' AND ${KEEPS_TIME} THEN e.ready_at
    WHEN e.state <> 'leased' AND e.attempts > e.attempts_before_redrive
      THEN CASE WHEN e.claimed_at > ${AHEAD} THEN now() + greatest(e.due_at - e.claimed_at, interval '0') ELSE e.due_at END
    ELSE least(e.due_at, now()) END`;

/** The first block of each part of the table. */
async function partsOf(database: Database, event: string): Promise<number[]> {
  const [size] = await database.read<{ blocks: number }>(
    `SELECT (pg_relation_size('${event}'::regclass) / current_setting('block_size')::int)::float8 AS blocks`,
  );
  return Array.from({ length: Math.ceil((size?.blocks ?? 0) / BLOCKS) }, (_, part) => part * BLOCKS);
}

/** Whether a row is in the part of the table that begins with this block. */
const isIn = (from: number) => `e.ctid >= '(${from},0)'::tid AND e.ctid < '(${from + BLOCKS},0)'::tid`;

/** Takes for seen what the clock was when something was last noted of a listener or of what has not ended. */
async function seeWhatWasNoted(database: Database, { event, listener, clock }: OutboxNames): Promise<void> {
  const see = (last: string, from: string) =>
    database.script([
      `UPDATE ${clock} c SET seen_at = noted.at FROM (SELECT max(${last}) AS at FROM ${from}) AS noted
       WHERE noted.at > c.seen_at AND noted.at - now() > ${CLOCK_STEP_MS} * interval '1 ms'`,
    ]);
  await see("greatest(rested_at, unknown_since, paused_at)", listener);
  const last = `greatest(e.enqueued_at, e.claimed_at, e.first_attempt_at,
    CASE WHEN e.attempts > 0 AND e.attempts = e.attempts_before_redrive THEN e.due_at END)`; // when it was redriven
  for (const from of await partsOf(database, event))
    await see(last, `${event} e WHERE ${isIn(from)} AND e.ended_at IS NULL`);
}

/** See `OutboxStore.followClock`. */
export function clockFollower(database: Database, names: OutboxNames): () => Promise<number> {
  const { event, listener, floor, clock } = names;
  const isBack = `seen_at - now() > ${CLOCK_STEP_MS} * interval '1 ms'`;

  /** Resolves to how many events could not be changed because somebody else has them. */
  async function followPart(from: number): Promise<number> {
    const results = await database.script([
      `WITH stale AS MATERIALIZED (
         SELECT e.ctid FROM ${event} e
         WHERE ${isIn(from)} AND ${STALE}),
       free AS MATERIALIZED (
         SELECT e.ctid FROM ${event} e WHERE e.ctid = ANY (ARRAY(SELECT ctid FROM stale)) FOR UPDATE SKIP LOCKED),
       done AS (
         UPDATE ${event} e SET ${FOLLOWED} WHERE e.ctid = ANY (ARRAY(SELECT ctid FROM free)) RETURNING 1)
       SELECT ((SELECT count(*) FROM stale) - (SELECT count(*) FROM done))::int AS held`,
    ]);
    const [row] = results.at(-1) as { held: number }[];
    return row?.held ?? 0;
  }

  async function followEvents(): Promise<number> {
    let held = 0;
    for (const from of await partsOf(database, event)) held += await followPart(from);
    return held;
  }

  /** Moves what listeners wait for by as much as the clock was put back: with the mark, so that it happens once. */
  function followListeners(): Promise<number> {
    const follow = (column: string) => `${column} = CASE WHEN h.${column} > c.seen_at
      THEN h.${column} - (c.seen_at - now()) WHEN h.${column} > now() THEN now() ELSE h.${column} END`;
    return database.transaction(async (client) => {
      const back = `SELECT ${ms("seen_at - now()")} AS back FROM ${clock} WHERE ${isBack} FOR UPDATE`;
      const [row] = rowsOf<{ back: number }>(await client.query(back));
      if (!row) return 0;
      await client.query(`UPDATE ${listener} h SET ${follow("unknown_until")},
          rest_until = CASE WHEN h.rested_at > now() THEN h.rest_until - (h.rested_at - now()) ELSE h.rest_until END,
          rested_at = CASE WHEN h.rested_at > now() THEN now() ELSE h.rested_at END,
          unknown_since = CASE WHEN h.unknown_since > now() THEN now() ELSE h.unknown_since END,
          paused_at = CASE WHEN h.paused_at > now() THEN now() ELSE h.paused_at END
        FROM ${clock} c WHERE greatest(h.rested_at, h.unknown_until, h.unknown_since, h.paused_at) > now()`);
      // What stood at a floor of before stands below the next one, as if it had been committed late.
      await client.query(`UPDATE ${floor} SET due_from = '-infinity', bounds = '{}', look_at = 'infinity'`);
      await client.query(`UPDATE ${clock} SET seen_at = now()`);
      return row.back;
    });
  }

  const isOlder = (ms: number) => `now() - seen_at > ${ms} * interval '1 ms'`;
  const look = () =>
    database.read<{ back: boolean; old: boolean; unseen: boolean }>(
      `SELECT ${isBack} AS back, ${isOlder(CLOCK_SEEN_MS)} AS old, ${isOlder(CLOCK_UNSEEN_MS)} AS unseen FROM ${clock}`,
    );

  return async () => {
    let [seen] = await look();
    if (seen?.unseen) {
      await seeWhatWasNoted(database, names);
      [seen] = await look();
    }
    if (seen?.old) await database.script([`UPDATE ${clock} SET seen_at = now() WHERE seen_at < now()`]);
    if (!seen?.back || (await followEvents()) > 0) return 0;
    return followListeners();
  };
}
