// Pauses, cancellations and due listeners in PostgreSQL.
import { isEventId } from "../../core/event.js";
import { type Database, jsonLiteral } from "../../postgres/database.js";
import {
  type DueLooks,
  dueListeners,
  LOOK_STEPS,
  type LookedAt,
  UNKNOWN_MOST_MS,
  UNKNOWN_MS,
  unknownListeners,
} from "../engine.js";
import type { CancelResult, EventFilter, OutboxStore } from "../outbox-store.js";
import { type EntryRow, entryColumns, outboxEntry } from "./entries.js";
import { aboveFloor } from "./floor.js";
import { looks, type Seen } from "./looks.js";
import type { OutboxNames } from "./names.js";
import { lockOrder, noteKeys, passOn, settle } from "./order.js";
import { ms } from "./rows.js";
import { IS_BEHIND } from "./schema.js";

/** How many events one transaction cancels. */
const PAGE = 500;

/** Where events are that have not ended: a condition for each of the indexes. */
const WAITING = "e.state = 'waiting'";
const LATER = "e.state = 'later'";
const LEASED = "e.state = 'leased'";

/** An event that is leased has had its first attempt counted, and so has one whose lease has expired. */
const HAS_BEGUN = "e.first_attempt_at IS NOT NULL";
const NOT_BEGUN = "e.first_attempt_at IS NULL";

/** One transaction's part of a cancellation. */
interface Page {
  readonly cancelled: number;
  readonly found: number;
  /** The place of the last event that was found. */
  readonly last: { readonly listener: string; readonly at: string; readonly seq: string } | null;
}

/** What people and workers say about listeners; see `OutboxStore`. */
type ListenerControl = DueLooks &
  Pick<OutboxStore, "changed" | "unknown" | "pause" | "resume" | "rest" | "cancel" | "pending">;

export function listenerControl(database: Database, names: OutboxNames): ListenerControl {
  const { event, tally, listener: table } = names;
  const { due, bringBack } = dueLooks(database, names);

  /**
   * Cancels those of the `given` events that no attempt has begun for. A claim of the same event comes first or sees
   * the cancellation: the update waits for its lock, and then looks at the conditions again.
   */
  async function cancelPage(given: string): Promise<Page> {
    const cancelling = `WITH given AS MATERIALIZED (${given}),
      done AS (
        UPDATE ${event} e SET state = 'cancelled', ended_at = now(), token = NULL, body = NULL FROM given g
        WHERE e.id = g.id AND e.listener = g.listener AND e.ended_at IS NULL AND ${NOT_BEGUN}
        RETURNING e.listener, e.ordering_key, e.seq),
      counted AS (INSERT INTO ${tally} SELECT listener, -count(*), 0, 0 FROM done GROUP BY listener)
      SELECT (SELECT count(*)::int FROM done) AS cancelled, (SELECT count(*)::int FROM given) AS found,
        (SELECT json_build_object('listener', listener, 'at', at, 'seq', seq::text) FROM given
         ORDER BY listener DESC, at DESC, seq DESC LIMIT 1) AS last,
        ${noteKeys("done WHERE ordering_key IS NOT NULL")}`;
    const [, [page]] = (await database.script([lockOrder(names), cancelling, passOn(names)])) as [[], [Page]];
    return page;
  }

  const columns = (at: string) => `SELECT e.id, e.listener, e.${at} AS at, e.seq FROM ${event} e`;

  async function cancelIds(ids: readonly string[], listener: string | undefined): Promise<CancelResult> {
    const pages: Page[] = [];
    for (let from = 0; from < ids.length; from += PAGE) {
      const some = ids.slice(from, from + PAGE);
      pages.push(await cancelPage(`${columns("due_at")} WHERE ${fits({ ids: some, listener })}`));
    }
    const cancelled = sum(pages.map((page) => page.cancelled));
    return { cancelled, tooLate: sum(pages.map(({ found }) => found)) - cancelled };
  }

  /** Goes along an index, which begins with listener, `at` and seq; resolves to how many events it cancelled. */
  async function cancelAlong(where: string, at: string): Promise<number> {
    let cancelled = 0;
    for (let after = ""; ; ) {
      const page = await cancelPage(
        `${columns(at)} WHERE ${where} AND ${NOT_BEGUN} ${after}
         ORDER BY e.listener, e.${at}, e.seq LIMIT ${PAGE}`,
      );
      cancelled += page.cancelled;
      if (!page.last || page.found < PAGE) return cancelled;
      const { last } = page;
      after = `AND (e.listener, e.${at}, e.seq) > (${text(last.listener)}, '${last.at}'::timestamptz, ${last.seq})`;
    }
  }

  async function cancelAll(listener: string | undefined): Promise<CancelResult> {
    const [start] = await database.search<{ now: string }>("SELECT to_json(now()) AS now");
    // What is enqueued after the call is not meant.
    const meant = `${fits({ listener })} AND e.enqueued_at <= '${start?.now}'::timestamptz`;
    let cancelled = 0;
    // Twice, because an event may pass from one index to the other while the call goes along them.
    for (let pass = 0; pass < 2; pass++) {
      cancelled += await cancelAlong(`${LATER} AND ${meant}`, "due_at");
      cancelled += await cancelAlong(`${IS_BEHIND} AND ${meant}`, "ready_at");
      cancelled += await cancelAlong(`${WAITING} AND ${meant}`, "due_at");
    }
    return { cancelled, tooLate: await countBegun(listener) };
  }

  async function countBegun(listener: string | undefined): Promise<number> {
    const counts = [WAITING, LATER, LEASED, IS_BEHIND].map(
      (where) =>
        `(SELECT count(*) FROM ${event} e WHERE ${where} AND ${HAS_BEGUN} AND ${fits({ listener })})`,
    );
    const [row] = await database.search<{ begun: number }>(`SELECT (${counts.join(" + ")})::float8 AS begun`);
    return row?.begun ?? 0;
  }

  return {
    due,
    bringBack,
    async changed(listener) {
      await database.script([
        `INSERT INTO ${table} AS h (name, changed_at) VALUES (${text(listener)}, clock_timestamp())
         ON CONFLICT (name) DO UPDATE
         SET changed_at = greatest(excluded.changed_at, h.changed_at + interval '1 ms'), unknown_since = NULL,
           unknown_until = NULL`,
      ]);
      await bringBack(listener);
    },
    async unknown(listeners) {
      const pause = (since: string) => `now() + least(${UNKNOWN_MOST_MS} * interval '1 ms',
        greatest(${UNKNOWN_MS} * interval '1 ms', now() - ${since}))`;
      await database.script([
        // In one order, so that two workers cannot wait for each other.
        `INSERT INTO ${table} AS h (name, unknown_since, unknown_until)
         SELECT DISTINCT name, now(), ${pause("now()")} FROM json_array_elements_text(${jsonLiteral(listeners)}) AS g(name)
         ORDER BY name
         ON CONFLICT (name) DO UPDATE SET unknown_since = coalesce(h.unknown_since, now()),
           unknown_until = CASE WHEN h.unknown_until > now() THEN h.unknown_until
             ELSE ${pause("coalesce(h.unknown_since, now())")} END`,
      ]);
    },
    async pause(listener, reason, { keepReason = false } = {}) {
      await database.script([
        `INSERT INTO ${table} AS h (name, paused_at, pause_reason)
         SELECT name, now(), nullif(reason, '')
         FROM json_to_record(${jsonLiteral({ name: listener, reason })}) AS g(name text, reason text)
         ON CONFLICT (name) DO UPDATE
         SET paused_at = coalesce(h.paused_at, now()), pause_reason = excluded.pause_reason
         ${keepReason ? "WHERE h.paused_at IS NULL" : ""}`,
      ]);
    },
    async resume(listener) {
      const [ended] = await database.script([
        `UPDATE ${table} SET paused_at = NULL, pause_reason = NULL
         WHERE name = ${text(listener)} AND paused_at IS NOT NULL RETURNING 1`,
      ]);
      await bringBack(listener);
      return ended?.length === 1;
    },
    async rest(listener, until) {
      await database.script([
        // A rest that was noted before the clock was put back is as much shorter.
        `INSERT INTO ${table} AS h (name, rest_until, rested_at)
         VALUES (${text(listener)}, to_timestamp(${Number(until)} / 1000.0), now())
         ON CONFLICT (name) DO UPDATE SET rested_at = now(), rest_until = greatest(
           h.rest_until - greatest(h.rested_at - now(), interval '0'), excluded.rest_until)`,
      ]);
    },
    cancel: ({ listener, ids }) => (ids ? cancelIds([...new Set(ids)], listener) : cancelAll(listener)),
    async pending(filter, limit) {
      const first = (where: string) =>
        `(SELECT e.ctid, e.seq FROM ${event} e WHERE ${where} AND ${fits(filter)} ORDER BY e.seq LIMIT ${Number(limit)})`;
      const places = filter.ids ? ["e.ended_at IS NULL"] : [WAITING, LATER, LEASED, IS_BEHIND];
      const rows = await database.search<EntryRow>(
        `SELECT ${entryColumns(names)} FROM ${event} e WHERE e.ctid = ANY (ARRAY(
           SELECT o.ctid FROM (${places.map(first).join(" UNION ALL ")}) o ORDER BY o.seq LIMIT ${Number(limit)}))
         ORDER BY e.seq`,
      );
      return rows.map(outboxEntry);
    },
  };
}

/** Whether a listener's events are put aside. */
function isAway(row: string): string {
  return `(${row}.paused_at IS NOT NULL OR coalesce(${row}.unknown_until > now(), false))`;
}

/** A condition that holds for the events of a filter; ids that are no event ids match nothing. */
function fits({ listener, ids }: EventFilter): string {
  return [
    ...(listener === undefined ? [] : [`e.listener = ${text(listener)}`]),
    ...(ids ? [`e.id = ANY ('{${ids.filter(isEventId)}}'::uuid[])`] : []),
    "true",
  ].join(" AND ");
}

/** Any text as SQL, by way of JSON, which has an escape for every character. */
function text(value: string): string {
  return `(${jsonLiteral(value)} #>> '{}')`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** How many events one transaction puts aside or brings back. */
const ASIDE_PAGE = 1_000;

function dueLooks(database: Database, names: OutboxNames): DueLooks {
  const { event, floor, listener: table } = names;

  const seen = looks(names);

  /**
   * The first waiting event of the next listener. Where a floor is known, its listener's events are looked for from
   * there on, and a listener that has none is a step without a time.
   */
  const next = (after: string) => `SELECT n.listener, n.due_at
    FROM (SELECT (SELECT f.listener FROM ${floor} f WHERE f.listener > ${after} ORDER BY f.listener LIMIT 1) OFFSET 0) low(listener)
    CROSS JOIN LATERAL (
      (SELECT e.listener, e.due_at FROM ${event} e WHERE e.state = 'waiting' AND e.listener > ${after}
        AND low.listener IS NULL ORDER BY e.listener, e.due_at LIMIT 1)
      UNION ALL (SELECT e.listener, e.due_at FROM ${event} e WHERE e.state = 'waiting' AND e.listener > ${after}
        AND e.listener < low.listener ORDER BY e.listener, e.due_at LIMIT 1)
      UNION ALL (SELECT e.listener, e.due_at FROM ${event} e WHERE e.state = 'waiting' AND e.listener = low.listener
        AND e.due_at >= (SELECT f.due_from FROM ${floor} f WHERE f.listener = low.listener) ORDER BY e.due_at LIMIT 1)
      UNION ALL SELECT low.listener, NULL WHERE low.listener IS NOT NULL LIMIT 1) n`;

  /** Steps from one listener to the next along the index, so that idle listeners and long backlogs cost nothing. */
  const look = (after: string | undefined, most: number) => `WITH RECURSIVE steps AS (
      (SELECT 1 AS step, n.* FROM (${next(`(${jsonLiteral(after ?? "")} #>> '{}')`)}) n) UNION ALL
      SELECT s.step + 1, n.* FROM steps s CROSS JOIN LATERAL (${next("s.listener")}) n WHERE s.step < ${LOOK_STEPS})
    SELECT s.listener, s.step, coalesce(s.due_at <= now(), false) AS "isDue", s.due_at IS NOT NULL AND ${isAway("own")} AS "isPaused",
      coalesce(own.rest_until > now(), false) AS rests, ${ms("own.changed_at")} AS "changedAt"
    FROM steps s LEFT JOIN LATERAL (
      SELECT h.paused_at, h.unknown_until, h.rest_until, h.changed_at FROM ${table} h WHERE h.name = s.listener OFFSET 0) own ON true
    WHERE s.due_at <= now() OR s.due_at IS NOT NULL AND ${isAway("own")} OR s.step = ${LOOK_STEPS} LIMIT ${Number(most)}`;

  /** Unknown listeners that wait for nothing but to be asked for again. */
  const unknownAgain = (
    most: number,
  ) => `SELECT h.name AS listener, ${ms("h.changed_at")} AS "changedAt" FROM ${table} h
    WHERE h.unknown_since IS NOT NULL AND h.paused_at IS NULL AND h.unknown_until <= now()
      AND EXISTS (SELECT FROM ${event} e WHERE e.listener = h.name AND e.state = 'aside' AND ${IS_BEHIND})
    ORDER BY h.unknown_until LIMIT ${Number(most)}`;

  /** The row's lock keeps a pause from being ended meanwhile, so that nothing is put aside after it was. */
  const putAside = (paused: readonly string[]) => `WITH mine AS MATERIALIZED (
      SELECT h.name FROM ${table} h JOIN json_array_elements_text(${jsonLiteral(paused)}) p(name) ON p.name = h.name
      WHERE ${isAway("h")} FOR UPDATE OF h SKIP LOCKED),
    marked AS (UPDATE ${table} h SET has_aside = true FROM mine WHERE h.name = mine.name),
    open AS (
      SELECT o.ctid FROM mine CROSS JOIN LATERAL (
        SELECT e.ctid FROM ${event} e WHERE e.listener = mine.name AND e.state = 'waiting'
        ORDER BY e.due_at LIMIT ${ASIDE_PAGE} FOR UPDATE SKIP LOCKED) o LIMIT ${ASIDE_PAGE})
    UPDATE ${event} e SET state = 'aside' WHERE e.ctid = ANY (ARRAY(SELECT ctid FROM open))`;

  /** Resolves to whether there is more. */
  async function bringPageBack(listener: string | undefined): Promise<boolean> {
    const own = listener === undefined ? "" : `AND name = (${jsonLiteral(listener)} #>> '{}')`;
    const [found] = await database.script([
      `WITH one AS MATERIALIZED (
        SELECT name FROM ${table} WHERE has_aside AND paused_at IS NULL AND unknown_since IS NULL ${own} LIMIT 1 FOR UPDATE),
      back AS (
        UPDATE ${event} e SET state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END,
          due_at = ${aboveFloor(names)}
        WHERE e.ctid = ANY (ARRAY(
          SELECT b.ctid FROM one CROSS JOIN LATERAL (
            SELECT e.ctid FROM ${event} e WHERE e.listener = one.name AND e.state = 'aside' AND ${IS_BEHIND}
            LIMIT ${ASIDE_PAGE}) b))
        RETURNING 1),
      ended AS (
        UPDATE ${table} h SET has_aside = false FROM one
        WHERE h.name = one.name AND (SELECT count(*) FROM back) < ${ASIDE_PAGE})
      SELECT EXISTS (SELECT FROM one) AS more`,
    ]);
    return (found?.[0] as { more: boolean } | undefined)?.more ?? false;
  }

  return {
    async due(after, most) {
      const again = after === undefined ? [unknownAgain(most)] : [];
      const asked = [look(after, most), seen.sql(), ...again];
      type Looked = [LookedAt[], Seen[], LookedAt[]?];
      let [rows, [state], unknown = []] = (await database.script(asked)) as Looked;
      if (unknown.length > 0) return unknownListeners(unknown);
      const from = seen.saw(state);
      if (from) [rows] = (await database.scripts([settle(names, from), asked])).at(-1) as Looked;
      const paused = rows.filter(({ isPaused }) => isPaused).map(({ listener }) => listener);
      if (paused.length > 0) await database.script([putAside(paused)]);
      return dueListeners(rows, most);
    },
    async bringBack(listener) {
      while (await bringPageBack(listener));
    },
  };
}
