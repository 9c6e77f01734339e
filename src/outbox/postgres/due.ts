// Looks for listeners with due events in PostgreSQL.
import { type Database, jsonLiteral } from "../../postgres/database.js";
import { type DueLooks, dueListeners, LOOK_STEPS, type LookedAt, unknownListeners } from "../engine.js";
import type { DueListeners } from "../outbox-store.js";
import { aboveFloor, belowLook, raiseSlowFloors } from "./floor.js";
import { type Looks, looks, type Seen } from "./looks.js";
import type { OutboxNames } from "./names.js";
import { settle } from "./order.js";
import { ms, timeText } from "./rows.js";
import { IS_BEHIND } from "./schema.js";

/** How many events one transaction puts aside or brings back. */
const ASIDE_PAGE = 1_000;

/** Where the events that were put aside begin. */
const FIRST = "-infinity";

interface BroughtBack {
  /** Whether the listener may have more. */
  readonly more: boolean;
  /** The place of the last one, if the page was full. */
  readonly last: string | null;
}

/** See `DueLooks`. */
export class PostgresDueLooks implements DueLooks {
  readonly #database: Database;
  readonly #names: OutboxNames;
  readonly #seen: Looks;
  readonly #below: ReturnType<typeof belowLook>;

  constructor(database: Database, names: OutboxNames) {
    this.#database = database;
    this.#names = names;
    this.#seen = looks(names);
    this.#below = belowLook(database, names);
  }

  async due(after: string | undefined, max: number): Promise<DueListeners> {
    const again = after === undefined ? [this.#unknownAgain(max)] : [];
    const asked = [this.#look(after, max), this.#seen.sql(), ...again];
    type Looked = [LookedAt[], Seen[], LookedAt[]?];
    let [rows, [state], unknown = []] = (await this.#database.script(asked)) as Looked;
    // A claim looks too, but where a listener stands below its floor and no other one is due, none is made.
    this.#below.saw(state?.below);
    await this.#below.look();
    if (unknown.length > 0) return unknownListeners(unknown);
    const from = this.#seen.saw(state);
    if (from) [rows] = (await this.#database.scripts([settle(this.#names, from), asked])).at(-1) as Looked;
    const paused = rows.filter(({ isPaused }) => isPaused).map(({ listener }) => listener);
    if (paused.length > 0) await this.#putAside(paused);
    return dueListeners(rows, max);
  }

  async bringBack(listener?: string): Promise<void> {
    let from = FIRST;
    for (let isMore = true; isMore; ) {
      const page = await this.#bringPageBack(listener, from);
      isMore = page?.more ?? false;
      from = page?.last ?? FIRST;
    }
  }

  /**
   * The first waiting event of the next listener. Where a floor is known, its listener's events are looked for from
   * there on, and a listener that has none is a step without a time.
   */
  #next(after: string): string {
    const { event, floor } = this.#names;
    return `SELECT n.listener, n.due_at
    FROM (SELECT (SELECT f.listener FROM ${floor} f WHERE f.listener > ${after} ORDER BY f.listener LIMIT 1) OFFSET 0) low(listener)
    CROSS JOIN LATERAL (
      (SELECT e.listener, e.due_at FROM ${event} e WHERE e.state = 'waiting' AND e.listener > ${after}
        AND low.listener IS NULL ORDER BY e.listener, e.due_at LIMIT 1)
      UNION ALL (SELECT e.listener, e.due_at FROM ${event} e WHERE e.state = 'waiting' AND e.listener > ${after}
        AND e.listener < low.listener ORDER BY e.listener, e.due_at LIMIT 1)
      UNION ALL (SELECT e.listener, e.due_at FROM ${event} e WHERE e.state = 'waiting' AND e.listener = low.listener
        AND e.due_at >= (SELECT f.due_from FROM ${floor} f WHERE f.listener = low.listener) ORDER BY e.due_at LIMIT 1)
      UNION ALL SELECT low.listener, NULL WHERE low.listener IS NOT NULL LIMIT 1) n`;
  }

  /** Steps from one listener to the next along the index, so that idle listeners and long backlogs cost nothing. */
  #look(after: string | undefined, max: number): string {
    return `WITH RECURSIVE steps AS (
      (SELECT 1 AS step, n.* FROM (${this.#next(`(${jsonLiteral(after ?? "")} #>> '{}')`)}) n) UNION ALL
      SELECT s.step + 1, n.* FROM steps s CROSS JOIN LATERAL (${this.#next("s.listener")}) n WHERE s.step < ${LOOK_STEPS})
    SELECT s.listener, s.step, coalesce(s.due_at <= now(), false) AS "isDue", s.due_at IS NOT NULL AND ${isAway("own")} AS "isPaused",
      coalesce(own.rest_until > now(), false) AS rests, ${ms("own.changed_at")} AS "changedAt"
    FROM steps s LEFT JOIN LATERAL (
      SELECT h.paused_at, h.unknown_until, h.rest_until, h.changed_at FROM ${this.#names.listener} h WHERE h.name = s.listener OFFSET 0) own ON true
    WHERE s.due_at <= now() OR s.due_at IS NOT NULL AND ${isAway("own")} OR s.step = ${LOOK_STEPS} LIMIT ${Number(max)}`;
  }

  /** Unknown listeners that wait for nothing but to be asked for again. */
  #unknownAgain(max: number): string {
    const { event } = this.#names;
    return `SELECT h.name AS listener, ${ms("h.changed_at")} AS "changedAt" FROM ${this.#names.listener} h
    WHERE h.unknown_since IS NOT NULL AND h.paused_at IS NULL AND h.unknown_until <= now()
      AND EXISTS (SELECT FROM ${event} e WHERE e.listener = h.name AND e.state = 'aside' AND ${IS_BEHIND})
    ORDER BY h.unknown_until LIMIT ${Number(max)}`;
  }

  /** Where there is more than one page, the next one, and looks, must not go over what this one has put aside. */
  async #putAside(paused: readonly string[]): Promise<void> {
    const [[page] = []] = (await this.#database.script([this.#asidePage(paused)])) as { count: number }[][];
    if (page?.count === ASIDE_PAGE) await this.#database.script(raiseSlowFloors(this.#names, paused));
  }

  /** The row's lock keeps a pause from being ended meanwhile, so that nothing is put aside after it was. */
  #asidePage(paused: readonly string[]): string {
    const { event, floor } = this.#names;
    return `WITH mine AS MATERIALIZED (
      SELECT h.name FROM ${this.#names.listener} h JOIN json_array_elements_text(${jsonLiteral(paused)}) p(name) ON p.name = h.name
      WHERE ${isAway("h")} FOR UPDATE OF h SKIP LOCKED),
    marked AS (UPDATE ${this.#names.listener} h SET has_aside = true FROM mine WHERE h.name = mine.name),
    open AS (
      SELECT o.ctid FROM mine CROSS JOIN LATERAL (
        SELECT e.ctid FROM ${event} e WHERE e.listener = mine.name AND e.state = 'waiting'
          AND e.due_at >= coalesce((SELECT f.due_from FROM ${floor} f WHERE f.listener = mine.name), '-infinity')
        ORDER BY e.due_at LIMIT ${ASIDE_PAGE} FOR UPDATE SKIP LOCKED) o LIMIT ${ASIDE_PAGE}),
    put AS (UPDATE ${event} e SET state = 'aside' WHERE e.ctid = ANY (ARRAY(SELECT ctid FROM open)) RETURNING 1)
    SELECT count(*)::int AS count FROM put`;
  }

  /**
   * Each page goes on where the last one ended, or it would go over those that were brought back before. Only one that
   * begins with the first can be the last: others may have been put aside meanwhile.
   */
  async #bringPageBack(listener: string | undefined, from: string): Promise<BroughtBack | undefined> {
    const { event } = this.#names;
    const own = listener === undefined ? "" : `AND name = (${jsonLiteral(listener)} #>> '{}')`;
    const [found] = await this.#database.script([
      `WITH one AS MATERIALIZED (
        SELECT name FROM ${this.#names.listener} WHERE has_aside AND paused_at IS NULL AND unknown_since IS NULL ${own} LIMIT 1 FOR UPDATE),
      back AS (
        UPDATE ${event} e SET state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END,
          due_at = ${aboveFloor(this.#names)}
        WHERE e.ctid = ANY (ARRAY(
          SELECT b.ctid FROM one CROSS JOIN LATERAL (
            SELECT e.ctid FROM ${event} e WHERE e.listener = one.name AND e.state = 'aside' AND ${IS_BEHIND}
              AND e.ready_at >= '${from}' ORDER BY e.ready_at LIMIT ${ASIDE_PAGE}) b))
        RETURNING e.ready_at),
      ended AS (
        UPDATE ${this.#names.listener} h SET has_aside = false FROM one
        WHERE h.name = one.name AND (SELECT count(*) FROM back) < ${ASIDE_PAGE} AND '${from}' = '${FIRST}')
      SELECT EXISTS (SELECT FROM one) AS more,
        (SELECT ${timeText("max(ready_at)")} FROM back HAVING count(*) = ${ASIDE_PAGE}) AS last`,
    ]);
    return found?.[0] as BroughtBack | undefined;
  }
}

/** Whether a listener's events are put aside. */
function isAway(row: string): string {
  return `(${row}.paused_at IS NOT NULL OR coalesce(${row}.unknown_until > now(), false))`;
}
