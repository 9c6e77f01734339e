import { isEventId } from "../../protocol/event-id.js";
import type { ListenerStats, OutboxAttempt, OutboxEntry } from "../outbox-store.js";
import type { Database } from "./database.js";
import { ms } from "./rows.js";
import { IS_BEHIND, type OutboxNames } from "./schema.js";

interface EntryRow {
  readonly listener: string;
  readonly id: string;
  readonly state: OutboxEntry["state"];
  readonly enqueued_at: number;
  readonly due_at: number;
  readonly first_attempt_at: number | null;
  readonly outcome: "accepted" | "duplicate" | null;
  readonly history: OutboxAttempt[];
}

type StatsRow = Omit<ListenerStats, "inFlight" | "oldestEnqueuedAt"> & {
  readonly in_flight: number;
  readonly oldest: number | null;
};

/** What is asked without changing anything; see `OutboxStore`. None of it gets slower with what the outbox holds. */
export interface Lookups {
  find(id: string): Promise<OutboxEntry[]>;
  stats(): Promise<ListenerStats[]>;
  now(): Promise<number>;
}

export function lookups(database: Database, { event, tally }: OutboxNames): Lookups {
  const isLeased = "e.state = 'leased' AND e.leased_until > now()";
  const first = (where: string, order: string) =>
    `(SELECT e.enqueued_at FROM ${event} e WHERE e.listener = t.listener AND ${where} ORDER BY ${order} LIMIT 1)`;

  return {
    async find(id) {
      if (!isEventId(id)) return [];
      const rows = await database.read<EntryRow>(
        `SELECT e.listener, e.id, ${ms("e.enqueued_at")} AS enqueued_at, ${ms("e.first_attempt_at")} AS first_attempt_at,
           ${ms("CASE WHEN e.state = 'leased' THEN e.leased_until ELSE e.due_at END")} AS due_at, e.outcome,
           array_to_json(e.history) AS history,
           CASE WHEN ${isLeased} THEN 'in-flight' WHEN e.ended_at IS NULL THEN 'pending' ELSE e.state END AS state
         FROM ${event} e WHERE e.id = $1::text::uuid ORDER BY e.seq`,
        [id],
      );
      return rows.map((row) => ({
        listener: row.listener,
        id: row.id,
        state: row.state,
        enqueuedAt: row.enqueued_at,
        ...(row.state === "pending" ? { dueAt: row.due_at } : {}),
        firstAttemptAt: row.first_attempt_at ?? undefined,
        outcome: row.outcome ?? undefined,
        attempts: row.history,
      }));
    },
    /** The oldest one of those that were never tried is the first one due. */
    async stats() {
      const rows = await database.read<StatsRow>(
        `WITH t AS (SELECT listener, sum(pending) AS pending, sum(delivered) AS delivered, sum(dead) AS dead
           FROM ${tally} GROUP BY listener),
         leased AS (SELECT e.listener, count(*) FILTER (WHERE e.leased_until > now()) AS held,
             min(e.enqueued_at) FILTER (WHERE e.leased_until <= now()) AS oldest
           FROM ${event} e WHERE e.state = 'leased' GROUP BY e.listener)
         SELECT t.listener, (t.pending - coalesce(l.held, 0))::float8 AS pending,
           coalesce(l.held, 0)::float8 AS in_flight, t.delivered::float8 AS delivered, t.dead::float8 AS dead,
           ${ms(`least(${first("e.state = 'waiting'", "e.due_at")},
             ${first("e.state = 'waiting' AND e.first_attempt_at IS NOT NULL", "e.first_attempt_at")},
             ${first(IS_BEHIND, "e.enqueued_at")}, l.oldest)`)} AS oldest
         FROM t LEFT JOIN leased l ON l.listener = t.listener
         WHERE t.pending <> 0 OR t.delivered <> 0 OR t.dead <> 0 ORDER BY t.listener`,
      );
      return rows.map(({ listener, pending, in_flight: inFlight, delivered, dead, oldest }) => {
        return { listener, pending, inFlight, delivered, dead, oldestEnqueuedAt: oldest ?? undefined };
      });
    },
    async now() {
      const [row] = await database.read<{ now: number }>(`SELECT ${ms("now()")} AS now`);
      return row?.now ?? Number.NaN;
    },
  };
}
