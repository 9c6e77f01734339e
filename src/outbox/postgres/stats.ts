// Counts each listener's events in PostgreSQL, and tells how old the oldest one is that waits.
import { type Database, jsonLiteral } from "../../postgres/database.js";
import type { ListenerStats } from "../records.js";
import { blocksRead, lookedFrom, SLOW_BLOCKS } from "./floor.js";
import { type Looks, PAUSE_PER_BLOCK_MS } from "./looks.js";
import type { OutboxNames } from "./names.js";
import { ms } from "./rows.js";
import { IS_BEHIND } from "./schema.js";

/*
 * While a snapshot is held, each index keeps the entries of all events that ended since, and the way to the oldest one
 * that waits goes over them. Where it was long, a process remembers where the first one of each kind stood, and begins
 * there. What appears before it meanwhile, because it was committed late, put aside or given back, is in the age when the
 * process looks over all again: after a pause in proportion to what that read. Waiting events have a floor: see floor.ts.
 */

/** Where events stand, each kind in an index by a time: later, tried before, behind others or aside, and leased. */
const KINDS = ["later", "tried", "behind", "leased"] as const;
type Times<Time> = Readonly<Partial<Record<(typeof KINDS)[number], Time>>>;

/** Events appear so long before now without being late: commits take a while, and first attempts were before a lease. */
const MARGINS_MS: Required<Times<number>> = { later: 10_000, tried: 120_000, behind: 10_000, leased: 10_000 };

/** The longest pause between two looks over all, and the one after a look that did not end in time. */
const MAX_PAUSE_MS = 5 * 60_000;

/** Of so many listeners a process remembers something. */
const MAX_KNOWN = 10_000;

/** What a process knows of a listener, or of the leases of all. Times are the database's, in milliseconds. */
interface Known {
  /** When it saw that; an earlier time is that of a clock which was put back. */
  readonly notedAt: number;
  /** When it looks over all again; absent after a call that failed, which may have been for that look. */
  readonly lookAt: number | undefined;
  /** Where the first event of each kind stands at the earliest. */
  readonly from: Times<number>;
}

/** What a call has seen of it. */
interface Seen {
  readonly now: number;
  readonly isAll: boolean;
  /** How many blocks of events it has read. */
  readonly read: number;
  /** Where the first event of each kind stands. */
  readonly places: Times<number | null>;
}

/** The leases of all listeners are looked through at once. */
const LEASES = null;
type Name = string | typeof LEASES;

class Memory {
  #known = new Map<Name, Known>();

  /** A query for what still holds, a row for each listener, and one without a listener for the leases. */
  sql(): string {
    const rows = [...this.#known].map(([listener, { notedAt, lookAt, from }]) => {
      const times = Object.entries({ ...from, noted_at: notedAt, look_at: lookAt });
      const texts = times.map(([name, at]) => [name, at === undefined ? at : new Date(at).toISOString()]);
      return { listener, ...Object.fromEntries(texts) };
    });
    const columns = [...KINDS, "noted_at", "look_at"].map((name) => `${name} timestamptz`);
    return `SELECT k.* FROM json_to_recordset(${jsonLiteral(rows)}) AS k(listener text, ${columns.join()})
      WHERE k.noted_at <= now() AND coalesce(k.look_at > now(), true)`;
  }

  /** Remembers what was slow; the rest is forgotten. */
  saw(seen: ReadonlyMap<Name, Seen>): void {
    const next: Map<Name, Known> = new Map();
    for (const [name, { now, isAll, read, places }] of seen) {
      const before = this.#known.get(name);
      if (isAll ? read <= SLOW_BLOCKS : !before) continue;
      if (next.size === MAX_KNOWN) break;
      const pause = isAll ? Math.min(read * PAUSE_PER_BLOCK_MS, MAX_PAUSE_MS) : MAX_PAUSE_MS;
      const from = KINDS.map((kind) => {
        const place = places[kind] ?? Number.POSITIVE_INFINITY;
        return [kind, Math.min(place - 1, now - MARGINS_MS[kind])];
      });
      const lookAt = (isAll ? undefined : before?.lookAt) ?? now + pause;
      next.set(name, { notedAt: now, lookAt, from: Object.fromEntries(from) });
    }
    this.#known = next;
  }

  /** A look over all may take longer than a call may: the next call does without one. */
  failed(): void {
    this.#known = new Map([...this.#known].map(([name, known]) => [name, { ...known, lookAt: undefined }]));
  }
}

type StatsRow = Pick<ListenerStats, "listener" | "pending" | "delivered" | "dead"> & {
  readonly in_flight: number;
  readonly oldest_age: number | null;
  readonly paused_at: number | null;
  readonly pause_reason: string | null;
  readonly rests_until: number | null;
  readonly unknown_since: number | null;
  readonly slowed: number | null;
  readonly now: number;
  readonly is_all: boolean;
  readonly read: number;
  readonly later: number | null;
  readonly tried: number | null;
  readonly behind: number | null;
  readonly leases_all: boolean;
  readonly leases_read: number;
  readonly leased: number | null;
};

function statsOf(row: StatsRow): ListenerStats {
  const { listener, pending, in_flight: inFlight, delivered, dead, oldest_age: oldestAgeMs } = row;
  const {
    paused_at: since,
    pause_reason: reason,
    rests_until: restsUntil,
    unknown_since: unknownSince,
    slowed: slowedMs,
  } = row;
  return {
    ...{ listener, pending, inFlight, delivered, dead, oldestAgeMs: Math.max(0, oldestAgeMs ?? 0) },
    ...(since !== null && { paused: { since, ...(reason !== null && { reason }) } }),
    ...(unknownSince !== null && { unknownSince }),
    ...(slowedMs !== null && { slowedMs }),
    ...(restsUntil !== null && { restsUntil }),
  };
}

function seenIn(rows: readonly StatsRow[]): Map<Name, Seen> {
  const seen = new Map<Name, Seen>();
  for (const { now, listener, is_all, read, later, tried, behind, leases_all, leases_read, leased } of rows) {
    seen.set(LEASES, { now, isAll: leases_all, read: leases_read, places: { leased } });
    seen.set(listener, { now, isAll: is_all, read, places: { later, tried, behind } });
  }
  return seen;
}

/** See `OutboxStore.stats`. */
export function statistics(
  database: Database,
  names: OutboxNames,
  looks: Looks,
): () => Promise<ListenerStats[]> {
  const memory = new Memory();
  return async () => {
    const asked = statsSql(names, memory.sql(), looks.leasesFrom());
    const rows = await database.read<StatsRow>(asked).catch((error) => {
      memory.failed();
      throw error;
    });
    memory.saw(seenIn(rows));
    return rows.map(statsOf);
  };
}

/**
 * Of the waiting events that were never tried, the first one due is the oldest. What a walk reads is counted by columns
 * around it, as they are computed in their order.
 */
function statsSql(names: OutboxNames, known: string, leasesFrom: string): string {
  const { event, tally, listener, floor } = names;
  const read = blocksRead(names);
  const firstOf = (value: string, where: string, place: string, from: string) =>
    `(SELECT ${value} FROM ${event} e WHERE e.listener = t.listener AND ${where} AND e.${place} >= ${from} ORDER BY e.${place} LIMIT 1)`;
  const first = (kind: string, where: string, place: string) =>
    `${firstOf(`ARRAY[e.ready_at, e.${place}]`, where, place, `coalesce(k.${kind}, '-infinity')`)} AS ${kind}`;
  return `WITH known AS MATERIALIZED (${known}),
    counts AS (SELECT listener, sum(pending) AS pending, sum(delivered) AS delivered, sum(dead) AS dead
      FROM ${tally} GROUP BY listener),
    t AS (SELECT coalesce(c.listener, h.name) AS listener, coalesce(c.pending, 0) AS pending,
        coalesce(c.delivered, 0) AS delivered, coalesce(c.dead, 0) AS dead, h.paused_at, h.pause_reason, h.rest_until, h.unknown_since
      FROM counts c FULL JOIN ${listener} h ON h.name = c.listener),
    leased AS MATERIALIZED (SELECT ${read} AS before, (SELECT json_agg(l) FROM (
        SELECT e.listener, count(*) FILTER (WHERE e.leased_until > now()) AS held,
          min(e.ready_at) FILTER (WHERE e.leased_until <= now()) AS oldest, min(e.leased_until) AS place
        FROM ${event} e WHERE e.state = 'leased' AND e.leased_until > greatest(${leasesFrom},
          (SELECT k.leased FROM known k WHERE k.listener IS NULL), '-infinity') GROUP BY e.listener) l) AS listeners, ${read} AS after),
    l AS MATERIALIZED (SELECT r.* FROM leased CROSS JOIN LATERAL json_to_recordset(leased.listeners)
      AS r(listener text, held float8, oldest timestamptz, place timestamptz)),
    looked AS MATERIALIZED (SELECT t.*, k.listener IS NULL AS is_all, low.noted_at, ${read} AS before,
        ${first("later", "e.state = 'later'", "due_at")},
        ${first("tried", "e.state IN ('waiting', 'later') AND e.first_attempt_at IS NOT NULL", "first_attempt_at")},
        ${first("behind", IS_BEHIND, "ready_at")}, ${read} AS after,
        ${firstOf("e.ready_at", "e.state = 'waiting'", "due_at", lookedFrom("low"))} AS waiting
      FROM t LEFT JOIN known k ON k.listener = t.listener
        LEFT JOIN ${floor} low ON low.listener = t.listener AND low.look_at < 'infinity'
      WHERE t.pending <> 0 OR t.delivered <> 0 OR t.dead <> 0 OR t.paused_at IS NOT NULL)
    SELECT t.listener, (t.pending - coalesce(l.held, 0))::float8 AS pending,
      coalesce(l.held, 0) AS in_flight, t.delivered::float8 AS delivered, t.dead::float8 AS dead,
      ${ms("now() - least(t.waiting, t.later[1], t.tried[1], t.behind[1], l.oldest)")} AS oldest_age,
      ${ms("t.paused_at")} AS paused_at, t.pause_reason, ${ms("t.unknown_since")} AS unknown_since,
      ${ms("now() - t.noted_at")} AS slowed,
      ${ms("CASE WHEN t.rest_until > now() THEN t.rest_until END")} AS rests_until,
      ${ms("now()")} AS now, t.is_all, (t.after - t.before)::float8 AS read,
      ${ms("t.later[2]")} AS later, ${ms("t.tried[2]")} AS tried, ${ms("t.behind[2]")} AS behind,
      NOT EXISTS (SELECT FROM known k WHERE k.listener IS NULL) AS leases_all,
      (SELECT (after - before)::float8 FROM leased) AS leases_read, ${ms("(SELECT min(place) FROM l)")} AS leased
    FROM looked t LEFT JOIN l ON l.listener = t.listener ORDER BY t.listener`;
}
