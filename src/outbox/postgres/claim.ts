import { newEventId } from "../../protocol/event-id.js";
import type { ClaimedEvent, ClaimRequest, ClaimShare } from "../outbox-store.js";
import { type Database, jsonLiteral } from "./database.js";
import { ofKey, settle } from "./order.js";
import { CLAIMED_COLUMNS, type ClaimedRow, claimedOf, ms } from "./rows.js";
import type { OutboxNames } from "./schema.js";

/** How often one claim asks again where other listeners had less than their share. */
const ROUNDS = 4;

/** Up to so many listeners are looked up one by one; past it, along the index of those that have events. */
const FEW_LISTENERS = 16;

/** Hands out due events; see `OutboxStore`. */
export type Claim = (request: ClaimRequest) => Promise<ClaimedEvent[]>;

export function claiming(database: Database, names: OutboxNames): Claim {
  /** Whether there was something to do before a claim when one asked last. */
  let isUnsettled = false;
  /** Claims whose answer was lost: what they took is given back, and not left until its lease runs out. */
  const unanswered = new Set<string>();

  async function round(request: ClaimRequest): Promise<ClaimedRow[]> {
    const token = newEventId();
    const lost = [...unanswered];
    const before = lost.length > 0 ? [giveBackSql(names, lost)] : [];
    const settling = isUnsettled || lost.length > 0 ? [settle(names, ...before)] : [];
    const claim = [claimSql(names, request, token), unsettledSql(names)];
    // In transactions of their own, as a claim sees what was committed before it.
    const script = [...settling, claim];
    const results = await database.scripts(script).catch((error) => {
      if ((error as { code?: unknown }).code === "OUTBOX_OUTCOME_UNKNOWN") unanswered.add(token);
      throw error;
    });
    for (const one of lost) unanswered.delete(one);
    const [rows, [state]] = results.at(-1) as [ClaimedRow[], { unsettled: boolean }[]];
    isUnsettled = state?.unsettled ?? false;
    return rows;
  }

  return async (request) => {
    const { limit, leaseMs } = request;
    let listeners = new Map([...request.listeners].filter(([, { most }]) => most > 0));
    const claimed: ClaimedRow[] = [];
    for (let n = 0; n < ROUNDS && listeners.size > 0 && claimed.length < limit; n++) {
      const wasUnsettled = isUnsettled;
      const rows = await round({ limit: limit - claimed.length, leaseMs, listeners });
      claimed.push(...rows);
      if (isUnsettled && !wasUnsettled) continue; // what was new or given up may be due now
      listeners = withMore(listeners, rows);
    }
    return inTurn(claimed, request.listeners.keys()).map(claimedOf);
  };
}

/** The listeners that gave their whole share, and may have more. */
function withMore(
  listeners: ReadonlyMap<string, ClaimShare>,
  rows: readonly ClaimedRow[],
): Map<string, ClaimShare> {
  const given = new Map<string, number>();
  for (const { listener } of rows) given.set(listener, (given.get(listener) ?? 0) + 1);
  const share = rows[0]?.share ?? 0;
  const open = [...listeners].flatMap(([name, { most, windowMs }]): [string, ClaimShare][] => {
    const count = given.get(name) ?? 0;
    return count === share && count < most && count > 0 ? [[name, { most: most - count, windowMs }]] : [];
  });
  return new Map(open);
}

function claimSql(
  { event }: OutboxNames,
  { limit, leaseMs, listeners }: ClaimRequest,
  token: string,
): string {
  const wanted = [...listeners].map(([listener, { most, windowMs }], place) => {
    return { place, listener, most, window_ms: windowMs };
  });
  const next = (
    after: string,
  ) => `SELECT e.listener, e.due_at FROM ${event} e WHERE e.state = 'waiting' ${after}
    ORDER BY e.listener, e.due_at LIMIT 1`;
  // From one listener to the next along the index, so that neither those with nothing due nor a backlog count.
  const alongIndex = `waiting AS (
      (${next("")}) UNION ALL
      SELECT n.* FROM waiting w CROSS JOIN LATERAL (${next("AND e.listener > w.listener")}) n)`;
  const oneByOne = `waiting AS (
      SELECT n.* FROM wanted w CROSS JOIN LATERAL (${next("AND e.listener = w.listener")}) n)`;
  return `WITH RECURSIVE wanted AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${jsonLiteral(wanted)})
        AS w(place int, listener text, most int, window_ms float8)),
    ${wanted.length > FEW_LISTENERS ? alongIndex : oneByOne},
    due AS MATERIALIZED (
      SELECT w.* FROM wanted w JOIN waiting USING (listener) WHERE waiting.due_at <= now() ORDER BY w.place),
    one AS MATERIALIZED (SELECT ceil(${limit} / greatest(1, count(*))::float8)::int AS share FROM due),
    taken AS (
      SELECT t.ctid FROM due CROSS JOIN one CROSS JOIN LATERAL (
        SELECT e.ctid FROM ${event} e
        WHERE e.listener = due.listener AND e.state = 'waiting' AND e.due_at <= now()
          AND (e.first_attempt_at IS NULL
            OR e.first_attempt_at >= now() - due.window_ms * interval '1 ms')
          AND (e.ordering_key IS NULL OR NOT EXISTS (
            SELECT FROM ${event} n WHERE ${ofKey("n", "e", "new")} AND n.seq < e.seq))
        ORDER BY e.due_at, e.seq LIMIT least(due.most, one.share) FOR UPDATE SKIP LOCKED) t
      LIMIT ${limit})
    UPDATE ${event} e SET state = 'leased', token = '${token}', claimed_at = now(),
      leased_until = now() + ${Number(leaseMs)} * interval '1 ms', attempts = e.attempts + 1,
      first_attempt_at = coalesce(e.first_attempt_at, now())
    WHERE e.ctid = ANY (ARRAY(SELECT ctid FROM taken))
    RETURNING ${CLAIMED_COLUMNS}, (SELECT share FROM one) AS share`;
}

function unsettledSql({ event }: OutboxNames): string {
  return `SELECT EXISTS (SELECT FROM ${event} WHERE state = 'leased' AND leased_until <= now())
    OR EXISTS (SELECT FROM ${event} WHERE state = 'new') AS unsettled, ${ms("now()")} AS now`;
}

/** Gives back what claims took of which nobody knows, with the attempt that they counted. */
function giveBackSql({ event }: OutboxNames, tokens: readonly string[]): string {
  const list = tokens.map((token) => `'${token}'`).join();
  return `UPDATE ${event} e SET ${RELEASED} WHERE e.state = 'leased' AND e.leased_until > now() AND e.token IN (${list})`;
}

/** What becomes of an event that was claimed and not attempted. */
export const RELEASED = `state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END, leased_until = NULL,
  token = NULL, attempts = e.attempts - 1,
  first_attempt_at = CASE WHEN e.first_attempt_at = e.claimed_at THEN NULL ELSE e.first_attempt_at END`;

/** One of each listener in turn, and those of one listener by how long they have been due. */
function inTurn(rows: readonly ClaimedRow[], listeners: Iterable<string>): ClaimedRow[] {
  const lanes = new Map([...listeners].map((name): [string, ClaimedRow[]] => [name, []]));
  for (const row of [...rows].sort((a, b) => a.due_at - b.due_at || a.seq - b.seq))
    lanes.get(row.listener)?.push(row);
  const inPlay = [...lanes.values()].filter(({ length }) => length > 0);
  const deepest = Math.max(0, ...inPlay.map(({ length }) => length));
  return Array.from({ length: deepest }, (_, depth) => inPlay.flatMap((lane) => lane[depth] ?? [])).flat();
}
