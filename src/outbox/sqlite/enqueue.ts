import { HookproofError, messageOf } from "../errors.js";
import type { OutboxEvent } from "../outbox/outbox-store.js";
import { preparedChanges, preparedQueries, type SqliteDatabase } from "./sqlite-database.js";
import { counting } from "./sqlite-outbox-counts.js";
import { PENDING } from "./sqlite-outbox-schema.js";

/**
 * How events are stored over one connection, in a transaction. What is refused is refused before anything is
 * written: a savepoint that could take it back would double what 100 events cost.
 *
 * @throws {HookproofError} EVENT_ID_REUSED
 */
export function enqueueing(db: SqliteDatabase): (events: readonly OutboxEvent[], now: number) => void {
  const ask = preparedQueries(db, {
    known: "SELECT digest FROM hookproof_outbox WHERE id = ? AND listener = ?",
    isBehind: `SELECT 1 FROM hookproof_outbox
      WHERE listener = ? AND ordering_key = ? AND turn IS NOT NULL LIMIT 1`,
  });
  const count = counting(db);
  const insert = preparedChanges(db, {
    event: `INSERT INTO hookproof_outbox
      (listener, id, digest, ordering_key, traceparent, encryption_key_id, enqueued_at, due_at, visible_at, turn)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    body: "INSERT INTO hookproof_outbox_bodies VALUES (?, ?)",
  });

  /** Those that are not known yet, each once. */
  function unknown(events: readonly OutboxEvent[]): readonly OutboxEvent[] {
    const added = new Map<string, OutboxEvent>();
    for (const event of events) {
      const name = `${event.id} ${event.listener}`;
      const known = added.get(name) ?? ask<{ digest: string }>("known", event.id, event.listener)[0];
      if (!known) added.set(name, event);
      else if (known.digest !== event.digest) throw idReused(event);
    }
    return [...added.values()];
  }

  function add(event: OutboxEvent, now: number): void {
    const { id, listener, digest, orderingKey = null, traceparent = null, encryptionKeyId = null } = event;
    const isBehind = orderingKey !== null && ask("isBehind", listener, orderingKey).length > 0;
    const of = [listener, id, digest, orderingKey, traceparent, encryptionKeyId] as const;
    const seq = insert("event", ...of, now, now, now, isBehind ? 0 : 1);
    insert("body", seq, event.body);
  }

  return (events, now) => {
    const added = unknown(events);
    for (const event of added) add(event, now);
    count(added, undefined, PENDING);
  };
}

function idReused({ id, listener }: OutboxEvent): HookproofError {
  const words = `Event ${id} is known at the listener ${JSON.stringify(listener)}.`;
  return new HookproofError("EVENT_ID_REUSED", `${messageOf("EVENT_ID_REUSED")} ${words}`);
}
