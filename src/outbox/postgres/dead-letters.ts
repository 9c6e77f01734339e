// Dead letters, expiry and removal in PostgreSQL.
import { isEventId, newEventId } from "../../core/event.js";
import { type Database, jsonLiteral, literal, rowsOf } from "../../postgres/database.js";
import { CHANGE_KEPT_MS, SHARED_BODY_MS } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  DropOptions,
  ExpiredEvent,
  RedriveOptions,
  RedriveResult,
} from "../records.js";
import { forgetKeyFloors, lowerKeyFloors } from "./key-floor.js";
import { FAILED } from "./leases.js";
import { looks, type Seen } from "./looks.js";
import { MOST_COUNT, type OutboxNames } from "./names.js";
import { holdsUp, lockOrder, noteKeys, passOn, settle } from "./order.js";
import { bodyOf, type DeadRow, deadColumns, deadLetter, ms } from "./rows.js";
import { IS_BEHIND } from "./schema.js";

/** How many dead letters one transaction changes, and one query reads. */
const PAGE = 500;

const FITS = `e.state = 'dead' AND (f.listener IS NULL OR e.listener = f.listener)
  AND (f.ids IS NULL OR e.id = ANY (f.ids)) AND (f.reason IS NULL OR e.reason = f.reason)
  AND (f.code IS NULL OR e.code = f.code) AND (f.before IS NULL OR e.ended_at < to_timestamp(f.before / 1000))
  AND (f.after_time IS NULL OR (e.ended_at, e.seq) > (f.after_time, f.after_seq))`;

const IN_WINDOW = `(f.new_ids OR e.first_attempt_at IS NULL
  OR e.first_attempt_at >= now() - f.window_ms * interval '1 ms')`;

/** What can be done with dead letters; see `OutboxStore`. */
export interface DeadLetters {
  list(filter: DeadLetterFilter, limit: number): AsyncGenerator<DeadLetter>;
  redrive(filter: DeadLetterFilter, windowMs: number, options: RedriveOptions): Promise<RedriveResult>;
  drop(filter: DeadLetterFilter, options: DropOptions): Promise<number>;
}

export function deadLetters(database: Database, names: OutboxNames): DeadLetters {
  const { event, tally } = names;

  /** How many dead letters are inside their window, and how many past it. */
  async function count(filter: DeadLetterFilter, windowMs = 0, newIds = true): Promise<[number, number]> {
    const [row] = await database.read<{ inside: number; all: number }>(
      `SELECT count(*) FILTER (WHERE ${IN_WINDOW})::float8 AS inside, count(*)::float8 AS all
       FROM ${filterSql(filter, { window_ms: windowMs, new_ids: newIds })} JOIN ${event} e ON ${FITS}`,
    );
    const { inside = 0, all = 0 } = row ?? {};
    return [inside, all - inside];
  }

  /** Makes up to `most` dead letters pending again; resolves to how many. */
  function revive(wanted: string, { place = "end", newIds }: RedriveOptions, most: number): Promise<number> {
    const name = newIds ? `id = i.new_id, body = ${bodyOf(names)}, first_attempt_at = NULL,` : "";
    return database.transaction(async (client) => {
      const dead = rowsOf<{ id: string; listener: string }>(
        await client.query(
          `SELECT e.id, e.listener FROM ${wanted} JOIN ${event} e ON ${FITS} WHERE ${IN_WINDOW}
           ORDER BY e.ended_at, e.seq LIMIT ${most} FOR UPDATE OF e SKIP LOCKED`,
        ),
      );
      if (dead.length === 0) return 0;
      const input = dead.map((row, index) => ({
        ...row,
        place: index,
        new_id: newIds ? newEventId() : null,
      }));
      // Keyed events are placed again, in the order of their `seq`.
      await client.query(
        `WITH revived AS (
           UPDATE ${event} e SET state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END,
             ${name} ${place === "end" ? "seq = DEFAULT," : ""} due_at = now(), attempts_before_redrive = e.attempts,
             ended_at = NULL, reason = NULL, code = NULL, blocks_key = false
           FROM (SELECT * FROM json_to_recordset($1::text::json) AS r(place int, id uuid, listener text, new_id uuid)
             ORDER BY place) i
           WHERE e.id = i.id AND e.listener = i.listener RETURNING e.listener, e.ordering_key, e.seq),
         firsts AS (SELECT listener, ordering_key, min(seq) AS seq FROM revived GROUP BY listener, ordering_key),
         lowered AS (${lowerKeyFloors(names, "firsts")})
         INSERT INTO ${tally} SELECT listener, count(*), 0, -count(*) FROM revived GROUP BY listener`,
        [JSON.stringify(input)],
      );
      return dead.length;
    });
  }

  return {
    async *list(filter, limit) {
      let after: object = {};
      for (let left = limit; left > 0; ) {
        const most = Math.min(PAGE, left);
        const rows = await database.read<DeadRow>(
          `SELECT ${deadColumns(names)} FROM ${filterSql(filter, after)} JOIN ${event} e ON ${FITS} ORDER BY e.ended_at, e.seq LIMIT ${most}`,
        );
        yield* rows.map(deadLetter);
        const last = rows.at(-1);
        if (!last || rows.length < most) return;
        left -= rows.length;
        after = { after_time: last.after_time, after_seq: last.seq };
      }
    },
    async redrive(filter, windowMs, options) {
      const { dryRun = false, newIds = false, limit = Number.POSITIVE_INFINITY } = options;
      const [inside, pastWindow] = await count(filter, windowMs, newIds);
      if (dryRun) return { redriven: Math.min(inside, limit), pastWindow };
      const wanted = filterSql(filter, { window_ms: windowMs, new_ids: newIds });
      const redriven = await inPages(limit, (most) => revive(wanted, options, most));
      return { redriven, pastWindow };
    },
    async drop(filter, { dryRun = false, limit = Number.POSITIVE_INFINITY }) {
      if (dryRun) return Math.min((await count(filter))[0], limit);
      return inPages(limit, async (most) => {
        const gone = `WITH gone AS (DELETE FROM ${event} d WHERE d.ctid = ANY (ARRAY(
            SELECT e.ctid FROM ${filterSql(filter)} JOIN ${event} e ON ${FITS}
            ORDER BY e.ended_at, e.seq LIMIT ${most} FOR UPDATE OF e SKIP LOCKED))
            RETURNING d.listener, d.ordering_key, d.seq, d.blocks_key),
          counted AS (INSERT INTO ${tally} SELECT listener, 0, 0, -count(*) FROM gone GROUP BY listener)
          SELECT (SELECT count(*)::int FROM gone) AS gone, ${noteKeys("gone WHERE blocks_key")}`;
        const results = await database.script([lockOrder(names), gone, passOn(names)]);
        return (results[1] as { gone: number }[])[0]?.gone ?? 0;
      });
    },
  };
}

/** Repeats a change of one page until nothing is left to change, or `limit` is reached. */
async function inPages(limit: number, change: (most: number) => Promise<number>): Promise<number> {
  for (let done = 0; ; ) {
    const most = Math.min(PAGE, limit - done);
    const changed = most > 0 ? await change(most) : 0;
    done += changed;
    if (changed < PAGE) return done;
  }
}

/** A filter as a table of one row. Ids that are no event ids match nothing. */
function filterSql({ ids, ...filter }: DeadLetterFilter, more: object = {}): string {
  const wanted = { ...filter, ...(ids && { ids: ids.filter(isEventId) }), ...more };
  return `json_to_record(${jsonLiteral(wanted)}) AS f(listener text, ids uuid[], reason text, code text,
    before float8, window_ms float8, new_ids boolean, after_time timestamptz, after_seq bigint)`;
}

/** How many events one call ends or removes at most. */
const BATCH = 1_000;

/** How many rows of the table of counts one call sums up at most. */
const SUMMED = 10_000;

/** How often one call does so at most: a million rows a minute. */
const SUMMED_RUNS = 100;

/** What the removal of events in each state changes in the counts of pending, delivered and dead ones. */
const REMOVED = { delivered: "0, -count(*), 0", cancelled: "0, 0, 0" };

/** How many pages of old dead letters one call passes that all hold up their keys. */
const HELD_PAGES = 20;

/** An old dead letter: its place, and whether events of its key wait behind it. */
interface OldDeadRow {
  readonly id: string;
  readonly listener: string;
  readonly ended_at: string;
  readonly seq: string;
  readonly holds_up: boolean;
}

type Windows = Parameters<OutboxStore["expire"]>[0];

/** What ends with time; see `OutboxStore`. */
export interface Upkeep {
  expire(windows: Windows): Promise<ExpiredEvent[]>;
  prune(before: Parameters<OutboxStore["prune"]>[0]): Promise<number>;
}

export function upkeep(database: Database, names: OutboxNames): Upkeep {
  const { event, body, tally, listener, floor } = names;
  const seen = looks(names);

  /** Selects `columns` of waiting events whose window has closed. */
  const late = (windows: Windows, columns: string, most: number, lock = "") => {
    const input = [...windows].map(([listener, { windowMs, blocksKey }]) => {
      return { listener, window_ms: windowMs, blocks_key: blocksKey };
    });
    return `SELECT ${columns} FROM json_to_recordset(${jsonLiteral(input)})
        AS i(listener text, window_ms float8, blocks_key boolean)
      CROSS JOIN LATERAL (
        SELECT tried.* FROM (
          SELECT l.id FROM ${event} l WHERE l.listener = i.listener AND l.state IN ('waiting', 'later', 'aside')
            AND l.first_attempt_at < now() - i.window_ms * interval '1 ms'
          ORDER BY l.first_attempt_at LIMIT ${most} ${lock}) tried
        UNION ALL SELECT lost.* FROM (
          SELECT l.id FROM ${event} l WHERE l.listener = i.listener AND l.state = 'aside' AND ${IS_BEHIND}
            AND l.first_attempt_at IS NULL AND l.ready_at < now() - i.window_ms * interval '1 ms'
            AND EXISTS (SELECT FROM ${listener} h
              WHERE h.name = i.listener AND h.unknown_since < now() - i.window_ms * interval '1 ms')
          ORDER BY l.ready_at LIMIT ${most} ${lock}) lost) l LIMIT ${most}`;
  };

  /** Up to where a round has removed events, by state: the entries of those stay while a snapshot is held. */
  const removedTo = new Map<keyof typeof REMOVED, string>();

  /** Removes a batch of delivered or cancelled events that ended before a time. */
  async function remove(state: keyof typeof REMOVED, before: number): Promise<number> {
    const old = `SELECT o.ctid FROM ${event} o
      WHERE o.state = '${state}' AND o.ended_at >= ${literal(removedTo.get(state) ?? "-infinity")}::timestamptz
        AND o.ended_at < to_timestamp(${Number(before)} / 1000.0)
      ORDER BY o.ended_at LIMIT ${BATCH}`;
    const [found] = await database.read<{ found: boolean }>(`SELECT EXISTS (${old}) AS found`);
    removedTo.delete(state); // the next round begins with those that somebody else had
    if (!found?.found) return 0;
    const gone = `WITH gone AS (DELETE FROM ${event} e WHERE e.ctid = ANY (ARRAY(${old} FOR UPDATE SKIP LOCKED))
        RETURNING e.listener, e.ended_at),
      counted AS (INSERT INTO ${tally} SELECT listener, ${REMOVED[state]} FROM gone GROUP BY listener)
      SELECT count(*)::int AS gone, max(ended_at)::text AS last FROM gone`;
    const [[done] = []] = (await database.script([gone])) as { gone: number; last: string | null }[][];
    if (done?.last) removedTo.set(state, done.last);
    return done?.gone ?? 0;
  }

  /** Where the next page of old dead letters begins. */
  let afterDead: Pick<OldDeadRow, "ended_at" | "seq"> | undefined;

  /**
   * Removes old dead letters, which then no longer block their keys, but none behind which events of its key wait. Those
   * are passed, and the next call goes on behind them, so that it does not read all of them again and again.
   */
  async function removeDead(before: number): Promise<number> {
    const isOld = `o.state = 'dead' AND o.ended_at < to_timestamp(${Number(before)} / 1000.0)`;
    for (let page = 1; ; page++) {
      const behind = afterDead
        ? `AND (o.ended_at, o.seq) > (${literal(afterDead.ended_at)}::timestamptz, ${literal(afterDead.seq)}::bigint)`
        : "";
      const rows = await database.search<OldDeadRow>(
        `SELECT o.id, o.listener, o.ended_at::text AS ended_at, o.seq::text AS seq, ${holdsUp(names, "o")} AS holds_up
         FROM ${event} o WHERE ${isOld} ${behind} ORDER BY o.ended_at, o.seq LIMIT ${BATCH}`,
      );
      afterDead = rows.length === BATCH ? rows.at(-1) : undefined;
      const old = rows.filter((row) => !row.holds_up).map(({ id, listener }) => ({ id, listener }));
      const removed = old.length > 0 ? await removeThese(old, isOld) : 0;
      if (removed > 0 || !afterDead || page === HELD_PAGES) return removed;
    }
  }

  async function removeThese(old: readonly object[], isOld: string): Promise<number> {
    const gone = `WITH gone AS (DELETE FROM ${event} e WHERE e.ctid = ANY (ARRAY(
          SELECT o.ctid FROM json_to_recordset(${jsonLiteral(old)}) AS g(id uuid, listener text)
          JOIN ${event} o ON o.id = g.id AND o.listener = g.listener
          WHERE ${isOld} AND NOT ${holdsUp(names, "o")} FOR UPDATE OF o SKIP LOCKED))
        RETURNING e.listener, e.ordering_key, e.seq, e.blocks_key),
      counted AS (INSERT INTO ${tally} SELECT listener, 0, 0, -count(*) FROM gone GROUP BY listener)
      SELECT (SELECT count(*)::int FROM gone) AS gone, ${noteKeys("gone WHERE blocks_key")}`;
    const results = await database.script([lockOrder(names), gone, passOn(names)]);
    return (results[1] as { gone: number }[])[0]?.gone ?? 0;
  }

  /** Replaces many changes of the counts by their sums; resolves to by how many rows the table is shorter. */
  async function sumUpSome(): Promise<number> {
    const [[done] = []] = (await database.script([
      `WITH gone AS (
         DELETE FROM ${tally} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${tally} LIMIT ${SUMMED} FOR UPDATE SKIP LOCKED)) RETURNING *),
       sums AS (SELECT listener, ${["pending", "delivered", "dead"].map(summed).join(", ")} FROM gone GROUP BY listener),
       kept AS (
         INSERT INTO ${tally} SELECT * FROM sums WHERE pending <> 0 OR delivered <> 0 OR dead <> 0 RETURNING 1)
       SELECT ((SELECT count(*) FROM gone) - (SELECT count(*) FROM kept))::int AS shorter`,
    ])) as { shorter: number }[][];
    return done?.shorter ?? 0;
  }

  /** A role that only enqueues may write any counts; their sum must fit into the table again. */
  function summed(count: string): string {
    return `greatest(-${MOST_COUNT}, least(${MOST_COUNT}, sum(${count})))::bigint AS ${count}`;
  }

  /** Goes on while it pays, so that the table is as long as there are listeners and not as there are events. */
  async function sumUp(): Promise<void> {
    for (let run = 0; run < SUMMED_RUNS; run++) if ((await sumUpSome()) < SUMMED / 2) return;
  }

  /** Removes shared bodies that no event needs; those that one needs are looked at again, later and later. */
  async function removeBodies(): Promise<void> {
    await database.script([
      `WITH old AS MATERIALIZED (
         SELECT b.id, b.digest, b.stored_at FROM ${body} b WHERE b.check_at <= now()
         ORDER BY b.check_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED),
       used AS MATERIALIZED (
         SELECT o.*, EXISTS (SELECT FROM ${event} e WHERE e.id = o.id AND e.digest = o.digest
           AND e.state NOT IN ('delivered', 'cancelled')) AS is_used FROM old o),
       kept AS (
         UPDATE ${body} b
         SET check_at = now() + (now() - u.stored_at) / 2 + ${SHARED_BODY_MS} * interval '1 ms'
         FROM used u WHERE b.id = u.id AND b.digest = u.digest AND u.is_used)
       DELETE FROM ${body} b USING used u WHERE b.id = u.id AND b.digest = u.digest AND NOT u.is_used`,
    ]);
  }

  /** Removes the rows of listeners that say nothing any more. */
  async function forgetListeners(): Promise<void> {
    const changeKept = `now() - ${CHANGE_KEPT_MS} * interval '1 ms'`;
    await database.script([
      `DELETE FROM ${floor} WHERE look_at = 'infinity'`,
      forgetKeyFloors(names),
      `DELETE FROM ${listener} WHERE paused_at IS NULL AND unknown_since IS NULL AND NOT has_aside AND coalesce(rest_until <= now(), true)
        AND coalesce(pace <= now(), true) AND coalesce(changed_at < ${changeKept}, true)`,
      // Of an unknown listener without events nothing is left to say.
      `DELETE FROM ${listener} h WHERE h.unknown_since IS NOT NULL AND h.paused_at IS NULL AND h.unknown_until <= now()
        AND NOT EXISTS (SELECT FROM ${event} e WHERE e.listener = h.name AND e.state = 'aside' AND ${IS_BEHIND})`,
    ]);
  }

  return {
    async expire(windows) {
      const asked = [`SELECT EXISTS (${late(windows, "1", 1)}) AS some`, seen.sql()];
      const [[closed], [state]] = (await database.script(asked)) as [{ some: boolean }[], Seen[]];
      const from = seen.saw(state);
      if (!closed?.some && !from) return [];
      const expiring = `WITH i AS MATERIALIZED (${late(
        windows,
        "i.listener, l.id, i.blocks_key, 'window' AS reason, 'WINDOW_CLOSED' AS code",
        BATCH,
        "FOR UPDATE SKIP LOCKED",
      )}),
        done AS (UPDATE ${event} e SET ended_at = now(), token = NULL, ${FAILED} FROM i
          WHERE e.id = i.id AND e.listener = i.listener
          RETURNING e.listener, e.ordering_key, e.seq, e.id, e.enqueued_at, e.attempts),
        counted AS (INSERT INTO ${tally} SELECT listener, -count(*), 0, count(*) FROM done GROUP BY listener)
        SELECT listener, id, ${ms("enqueued_at")} AS enqueued_at, attempts,
          (SELECT ${noteKeys("done WHERE ordering_key IS NOT NULL")}) FROM done`;
      const script = [...(from ? settle(names, from) : [lockOrder(names)]), expiring, passOn(names)];
      const results = await database.script(script);
      const rows = results.at(-2) as {
        listener: string;
        id: string;
        enqueued_at: number;
        attempts: number;
      }[];
      return rows.map(({ enqueued_at: enqueuedAt, ...row }) => ({ ...row, enqueuedAt }));
    },
    async prune({ delivered, dead }) {
      const removed = [
        await remove("delivered", delivered),
        await remove("cancelled", delivered),
        await removeDead(dead),
      ];
      await removeBodies();
      await sumUp();
      await forgetListeners();
      return removed.reduce((sum, count) => sum + count);
    },
  };
}
