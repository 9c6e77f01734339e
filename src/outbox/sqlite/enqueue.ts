// Stores events in SQLite, and what follows from a change of their state.
import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { LATER_MS, newEvents, SHARED_BODY_MS, sharedBodies } from "../engine.js";
import type { OutboxEvent } from "../records.js";
import { ASIDE, DELIVERED, LATER, PARKED, PENDING, WAITING } from "./schema.js";

/**
 * Stores events over one connection, inside a transaction. It refuses events before it writes anything, because a
 * savepoint to undo the writing would double the cost of 100 events.
 *
 * @throws {HookproofError} EVENT_ID_REUSED
 */
export function eventWriter(db: SqliteDatabase): (events: readonly OutboxEvent[], now: number) => void {
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
    const turn = orderingKey === null && readyAt > now + LATER_MS ? LATER : WAITING;
    const seq = insert("event", ...of, now, readyAt, readyAt, readyAt, isBehind ? PARKED : turn);
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

/** The columns of a changed row that say what else has to change. */
export interface ChangedRow {
  readonly seq: number;
  readonly listener: string;
  readonly ordering_key: string | null;
}

/**
 * What follows from a change of events' state, to be called in the same transaction, once for each statement: the
 * counts, the bodies that nothing needs any more, and the turn of the ordering keys. `undefined` stands for an event
 * that is not stored, or is cancelled.
 */
export type StateChange = (
  rows: readonly ChangedRow[],
  from: number | undefined,
  to: number | undefined,
) => void;

/** Not a trigger: one that counts every event by itself takes a fifth of a delivery. */
export function stateChange(db: SqliteDatabase): StateChange {
  const ask = preparedQueries(db, {
    first: `SELECT seq, turn FROM hookproof_outbox
      WHERE listener = ? AND ordering_key = ? AND turn IS NOT NULL ORDER BY seq LIMIT 2`,
  });
  const change = preparedChanges(db, {
    count: `INSERT INTO hookproof_outbox_counts VALUES (?, ?, ?)
      ON CONFLICT (listener, state) DO UPDATE SET events = events + excluded.events`,
    forget: "DELETE FROM hookproof_outbox_bodies WHERE seq IN (SELECT value FROM json_each(?))",
    turn: "UPDATE hookproof_outbox SET turn = ? WHERE seq = ?",
  });

  function count(rows: readonly ChangedRow[], from: number | undefined, to: number | undefined): void {
    const counts = new Map<string, number>();
    for (const { listener } of rows) counts.set(listener, (counts.get(listener) ?? 0) + 1);
    for (const [listener, events] of counts) {
      if (from !== undefined) change("count", listener, from, -events);
      if (to !== undefined) change("count", listener, to, events);
    }
  }

  /** Gives the turn to the first unfinished event of a key. At most one has it, so the first two rows are enough. */
  function passOn({ listener, ordering_key }: ChangedRow): void {
    if (ordering_key === null) return;
    const rows = ask<{ seq: number; turn: number }>("first", listener, ordering_key);
    for (const [place, { seq, turn }] of rows.entries()) {
      const due = place === 0 ? WAITING : PARKED;
      const isAside = place === 0 && turn === ASIDE;
      if (turn !== due && !isAside) change("turn", due, seq);
    }
  }

  return (rows, from, to) => {
    if (rows.length === 0) return;
    count(rows, from, to);
    if (to === undefined || to === DELIVERED) change("forget", JSON.stringify(rows.map(({ seq }) => seq)));
    if (from !== undefined) rows.forEach(passOn);
  };
}
