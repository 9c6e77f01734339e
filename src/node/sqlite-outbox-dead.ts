import type {
  DeadLetter,
  DeadLetterFilter,
  DropOptions,
  RedriveOptions,
  RedriveResult,
} from "../outbox/outbox-store.js";
import type { Clock } from "../primitives/clock.js";
import { preparedQueries, type SqliteDatabase } from "./sqlite-database.js";
import type { GroupCommit } from "./sqlite-group-commit.js";
import { counting, forgetting } from "./sqlite-outbox-counts.js";
import { asking } from "./sqlite-outbox-failure.js";
import { deadLetter, type OutboxRow } from "./sqlite-outbox-rows.js";
import { DEAD, PENDING } from "./sqlite-outbox-schema.js";
import { passingOn } from "./sqlite-outbox-turns.js";

/** How many dead letters one transaction takes, so that a large redrive holds up nobody who writes. */
const PAGE = 200;

/** After which row the next page begins. */
type Place = Pick<OutboxRow, "ended_at" | "seq">;

export async function* deadLetters(
  db: SqliteDatabase,
  filter: DeadLetterFilter,
  limit: number,
): AsyncGenerator<DeadLetter> {
  const columns = `*, (SELECT body FROM hookproof_outbox_bodies AS bodies
    WHERE bodies.seq = hookproof_outbox.seq) AS body`;
  let left = limit;
  let after: Place | undefined;
  while (left > 0) {
    const rows = asking(() => pageOf<OutboxRow>(db, columns, filter, after, Math.min(left, PAGE)));
    yield* asking(() => rows.map(deadLetter));
    left -= rows.length;
    after = rows.at(-1);
    if (rows.length < PAGE) return;
  }
}

/** Brings dead letters back, a page a transaction. */
export async function redriving(
  db: SqliteDatabase,
  group: GroupCommit,
  clock: Clock,
  filter: DeadLetterFilter,
  { dryRun = false, place = "end", newId, windowMs, limit = Number.POSITIVE_INFINITY }: RedriveOptions,
): Promise<RedriveResult> {
  const passOn = passingOn(db);
  const count = counting(db);
  const ask = preparedQueries(db, {
    revive: `UPDATE hookproof_outbox SET id = coalesce(?, id), state = ${PENDING}, turn = iif(ordering_key IS NULL, 1, 0),
        due_at = ?, visible_at = ?, attempts_before_redrive = attempts, first_attempt_at = iif(?, NULL, first_attempt_at),
        ended_at = NULL, reason = NULL, code = NULL
      WHERE seq = ? RETURNING 1`,
    last: "SELECT max(seq) + 1 AS seq FROM hookproof_outbox",
    move: "UPDATE hookproof_outbox SET seq = ? WHERE seq = ? RETURNING 1",
    moveBody: "UPDATE hookproof_outbox_bodies SET seq = ? WHERE seq = ? RETURNING 1",
  });

  function revive(row: OutboxRow, at: number): void {
    ask("revive", newId?.() ?? null, at, at, newId ? 1 : 0, row.seq);
    if (row.ordering_key !== null && place === "end") {
      const [last] = ask<{ seq: number }>("last");
      for (const name of ["move", "moveBody"] as const) ask(name, last?.seq ?? row.seq, row.seq);
    }
    count([row], DEAD, PENDING);
    passOn(row);
  }

  const result = { redriven: 0, pastWindow: 0 };
  let after: Place | undefined;
  for (let isMore = true; isMore && result.redriven < limit; ) {
    const page = () => {
      const at = clock.now();
      const rows = pageOf<OutboxRow>(db, "*", filter, after, PAGE);
      after = rows.at(-1);
      isMore = rows.length === PAGE;
      for (const row of rows) {
        if (result.redriven >= limit) return;
        const isPast = row.first_attempt_at !== null && at - row.first_attempt_at > windowMs;
        if (isPast && !newId) result.pastWindow++;
        else {
          if (!dryRun) revive(row, at);
          result.redriven++;
        }
      }
    };
    await group(page);
  }
  return result;
}

/** Removes dead letters, a page a transaction. */
export async function dropping(
  db: SqliteDatabase,
  group: GroupCommit,
  filter: DeadLetterFilter,
  { dryRun = false, limit = Number.POSITIVE_INFINITY }: DropOptions,
): Promise<number> {
  const passOn = passingOn(db);
  const count = counting(db);
  const forget = forgetting(db);
  const ask = preparedQueries(db, { drop: "DELETE FROM hookproof_outbox WHERE seq = ? RETURNING 1" });
  let dropped = 0;
  let after: Place | undefined;
  for (let isMore = true; isMore && dropped < limit; ) {
    await group(() => {
      const rows = pageOf<OutboxRow>(db, "*", filter, after, Math.min(limit - dropped, PAGE));
      after = rows.at(-1);
      isMore = rows.length === PAGE;
      if (!dryRun) {
        for (const { seq } of rows) ask("drop", seq);
        count(rows, DEAD, undefined);
        forget(rows);
        rows.forEach(passOn);
      }
      dropped += rows.length;
    });
  }
  return dropped;
}

function pageOf<Row>(
  db: SqliteDatabase,
  columns: string,
  { listener, ids, reason, code, before }: DeadLetterFilter,
  after: Place | undefined,
  limit: number,
): Row[] {
  const conditions: [sql: string, ...values: (string | number | undefined)[]][] = [
    ["listener = ?", listener],
    ["id IN (SELECT value FROM json_each(?))", ids && JSON.stringify(ids)],
    ["reason = ?", reason],
    ["code = ?", code],
    ["ended_at < ?", before],
    ["(ended_at, seq) > (?, ?)", after?.ended_at ?? undefined, after?.seq],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  // With ids, the plus signs keep SQLite from going through all dead letters in their order instead.
  const isDead = ids
    ? `+state = ${DEAD} AND +ended_at IS NOT NULL`
    : `state = ${DEAD} AND ended_at IS NOT NULL`;
  const where = [isDead, ...given.map(([sql]) => sql)].join(" AND ");
  const sql = `SELECT ${columns} FROM hookproof_outbox WHERE ${where} ORDER BY ended_at, seq LIMIT ?`;
  const values = given.flatMap(([, ...bound]) => bound.filter((value) => value !== undefined));
  return db.prepare(sql).all(...values, limit) as Row[];
}
