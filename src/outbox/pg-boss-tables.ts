import type { OutboxEvent } from "./outbox-store.js";
import type { BossDatabase, SqlRunner } from "./pg-boss-database.js";
import type { OutboxJobs } from "./pg-boss-jobs.js";

/** What every operation of the store works on. */
export interface OutboxTables {
  readonly database: BossDatabase;
  readonly jobs: OutboxJobs;
  /** The table of events, quoted. */
  readonly events: string;
  /** The function that stores events, quoted. */
  readonly enqueue: string;
  /** The sequence that gives events their places, as a literal. */
  readonly sequence: string;
  /** The channel that says there is work. */
  readonly channel: string;
  /** Runs work in a transaction of the store's own. */
  transaction<Value>(work: (db: SqlRunner) => Promise<Value>): Promise<Value>;
}

/** A time as milliseconds since the epoch; `extract` would count in `numeric`, five times as slow. */
export function ms(time: string): string {
  return `round(date_part('epoch', ${time}) * 1000)`;
}

/** Which events a statement is about: those of its input `i`, looked up by the primary key. */
export const IS_INPUT = `e.id = i.id AND e.listener = i.listener AND e.job_id = i."jobId"`;

/**
 * Whether an event of the input is in one of these states. Said so that no index is about it: without statistics
 * PostgreSQL believes that next to no event is leased, and would compare each of them with every input.
 */
export function isIn(...states: readonly ("waiting" | "leased")[]): string {
  return `CASE e.state ${states.map((state) => `WHEN '${state}' THEN true`).join(" ")} ELSE false END`;
}

/** An event's ordering key and that key's lock, under the names of `EventKey`. */
export const KEY_COLUMNS = `e.listener, e.ordering_key AS "orderingKey",
  hashtextextended(e.listener || ' ' || e.ordering_key, 0)::text AS lock`;

/** An event's columns, under the names of `EventRow`. */
export const EVENT_COLUMNS = `e.id, e.seq::float8 AS seq, e.body, e.digest, e.traceparent,
  e.encryption_key_id AS "encryptionKeyId", ${KEY_COLUMNS}`;

/** Which job an event has, under the names of `EventJob`, and its ordering key. */
export const JOB_COLUMNS = `e.id, e.job_id AS "jobId", e.fetched, ${KEY_COLUMNS}`;

export interface EventRow {
  readonly listener: string;
  readonly id: string;
  readonly seq: number;
  readonly body: Uint8Array;
  readonly digest: string;
  readonly orderingKey: string | null;
  readonly traceparent: string | null;
  readonly encryptionKeyId: string | null;
}

export function eventOf(row: EventRow): OutboxEvent {
  const { listener, id, body, digest, orderingKey, traceparent, encryptionKeyId } = row;
  return {
    id,
    listener,
    body: new Uint8Array(body),
    digest,
    orderingKey: orderingKey ?? undefined,
    traceparent: traceparent ?? undefined,
    encryptionKeyId: encryptionKeyId ?? undefined,
  };
}
