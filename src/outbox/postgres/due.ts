import { type DueLooks, dueListeners, LOOK_STEPS, type LookedAt } from "../engine.js";
import { type Database, jsonLiteral } from "./database.js";
import { settle, unsettled } from "./order.js";
import { ms } from "./rows.js";
import { IS_BEHIND, type OutboxNames } from "./schema.js";

/** How many events one transaction puts aside or brings back. */
const PAGE = 1_000;

export function dueLooks(database: Database, names: OutboxNames): DueLooks {
  const { event, listener: table } = names;

  const next = (after: string) => `SELECT e.listener, e.due_at FROM ${event} e
    WHERE e.state = 'waiting' AND e.listener > ${after} ORDER BY e.listener, e.due_at LIMIT 1`;

  /** Steps from one listener to the next along the index, so that idle listeners and long backlogs cost nothing. */
  const look = (after: string | undefined, most: number) => `WITH RECURSIVE steps AS (
      (SELECT 1 AS step, n.* FROM (${next(`(${jsonLiteral(after ?? "")} #>> '{}')`)}) n) UNION ALL
      SELECT s.step + 1, n.* FROM steps s CROSS JOIN LATERAL (${next("s.listener")}) n WHERE s.step < ${LOOK_STEPS})
    SELECT s.listener, s.step, s.due_at <= now() AS "isDue", own.paused_at IS NOT NULL AS "isPaused",
      coalesce(own.rest_until > now(), false) AS rests, ${ms("own.changed_at")} AS "changedAt"
    FROM steps s LEFT JOIN LATERAL (
      SELECT h.paused_at, h.rest_until, h.changed_at FROM ${table} h WHERE h.name = s.listener OFFSET 0) own ON true
    WHERE s.due_at <= now() OR own.paused_at IS NOT NULL OR s.step = ${LOOK_STEPS} LIMIT ${Number(most)}`;

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
      const looks = [look(after, most), unsettled(names)];
      let [rows, [state]] = (await database.script(looks)) as [LookedAt[], { unsettled: boolean }[]];
      if (state?.unsettled)
        [rows, [state]] = (await database.scripts([settle(names), looks])).at(-1) as [
          LookedAt[],
          (typeof state)[],
        ];
      const paused = rows.filter(({ isPaused }) => isPaused).map(({ listener }) => listener);
      if (paused.length > 0) await database.script([putAside(paused)]);
      return dueListeners(rows, most);
    },
    async bringBack(listener) {
      while (await bringPageBack(listener));
    },
  };
}
