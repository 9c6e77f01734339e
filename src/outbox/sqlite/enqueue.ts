import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { LATER_MS, newEvents, SHARED_BODY_MS, sharedBodies } from "../engine.js";
import type { OutboxEvent } from "../outbox-store.js";
import { type ChangedRow, stateChange } from "./changes.js";
import { LATER, PENDING } from "./schema.js";

/**
 * Stores events over one connection, inside a transaction. It refuses events before it writes anything, because a
 * savepoint to undo the writing would double the cost of 100 events.
 *
 * @throws {HookproofError} EVENT_ID_REUSED
 */
export function enqueueing(db: SqliteDatabase): (events: readonly OutboxEvent[], now: number) => void {
  const ask = preparedQueries(db, {
    known: "SELECT digest FROM hookproof_outbox WHERE id = ? AND listener = ?",
    isBehind: `SELECT 1 FROM hookproof_outbox
      WHERE listener = ? AND ordering_key = ? AND turn IS NOT NULL LIMIT 1`,
  });
  const changed = stateChange(db);
  const insert = preparedChanges(db, {
    event: `INSERT INTO hookproof_outbox
      (listener, id, digest, ordering_key, traceparent, encryption_key_id, enqueued_at, ready_at, due_at,
        visible_at, turn)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    body: "INSERT INTO hookproof_outbox_bodies VALUES (?, ?)",
    shared: `INSERT INTO hookproof_outbox_shared VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (id, digest) DO UPDATE SET check_at = excluded.check_at`,
  });

  const digestOf = ({ id, listener }: OutboxEvent) =>
    ask<{ digest: string }>("known", id, listener)[0]?.digest;

  function add(event: OutboxEvent, now: number, isShared: boolean): ChangedRow {
    const { id, listener, digest, orderingKey = null, traceparent = null, encryptionKeyId = null } = event;
    const isBehind = orderingKey !== null && ask("isBehind", listener, orderingKey).length > 0;
    const of = [listener, id, digest, orderingKey, traceparent, encryptionKeyId] as const;
    const readyAt = Math.max(now, event.deliverAt ?? now);
    const turn = orderingKey === null && readyAt > now + LATER_MS ? LATER : 1;
    const seq = insert("event", ...of, now, readyAt, readyAt, readyAt, isBehind ? 0 : turn);
    if (!isShared) insert("body", seq, event.body);
    return { seq, listener, ordering_key: orderingKey };
  }

  return (events, now) => {
    const fresh = newEvents(events, digestOf);
    const { firsts, isShared } = sharedBodies(fresh);
    for (const { id, digest, body } of firsts) insert("shared", id, digest, body, now, now + SHARED_BODY_MS);
    const added = fresh.map((event) => add(event, now, isShared(event)));
    changed(added, undefined, PENDING);
  };
}
