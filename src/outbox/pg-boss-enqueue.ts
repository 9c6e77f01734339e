import { HookproofError } from "../errors.js";
import { encodeBase64 } from "../primitives/base64url.js";
import { newEventId } from "../protocol/event-id.js";
import type { OutboxEvent } from "./outbox-store.js";
import { rowsOf, type SqlRunner } from "./pg-boss-database.js";
import type { OutboxTables } from "./pg-boss-tables.js";

interface StoredRow {
  readonly listener: string;
  readonly id: string;
  readonly jobId: string;
}

/** Stores events and their jobs; of those that are known, it compares the digests. */
export async function storeEvents(
  { events: table, jobs, channel }: OutboxTables,
  db: SqlRunner,
  events: readonly OutboxEvent[],
): Promise<void> {
  const input = events.map((event, place) => ({
    place,
    id: event.id,
    listener: event.listener,
    body: encodeBase64(event.body),
    digest: event.digest,
    orderingKey: event.orderingKey,
    traceparent: event.traceparent,
    encryptionKeyId: event.encryptionKeyId,
    jobId: newEventId(),
  }));
  const stored = await rowsOf<StoredRow>(db, insertInto(table, channel, events.length), input);
  if (stored.length < events.length) {
    const reused = await reusedIds(table, db, events);
    if (reused[0]) {
      // The caller may go on with its transaction: nothing of this call may stay in it.
      if (stored.length > 0) await rowsOf(db, removeFrom(table), stored);
      throw new HookproofError(
        "EVENT_ID_REUSED",
        `Event id ${reused[0].id} was used before with other bytes. A new event needs a new id.`,
      );
    }
  }
  await jobs.add(db, stored);
}

/** The ids of events that are known with other bytes. */
function reusedIds(table: string, db: SqlRunner, events: readonly OutboxEvent[]): Promise<{ id: string }[]> {
  return rowsOf(
    db,
    `SELECT i.id FROM json_to_recordset($1::text::json) AS i(id uuid, listener text, digest text)
     JOIN ${table} e ON e.id = i.id AND e.listener = i.listener WHERE e.digest <> i.digest LIMIT 1`,
    events.map(({ id, listener, digest }) => ({ id, listener, digest })),
  );
}

function removeFrom(table: string): string {
  return `DELETE FROM ${table} e USING json_to_recordset($1::text::json) AS i(id uuid, listener text)
    WHERE e.id = i.id AND e.listener = i.listener`;
}

/** Of the notifications of one transaction PostgreSQL keeps one. */
function insertInto(table: string, channel: string, count: number): string {
  return `INSERT INTO ${table} (id, listener, state, body, digest, ordering_key, traceparent, encryption_key_id,
      enqueued_at, due_at, job_id)
    SELECT id, listener, 'waiting', decode(body, 'base64'), digest, "orderingKey", traceparent, "encryptionKeyId",
      now(), now(), "jobId"
    FROM json_to_recordset($1::text::json) AS i(place int, id uuid, listener text, body text, digest text,
      "orderingKey" text, traceparent text, "encryptionKeyId" text, "jobId" uuid)
    ${count > 1 ? "ORDER BY place" : ""}
    ON CONFLICT (id, listener) DO NOTHING
    RETURNING listener, id, job_id AS "jobId", pg_notify('${channel}', '')::text`;
}
