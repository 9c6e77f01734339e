// Expiry and removal in PostgreSQL.
import { type Database, jsonLiteral, literal } from "../../postgres/database.js";
import { CHANGE_KEPT_MS, HELD_PAGES, SHARED_BODY_MS } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";
import type { ExpiredEvent } from "../records.js";
import { FOUND, type Found, isAfter, removeFound } from "./dead-letters.js";
import { fitsDead } from "./filters.js";
import { SLOW_BLOCKS } from "./floor.js";
import { forgetKeyFloors } from "./key-floor.js";
import { FAILED } from "./leases.js";
import { type Looks, looks, PAUSE_PER_BLOCK_MS, type Seen } from "./looks.js";
import { MAX_COUNT, type OutboxNames } from "./names.js";
import { holdsUp, lockOrder, noteKeys, passOn, settle } from "./order.js";
import { ms, timeText } from "./rows.js";
import { IS_BEHIND } from "./schema.js";

/** How many events one call ends or removes at most. */
const BATCH = 1_000;

/** How many rows of the table of counts one call sums up at most. */
const SUMMED = 10_000;

/** How often one call does so at most: a million rows a minute. */
const SUMMED_RUNS = 100;

/** What the removal of events in each state changes in the counts of pending, delivered and dead ones. */
const REMOVED = { delivered: "0, -count(*), 0", cancelled: "0, 0, 0" };

/** An expired event, and the last places of its listener's: of those that were tried, and of those that never were. */
interface ExpiredRow extends Omit<ExpiredEvent, "enqueuedAt"> {
  readonly enqueued_at: number;
  readonly tried_to: string | null;
  readonly lost_to: string | null;
}

/** An old dead letter, and whether events of its key wait behind it. */
interface OldDeadRow extends Found {
  readonly holds_up: boolean;
}

type Windows = Parameters<OutboxStore["expire"]>[0];

/** Before the first look at shared bodies. */
const FIRST_BODIES = { isRound: false, from: "-infinity", read: 0, allAt: 0 };

/** What ends with time; see `OutboxStore`. */
export class Upkeep {
  readonly #database: Database;
  readonly #names: OutboxNames;
  readonly #seen: Looks;
  /** Up to where a round has removed events, by state: the entries of those stay while a snapshot is held. */
  readonly #removedTo = new Map<keyof typeof REMOVED, string>();
  /** Up to where a round has expired events, by listener, for the same reason. */
  readonly #expiredTo = new Map<string, Pick<ExpiredRow, "tried_to" | "lost_to">>();
  /** Where the next page of shared bodies begins: see `#removeBodies`. */
  #bodies = FIRST_BODIES;
  /** Where the next page of old dead letters begins. */
  #afterDead: Found | undefined;

  constructor(database: Database, names: OutboxNames) {
    this.#database = database;
    this.#names = names;
    this.#seen = looks(names);
  }

  async expire(windows: Windows): Promise<ExpiredEvent[]> {
    const { event, tally } = this.#names;
    const asked = [`SELECT EXISTS (${this.#late(windows, "1", 1)}) AS some`, this.#seen.sql()];
    const [[closed], [state]] = (await this.#database.script(asked)) as [{ some: boolean }[], Seen[]];
    const from = this.#seen.saw(state);
    if (!closed?.some) this.#endRound(windows);
    if (!closed?.some && !from) return [];
    const expiring = `WITH i AS MATERIALIZED (${this.#late(
      windows,
      "i.listener, l.id, i.blocks_key, 'window' AS reason, 'WINDOW_CLOSED' AS code",
      BATCH,
      "FOR UPDATE SKIP LOCKED",
    )}),
      done AS (UPDATE ${event} e SET ended_at = now(), token = NULL, ${FAILED} FROM i
        WHERE e.id = i.id AND e.listener = i.listener
        RETURNING e.listener, e.ordering_key, e.seq, e.id, e.enqueued_at, e.attempts, e.first_attempt_at, e.ready_at),
      counted AS (INSERT INTO ${tally} SELECT listener, -count(*), 0, count(*) FROM done GROUP BY listener)
      SELECT listener, id, ${ms("enqueued_at")} AS enqueued_at, attempts,
        ${timeText("max(first_attempt_at) OVER own")} AS tried_to,
        ${timeText("max(ready_at) FILTER (WHERE first_attempt_at IS NULL) OVER own")} AS lost_to, noted
      FROM (SELECT ${noteKeys("done WHERE ordering_key IS NOT NULL")} AS noted) n LEFT JOIN done ON true
      WINDOW own AS (PARTITION BY listener)`;
    const script = [
      ...(from ? settle(this.#names, from) : [lockOrder(this.#names)]),
      expiring,
      passOn(this.#names),
    ];
    const results = await this.#database.script(script);
    // One row is there without an event too: keys are noted for what passes them on, also where somebody else was faster.
    const rows = (results.at(-2) as ExpiredRow[]).filter(({ id }) => id !== null);
    for (const { listener, tried_to, lost_to } of rows) {
      const before = this.#expiredTo.get(listener);
      this.#expiredTo.set(listener, {
        tried_to: tried_to ?? before?.tried_to ?? null,
        lost_to: lost_to ?? before?.lost_to ?? null,
      });
    }
    if (rows.length < BATCH) this.#endRound(windows);
    return rows.map(({ listener, id, enqueued_at: enqueuedAt, attempts }) => {
      return { listener, id, enqueuedAt, attempts };
    });
  }

  /** The next round begins with those that somebody else had, however many more pass their window meanwhile. */
  #endRound(windows: Windows): void {
    for (const listener of windows.keys()) this.#expiredTo.delete(listener);
  }

  async prune({ delivered, dead }: Parameters<OutboxStore["prune"]>[0]): Promise<number> {
    const removed = [
      await this.#remove("delivered", delivered),
      await this.#remove("cancelled", delivered),
      await this.#removeDead(dead),
    ];
    await this.#removeBodies();
    await this.#sumUp();
    await this.#forgetListeners();
    return removed.reduce((sum, count) => sum + count);
  }

  /** Selects `columns` of waiting events whose window has closed. */
  #late(windows: Windows, columns: string, max: number, lock = ""): string {
    const { event, listener } = this.#names;
    const input = [...windows].map(([listener, { windowMs, blocksKey }]) => {
      return { listener, window_ms: windowMs, blocks_key: blocksKey, ...this.#expiredTo.get(listener) };
    });
    return `SELECT ${columns} FROM json_to_recordset(${jsonLiteral(input)})
        AS i(listener text, window_ms float8, blocks_key boolean, tried_to timestamptz, lost_to timestamptz)
      CROSS JOIN LATERAL (
        SELECT tried.* FROM (
          SELECT l.id FROM ${event} l WHERE l.listener = i.listener AND l.state IN ('waiting', 'later', 'aside')
            AND l.first_attempt_at >= coalesce(i.tried_to, '-infinity') AND l.first_attempt_at < now() - i.window_ms * interval '1 ms'
          ORDER BY l.first_attempt_at LIMIT ${max} ${lock}) tried
        UNION ALL SELECT lost.* FROM (
          SELECT l.id FROM ${event} l WHERE l.listener = i.listener AND l.state = 'aside' AND ${IS_BEHIND}
            AND l.first_attempt_at IS NULL AND l.ready_at >= coalesce(i.lost_to, '-infinity') AND l.ready_at < now() - i.window_ms * interval '1 ms'
            AND EXISTS (SELECT FROM ${listener} h
              WHERE h.name = i.listener AND h.unknown_since < now() - i.window_ms * interval '1 ms')
          ORDER BY l.ready_at LIMIT ${max} ${lock}) lost) l LIMIT ${max}`;
  }

  /** Removes a batch of delivered or cancelled events that ended before a time. */
  async #remove(state: keyof typeof REMOVED, before: number): Promise<number> {
    const { event, tally } = this.#names;
    const old = `SELECT o.ctid FROM ${event} o
      WHERE o.state = '${state}' AND o.ended_at >= ${literal(this.#removedTo.get(state) ?? "-infinity")}::timestamptz
        AND o.ended_at < to_timestamp('${Number(before)}'::float8 / 1000)
      ORDER BY o.ended_at LIMIT ${BATCH}`;
    const [found] = await this.#database.read<{ found: boolean }>(`SELECT EXISTS (${old}) AS found`);
    this.#removedTo.delete(state); // the next round begins with those that somebody else had
    if (!found?.found) return 0;
    const gone = `WITH gone AS (DELETE FROM ${event} e WHERE e.ctid = ANY (ARRAY(${old} FOR UPDATE SKIP LOCKED))
        RETURNING e.listener, e.ended_at),
      counted AS (INSERT INTO ${tally} SELECT listener, ${REMOVED[state]} FROM gone GROUP BY listener)
      SELECT count(*)::int AS gone, ${timeText("max(ended_at)")} AS last FROM gone`;
    const [[done] = []] = (await this.#database.script([gone])) as { gone: number; last: string | null }[][];
    if (done?.last) this.#removedTo.set(state, done.last);
    return done?.gone ?? 0;
  }

  /**
   * Removes old dead letters, which then no longer block their keys, but none behind which events of its key wait. Those
   * are passed, and the next call goes on behind them, so that it does not read all of them again and again.
   */
  async #removeDead(before: number): Promise<number> {
    const { event } = this.#names;
    for (let page = 1; ; page++) {
      const rows = await this.#database.search<OldDeadRow>(
        `SELECT ${FOUND}, ${holdsUp(this.#names, "e")} AS holds_up FROM ${event} e
         WHERE ${fitsDead({ before })} AND ${isAfter(this.#afterDead)} ORDER BY e.ended_at, e.seq LIMIT ${BATCH}`,
      );
      this.#afterDead = rows.length === BATCH ? rows.at(-1) : undefined;
      const old = rows.filter((row) => !row.holds_up);
      const unless = `NOT ${holdsUp(this.#names, "e")}`;
      const removed = old.length > 0 ? await removeFound(this.#database, this.#names, old, unless) : 0;
      if (removed > 0 || !this.#afterDead || page === HELD_PAGES) return removed;
    }
  }

  /** Replaces many changes of the counts by their sums; resolves to by how many rows the table is shorter. */
  async #sumUpSome(): Promise<number> {
    const { tally } = this.#names;
    const [[done] = []] = (await this.#database.script([
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

  /** Goes on while it pays, so that the table is as long as there are listeners and not as there are events. */
  async #sumUp(): Promise<void> {
    for (let run = 0; run < SUMMED_RUNS; run++) if ((await this.#sumUpSome()) < SUMMED / 2) return;
  }

  /**
   * Removes shared bodies that no event needs; those that one needs are looked at again, later and later. A round that
   * read much, as a snapshot keeps the entries of all that were removed, is not begun again for as long in proportion:
   * until then only what has come since is looked at.
   */
  async #removeBodies(): Promise<void> {
    const { event, body } = this.#names;
    const { isRound, allAt } = this.#bodies;
    const isAll = !isRound && performance.now() >= allAt;
    const { from, read: readBefore } = isAll ? FIRST_BODIES : this.#bodies;
    const read = `SELECT pg_stat_get_xact_blocks_fetched('${body}'::regclass)::float8 AS read`;
    const page = `WITH old AS MATERIALIZED (
         SELECT b.id, b.digest, b.stored_at, b.check_at FROM ${body} b
         WHERE b.check_at <= now() AND b.check_at >= ${literal(from)}::timestamptz
         ORDER BY b.check_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED),
       used AS MATERIALIZED (
         SELECT o.*, EXISTS (SELECT FROM ${event} e WHERE e.id = o.id AND e.digest = o.digest
           AND e.state NOT IN ('delivered', 'cancelled')) AS is_used FROM old o),
       kept AS (
         UPDATE ${body} b
         SET check_at = now() + (now() - u.stored_at) / 2 + ${SHARED_BODY_MS} * interval '1 ms'
         FROM used u WHERE b.id = u.id AND b.digest = u.digest AND u.is_used),
       gone AS (DELETE FROM ${body} b USING used u WHERE b.id = u.id AND b.digest = u.digest AND NOT u.is_used)
       SELECT count(*) = ${BATCH} AS more, ${timeText(`CASE count(*) WHEN ${BATCH} THEN max(check_at) ELSE now() END`)} AS last
       FROM old`;
    const [[before], [seen], [after]] = (await this.#database.script([read, page, read])) as [
      { read: number }[],
      { more: boolean; last: string }[],
      { read: number }[],
    ];
    const all = readBefore + (after?.read ?? 0) - (before?.read ?? 0);
    const isSlow = (isAll || isRound) && all > SLOW_BLOCKS;
    this.#bodies = {
      isRound: seen?.more ?? false,
      from: seen?.last ?? FIRST_BODIES.from,
      read: all,
      allAt: isSlow ? performance.now() + all * PAUSE_PER_BLOCK_MS : allAt,
    };
  }

  /** Removes the rows of listeners that say nothing any more. */
  async #forgetListeners(): Promise<void> {
    const { event, listener, floor } = this.#names;
    const changeKept = `now() - ${CHANGE_KEPT_MS} * interval '1 ms'`;
    await this.#database.script([
      `DELETE FROM ${floor} WHERE look_at = 'infinity'`,
      forgetKeyFloors(this.#names),
      `DELETE FROM ${listener} WHERE paused_at IS NULL AND unknown_since IS NULL AND NOT has_aside AND coalesce(rest_until <= now(), true)
        AND coalesce(pace <= now(), true) AND coalesce(changed_at < ${changeKept}, true)`,
      // Of an unknown listener without events nothing is left to say.
      `DELETE FROM ${listener} h WHERE h.unknown_since IS NOT NULL AND h.paused_at IS NULL AND h.unknown_until <= now()
        AND NOT EXISTS (SELECT FROM ${event} e WHERE e.listener = h.name AND e.state = 'aside' AND ${IS_BEHIND})`,
    ]);
  }
}

/** A role that only enqueues may write any counts; their sum must fit into the table again. */
function summed(count: string): string {
  return `greatest(-${MAX_COUNT}, least(${MAX_COUNT}, sum(${count})))::bigint AS ${count}`;
}
