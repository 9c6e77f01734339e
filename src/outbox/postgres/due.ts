import type { DueListeners } from "../outbox-store.js";
import { type Database, jsonLiteral } from "./database.js";
import { settle, unsettledSql } from "./order.js";
import { IS_BEHIND, ms, type OutboxNames } from "./schema.js";

/** How many listeners one look goes over. */
const STEPS = 1_000;

/** How many events one transaction puts aside or brings back. */
const PAGE = 1_000;

interface DueRow {
  readonly listener: string;
  readonly step: number;
  readonly is_due: boolean;
  readonly is_paused: boolean;
  readonly rests: boolean;
  readonly changed_at: number | null;
}

/** Finds listeners with due events; those of paused listeners are put aside, so that later looks do not pass them. */
export interface DueLooks {
  due(after: string | undefined, most: number): Promise<DueListeners>;
  /** Lets the events go that were put aside of a listener that is no longer paused, or of all such. */
  bringBack(listener?: string): Promise<void>;
}

export function dueLooks(database: Database, names: OutboxNames): DueLooks {
  const { event, listener: table } = names;

  const next = (after: string) => `SELECT e.listener, e.due_at FROM ${event} e
    WHERE e.state = 'waiting' AND e.listener > ${after} ORDER BY e.listener, e.due_at LIMIT 1`;

  /** Steps from one listener to the next along the index, so that idle listeners and long backlogs cost nothing. */
  const look = (after: string | undefined, most: number) => `WITH RECURSIVE steps AS (
      (SELECT 1 AS step, n.* FROM (${next(`(${jsonLiteral(after ?? "")} #>> '{}')`)}) n) UNION ALL
      SELECT s.step + 1, n.* FROM steps s CROSS JOIN LATERAL (${next("s.listener")}) n WHERE s.step < ${STEPS})
    SELECT s.listener, s.step, s.due_at <= now() AS is_due, own.paused_at IS NOT NULL AS is_paused,
      coalesce(own.rest_until > now(), false) AS rests, ${ms("own.changed_at")} AS changed_at
    FROM steps s LEFT JOIN LATERAL (
      SELECT h.paused_at, h.rest_until, h.changed_at FROM ${table} h WHERE h.name = s.listener OFFSET 0) own ON true
    WHERE s.due_at <= now() OR own.paused_at IS NOT NULL OR s.step = ${STEPS} LIMIT ${Number(most)}`;

  /** The row's lock keeps a pause from being ended meanwhile, so that nothing is put aside after it was. */
  const putAside = (paused: readonly string[]) => `WITH mine AS MATERIALIZED (
      SELECT h.name FROM ${table} h JOIN json_array_elements_text(${jsonLiteral(paused)}) p(name) ON p.name = h.name
      WHERE h.paused_at IS NOT NULL FOR UPDATE OF h SKIP LOCKED),
    marked AS (UPDATE ${table} h SET has_aside = true FROM mine WHERE h.name = mine.name),
    open AS (
      SELECT o.ctid FROM mine CROSS JOIN LATERAL (
        SELECT e.ctid FROM ${event} e WHERE e.listener = mine.name AND e.state = 'waiting'
        ORDER BY e.due_at LIMIT ${PAGE} FOR UPDATE SKIP LOCKED) o LIMIT ${PAGE})
    UPDATE ${event} e SET state = 'aside' WHERE e.ctid = ANY (ARRAY(SELECT ctid FROM open))`;

  /** Resolves to whether there is more. */
  async function bringPageBack(listener: string | undefined): Promise<boolean> {
    const own = listener === undefined ? "" : `AND name = (${jsonLiteral(listener)} #>> '{}')`;
    const [found] = await database.script([
      `WITH one AS MATERIALIZED (
        SELECT name FROM ${table} WHERE has_aside AND paused_at IS NULL ${own} LIMIT 1 FOR UPDATE),
      back AS (
        UPDATE ${event} e SET state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END
        WHERE e.ctid = ANY (ARRAY(
          SELECT b.ctid FROM one CROSS JOIN LATERAL (
            SELECT e.ctid FROM ${event} e WHERE e.listener = one.name AND e.state = 'aside' AND ${IS_BEHIND}
            LIMIT ${PAGE}) b))
        RETURNING 1),
      ended AS (
        UPDATE ${table} h SET has_aside = false FROM one
        WHERE h.name = one.name AND (SELECT count(*) FROM back) < ${PAGE})
      SELECT EXISTS (SELECT FROM one) AS more`,
    ]);
    return (found?.[0] as { more: boolean } | undefined)?.more ?? false;
  }

  return {
    async due(after, most) {
      const looks = [look(after, most), unsettledSql(names)];
      let [rows, [state]] = (await database.script(looks)) as [DueRow[], { unsettled: boolean }[]];
      if (state?.unsettled)
        [rows, [state]] = (await database.scripts([settle(names), looks])).at(-1) as [
          DueRow[],
          (typeof state)[],
        ];
      const paused = rows.filter(({ is_paused }) => is_paused).map(({ listener }) => listener);
      if (paused.length > 0) await database.script([putAside(paused)]);
      const last = rows.at(-1);
      const listeners = rows
        .filter(({ is_due, is_paused, rests }) => is_due && !is_paused && !rests)
        .map(({ listener, changed_at }) => ({ listener, changedAt: changed_at ?? undefined }));
      return { listeners, next: rows.length === most || last?.step === STEPS ? last?.listener : undefined };
    },
    async bringBack(listener) {
      while (await bringPageBack(listener));
    },
  };
}
