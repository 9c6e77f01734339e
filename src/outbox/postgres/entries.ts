// Where an event stands in PostgreSQL, and what it waits behind.
import type { Delivery, OutboxAttempt, OutboxEntry } from "../records.js";
import type { OutboxNames } from "./names.js";
import { OF_KEYS, ofKey } from "./order.js";
import { ms } from "./rows.js";

/** The columns of `EntryRow`. */
export const entryColumns = (
  names: OutboxNames,
) => `e.listener, ${waitsBehind(names)} AS waits_behind, e.ordering_key, e.id, ${ms("e.enqueued_at")} AS enqueued_at,
  ${ms("e.first_attempt_at")} AS first_attempt_at, e.outcome, array_to_json(e.history) AS history,
  ${ms("CASE WHEN e.state = 'leased' THEN e.leased_until ELSE e.due_at END")} AS due_at,
  CASE WHEN e.state = 'leased' AND e.leased_until > now() THEN 'in-flight'
    WHEN e.ended_at IS NULL THEN 'pending' ELSE e.state END AS state`;

const IS_LEASED = "b.state = 'leased' AND b.leased_until > now()";

/** The event of a pending event's key that holds it up, as JSON: each state's first one is one step in the index of keys. */
function waitsBehind(names: OutboxNames): string {
  const firsts = OF_KEYS.map(
    (state) =>
      `(SELECT b.* FROM ${names.event} b WHERE ${ofKey(names, "b", "e", state)} ORDER BY b.seq LIMIT 1)`,
  );
  return `(SELECT json_build_object('id', b.id,
      'state', CASE WHEN ${IS_LEASED} THEN 'in-flight' WHEN b.state = 'dead' THEN 'dead' ELSE 'pending' END,
      'since', ${ms("coalesce(b.ended_at, b.enqueued_at)")})
    FROM (${firsts.join(" UNION ALL ")}) b
    WHERE e.ended_at IS NULL AND NOT (e.state = 'leased' AND e.leased_until > now()) AND (b.seq < e.seq OR ${IS_LEASED})
    ORDER BY (${IS_LEASED}) DESC, b.seq LIMIT 1)`;
}

/** Where an event stands. */
export interface EntryRow {
  readonly listener: string;
  readonly id: string;
  readonly state: OutboxEntry["state"];
  readonly enqueued_at: number;
  readonly due_at: number;
  readonly first_attempt_at: number | null;
  readonly ordering_key: string | null;
  readonly waits_behind: OutboxEntry["waitsBehind"] | null;
  readonly outcome: Delivery["outcome"] | null;
  readonly history: OutboxAttempt[];
}

export function outboxEntry(row: EntryRow): OutboxEntry {
  return {
    listener: row.listener,
    id: row.id,
    state: row.state,
    enqueuedAt: row.enqueued_at,
    orderingKey: row.ordering_key ?? undefined,
    waitsBehind: row.waits_behind ?? undefined,
    ...(row.state === "pending" ? { dueAt: row.due_at } : {}),
    firstAttemptAt: row.first_attempt_at ?? undefined,
    outcome: row.outcome ?? undefined,
    attempts: row.history,
  };
}
