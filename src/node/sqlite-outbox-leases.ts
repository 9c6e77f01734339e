import type { Burial, Completion, Lease, OutboxAttempt } from "../outbox/outbox-store.js";
import { preparedQueries, type SqliteDatabase } from "./sqlite-database.js";
import { counting, forgetting } from "./sqlite-outbox-counts.js";
import { DEAD, DELIVERED, PENDING } from "./sqlite-outbox-schema.js";
import { type KeyedRow, passingOn } from "./sqlite-outbox-turns.js";

/** What the holder of a lease may do; each call has to be in a transaction. */
export interface LeaseQueries {
  /** Gives how many of the leases were good. */
  complete(completions: readonly Completion[], now: number): number;
  reschedule(lease: Lease, at: number, attempt: OutboxAttempt): boolean;
  bury(lease: Lease, burial: Burial, now: number): boolean;
  release(lease: Lease): boolean;
}

/** An event that was delivered. */
interface EndedRow extends KeyedRow {
  readonly seq: number;
}

const HELD = `WHERE id = ? AND listener = ? AND lease_token = ? AND state = ${PENDING}`;
const FREED = "lease_token = NULL, lease_until = NULL";
const REMEMBERED = "history = json_insert(history, '$[#]', json(?))";
const KEY = "RETURNING listener, ordering_key";

export function leaseQueries(db: SqliteDatabase): LeaseQueries {
  const passOn = passingOn(db);
  const count = counting(db);
  const forget = forgetting(db);
  const ask = preparedQueries(db, {
    complete: `UPDATE hookproof_outbox
      SET state = ${DELIVERED}, turn = NULL, ended_at = ?, outcome = ?, ${REMEMBERED}, ${FREED} ${HELD}
      RETURNING seq, listener, ordering_key`,
    reschedule: `UPDATE hookproof_outbox
      SET due_at = ?, visible_at = ?, ${REMEMBERED}, ${FREED} ${HELD} ${KEY}`,
    bury: `UPDATE hookproof_outbox
      SET state = ${DEAD}, turn = iif(?, turn, NULL), ended_at = ?, reason = ?, code = ?, ${FREED} ${HELD} ${KEY}`,
    remember: `UPDATE hookproof_outbox SET ${REMEMBERED} ${HELD} RETURNING 1`,
    release: `UPDATE hookproof_outbox SET visible_at = due_at, attempts = attempts - 1,
        first_attempt_at = iif(sent_before, first_attempt_at, NULL), ${FREED} ${HELD} ${KEY}`,
  });
  const held = ({ id, listener, token }: Lease) => [id, listener, token] as const;

  return {
    complete(completions, now) {
      const done = completions.flatMap(({ lease, outcome, attempt }) =>
        ask<EndedRow>("complete", now, outcome, JSON.stringify(attempt), ...held(lease)),
      );
      count(done, PENDING, DELIVERED);
      forget(done);
      done.forEach(passOn);
      return done.length;
    },
    reschedule: (lease, at, attempt) =>
      ask("reschedule", at, at, JSON.stringify(attempt), ...held(lease)).length > 0,
    bury(lease, { reason, code, attempt, blocksKey }, now) {
      if (attempt) ask("remember", JSON.stringify(attempt), ...held(lease));
      const rows = ask<KeyedRow>("bury", blocksKey ? 1 : 0, now, reason, code, ...held(lease));
      count(rows, PENDING, DEAD);
      rows.forEach(passOn);
      return rows.length > 0;
    },
    release: (lease) => ask("release", ...held(lease)).length > 0,
  };
}
