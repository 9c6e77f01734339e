import { newEventId } from "../protocol/event-id.js";
import type { Burial, Completion, Lease, OutboxAttempt } from "./outbox-store.js";
import { rowsOf, type SqlRunner } from "./pg-boss-database.js";
import { type EventJob, jobOf } from "./pg-boss-jobs.js";
import { type EventKey, lockKeys, unparkNext } from "./pg-boss-keys.js";
import { IS_INPUT, isIn, JOB_COLUMNS, KEY_COLUMNS, type OutboxTables } from "./pg-boss-tables.js";

/** An event that a lease was good for. */
type Held = EventJob & EventKey;

const LEASES = `WITH i AS (SELECT * FROM json_to_recordset($1::text::json) AS i(place int, id uuid, listener text,
  "jobId" uuid, fetched int, outcome text, attempt json, at timestamptz, "nextJobId" uuid, reason text, code text,
  "blocksKey" boolean, "isFirst" boolean))`;

/** A lease that ran out is as good as before until the event is fetched again. */
const IS_HELD = `${IS_INPUT} AND e.fetched = i.fetched AND ${isIn("leased", "waiting")}`;

/** `JOB_COLUMNS` of the lease, where the event's own have changed. */
const LEASED_JOB = `i.id, i."jobId", i.fetched, ${KEY_COLUMNS}`;

const HISTORY = "history = CASE WHEN i.attempt IS NULL THEN e.history ELSE e.history || i.attempt END";

/** Ends deliveries well. The bytes are not needed any more, the digest is. */
export function completeEvents(tables: OutboxTables, completions: readonly Completion[]): Promise<number> {
  const input = completions.map(({ lease, outcome, attempt }) => ({ ...jobOf(lease), outcome, attempt }));
  const end = `${LEASES} UPDATE ${tables.events} e SET state = 'delivered', outcome = i.outcome, ended_at = now(), ${HISTORY},
      body = NULL, leased_until = NULL, window_from = NULL
    FROM i WHERE ${IS_HELD} RETURNING ${JOB_COLUMNS}`;
  return tables.transaction(async (db) => (await settle(tables, db, input, end)).length);
}

/** Puts an event back, with a new job that begins when it is due. */
export function rescheduleEvent(
  tables: OutboxTables,
  lease: Lease,
  time: number,
  attempt: OutboxAttempt,
): Promise<boolean> {
  const at = new Date(time).toISOString();
  const nextJobId = newEventId();
  const putOff = `${LEASES} UPDATE ${tables.events} e SET state = 'waiting', due_at = i.at, job_id = i."nextJobId",
      fetched = NULL, ${HISTORY}, leased_until = NULL, window_from = e.first_attempt_at
    FROM i WHERE ${IS_HELD} RETURNING ${LEASED_JOB}`;
  return tables.transaction(async (db) => {
    const held = await settle(tables, db, [{ ...jobOf(lease), attempt, at, nextJobId }], putOff);
    await tables.jobs.add(
      db,
      held.map(({ listener, id }) => ({ listener, id, jobId: nextJobId, at })),
    );
    return held.length > 0;
  });
}

/** Makes an event a dead letter. */
export function buryEvent(tables: OutboxTables, lease: Lease, burial: Burial): Promise<boolean> {
  const end = `${LEASES} UPDATE ${tables.events} e SET ${DEATH}, ${HISTORY} FROM i WHERE ${IS_HELD}
    RETURNING ${JOB_COLUMNS}`;
  return tables.transaction(
    async (db) => (await settle(tables, db, [{ ...jobOf(lease), ...burial }], end)).length > 0,
  );
}

/** What becomes of an event that dies; its reason, code and `blocksKey` come from `i`. */
export const DEATH = `state = 'dead', reason = i.reason, code = i.code, ended_at = now(),
  blocks_key = i."blocksKey" AND e.ordering_key IS NOT NULL, leased_until = NULL, window_from = NULL`;

/** Gives events back; see `OutboxStore`. */
export function releaseEvents(tables: OutboxTables, leases: readonly Lease[]): Promise<void> {
  const jobs = leases.map(jobOf);
  return tables.transaction(async (db) => {
    await lockKeys(db, jobs);
    const held = await rowsOf<Held>(
      db,
      `${LEASES} UPDATE ${tables.events} e SET state = 'waiting', fetched = NULL, leased_until = NULL,
         attempts = e.attempts - 1, first_attempt_at = CASE WHEN NOT i."isFirst" THEN e.first_attempt_at END,
         window_from = CASE WHEN NOT i."isFirst" THEN e.first_attempt_at END
       FROM i WHERE ${IS_HELD} AND ${isIn("leased")} RETURNING ${LEASED_JOB}`,
      jobs,
    );
    await tables.jobs.giveBack(db, held);
    await unparkNext(tables, db, held);
  });
}

/** How long an event may be due before its job is looked for, and how many jobs are looked for at once. */
const LOST_AFTER = "interval '1 minute'";
const LOST_AT_ONCE = 100;

/**
 * Makes dead letters of due events whose job pg-boss does not have any more, or has given up: somebody deleted,
 * cancelled or failed it there.
 */
export async function buryLost(tables: OutboxTables, listener: string): Promise<void> {
  const { database, events: table, jobs } = tables;
  const due = await rowsOf<Held>(
    database,
    `SELECT ${JOB_COLUMNS} FROM json_to_recordset($1::text::json) AS i(listener text)
     JOIN ${table} e ON e.listener = i.listener
     WHERE e.state = 'waiting' AND e.due_at <= now() - ${LOST_AFTER} ORDER BY e.due_at LIMIT ${LOST_AT_ONCE}`,
    [{ listener }],
  );
  for (const { id, jobId, lock } of due) {
    if (await jobs.isAlive(listener, jobId)) continue;
    await tables.transaction(async (db) => {
      await lockKeys(db, [{ lock }]);
      const lost = await rowsOf<Held>(
        db,
        `${LEASES} UPDATE ${table} e SET ${DEATH} FROM i WHERE ${IS_INPUT} AND ${isIn("waiting")}
         RETURNING ${JOB_COLUMNS}`,
        [{ listener, id, jobId, reason: "lost", code: "LEASE_LOST", blocksKey: false }],
      );
      await unparkNext(tables, db, lost);
    });
  }
}

/** Ends leases: the events change, their jobs are done, and the next of their ordering keys may go. */
async function settle<Input extends EventJob>(
  tables: OutboxTables,
  db: SqlRunner,
  input: readonly Input[],
  change: string,
): Promise<Held[]> {
  await lockKeys(db, input);
  const held = await rowsOf<Held>(db, change, input);
  await tables.jobs.complete(db, held);
  await unparkNext(tables, db, held);
  return held;
}
