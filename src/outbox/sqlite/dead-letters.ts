// Dead letters in SQLite.
import type { Clock } from "../../core/clock.js";
import { newEventId } from "../../core/event.js";
import {
  type Changes,
  type GroupCommit,
  preparedChanges,
  preparedQueries,
  type Queries,
  type SqliteDatabase,
} from "../../sqlite/database.js";
import type { DeadLetter, DeadLetterFilter, DropOptions, RedriveOptions, RedriveResult } from "../records.js";
import { type StateChange, stateChange } from "./enqueue.js";
import { BODY, deadLetter, type OutboxRow } from "./rows.js";
import { DEAD, PARKED, PENDING, WAITING } from "./schema.js";

/** How many dead letters one transaction takes, so that a large redrive does not hold up other writers. */
const PAGE = 200;

/** Where a dead letter stands among all: by its end. */
export type Place = Pick<OutboxRow, "ended_at" | "seq">;

/** How the store reads and changes its file, for what takes several steps. */
export interface Access {
  /** Runs work in a transaction, shared with other work of the moment. */
  readonly changing: GroupCommit;
  readonly reading: <Value>(work: () => Value) => Value;
  readonly clock: Clock;
}

const QUERIES = {
  last: "SELECT max(seq) + 1 AS seq FROM hookproof_outbox",
  lastDead: `SELECT ended_at, seq FROM hookproof_outbox WHERE state = ${DEAD} AND ended_at IS NOT NULL
    ORDER BY ended_at DESC, seq DESC LIMIT 1`,
};

const CHANGES = {
  revive: `UPDATE hookproof_outbox SET id = coalesce(?, id), state = ${PENDING}, turn = iif(ordering_key IS NULL, ${WAITING}, ${PARKED}),
      due_at = ?, visible_at = ?, attempts_before_redrive = attempts, first_attempt_at = iif(?, NULL, first_attempt_at),
      ended_at = NULL, reason = NULL, code = NULL
    WHERE seq = ?`,
  ownBody: `INSERT INTO hookproof_outbox_bodies SELECT seq, ${BODY} FROM hookproof_outbox
    WHERE seq = ? ON CONFLICT DO NOTHING`,
  move: "UPDATE hookproof_outbox SET seq = ? WHERE seq = ?",
  moveBody: "UPDATE hookproof_outbox_bodies SET seq = ? WHERE seq = ?",
  drop: "DELETE FROM hookproof_outbox WHERE seq = ?",
};

/** What can be done with dead letters; see `OutboxStore`. */
export class DeadLetters {
  readonly #db: SqliteDatabase;
  readonly #access: Access;
  readonly #changed: StateChange;
  readonly #ask: Queries<keyof typeof QUERIES>;
  readonly #change: Changes<keyof typeof CHANGES>;

  constructor(db: SqliteDatabase, access: Access) {
    this.#db = db;
    this.#access = access;
    this.#changed = stateChange(db);
    this.#ask = preparedQueries(db, QUERIES);
    this.#change = preparedChanges(db, CHANGES);
  }

  async *list(filter: DeadLetterFilter, limit: number): AsyncGenerator<DeadLetter> {
    const columns = `*, ${BODY} AS body`;
    const last = this.#lastDead();
    let after: Place | undefined;
    for (let left = limit; left > 0 && last; ) {
      const rows = this.#access.reading(() =>
        pageOf<OutboxRow>(this.#db, columns, filter, { after, last }, Math.min(left, PAGE)),
      );
      yield* this.#access.reading(() => rows.map(deadLetter));
      left -= rows.length;
      after = rows.at(-1);
      if (rows.length < PAGE) return;
    }
  }

  async redrive(filter: DeadLetterFilter, windowMs: number, options: RedriveOptions): Promise<RedriveResult> {
    const { dryRun = false, newIds = false, limit = Number.POSITIVE_INFINITY } = options;
    let [redriven, pastWindow] = [0, 0];
    await this.#eachPage(filter, (rows) => {
      const now = this.#access.clock.now();
      for (const row of rows) {
        if (redriven >= limit) return false;
        const isPast = row.first_attempt_at !== null && now - row.first_attempt_at > windowMs;
        if (isPast && !newIds) pastWindow += 1;
        else {
          if (!dryRun) this.#revive(row, now, options);
          redriven += 1;
        }
      }
      return redriven < limit;
    });
    return { redriven, pastWindow };
  }

  async drop(
    filter: DeadLetterFilter,
    { dryRun = false, limit = Number.POSITIVE_INFINITY }: DropOptions,
  ): Promise<number> {
    let dropped = 0;
    await this.#eachPage(filter, (page) => {
      const rows = page.slice(0, limit - dropped);
      if (!dryRun) {
        for (const { seq } of rows) this.#change("drop", seq);
        this.#changed(rows, DEAD, undefined);
      }
      dropped += rows.length;
      return dropped < limit;
    });
    return dropped;
  }

  #revive(row: OutboxRow, now: number, { newIds = false, place = "end" }: RedriveOptions): void {
    if (newIds) this.#change("ownBody", row.seq); // a shared one is found by the id
    this.#change("revive", newIds ? newEventId() : null, now, now, newIds ? 1 : 0, row.seq);
    if (row.ordering_key !== null && place === "end") {
      const [last] = this.#ask<{ seq: number }>("last");
      for (const name of ["move", "moveBody"] as const) this.#change(name, last?.seq ?? row.seq, row.seq);
    }
    this.#changed([row], DEAD, PENDING);
  }

  /** The last one that is there now: one that dies meanwhile may be what the call has just made pending. */
  #lastDead(): Place | undefined {
    return this.#access.reading(() => this.#ask<Place>("lastDead"))[0];
  }

  /** Calls `work` with one page of rows after another, each in a transaction, while it returns true. */
  async #eachPage(filter: DeadLetterFilter, work: (rows: readonly OutboxRow[]) => boolean): Promise<void> {
    const last = this.#lastDead();
    if (!last) return;
    let after: Place | undefined;
    const step = () => {
      const rows = pageOf<OutboxRow>(this.#db, "*", filter, { after, last }, PAGE);
      after = rows.at(-1);
      return work(rows) && rows.length === PAGE;
    };
    while (await this.#access.changing(step));
  }
}

function pageOf<Row>(
  db: SqliteDatabase,
  columns: string,
  { listener, ids, reason, code, before }: DeadLetterFilter,
  { after, last }: { readonly after: Place | undefined; readonly last: Place },
  limit: number,
): Row[] {
  const conditions: [sql: string, ...values: (string | number | undefined)[]][] = [
    ["listener = ?", listener],
    ["id IN (SELECT value FROM json_each(?))", ids && JSON.stringify(ids)],
    ["reason = ?", reason],
    ["code = ?", code],
    ["ended_at < ?", before],
    ["(ended_at, seq) > (?, ?)", after?.ended_at ?? undefined, after?.seq],
    ["(ended_at, seq) <= (?, ?)", last.ended_at ?? undefined, last.seq],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  // With ids, the plus signs keep SQLite from reading all dead letters in their order instead.
  const isDead = ids
    ? `+state = ${DEAD} AND +ended_at IS NOT NULL`
    : `state = ${DEAD} AND ended_at IS NOT NULL`;
  const where = [isDead, ...given.map(([sql]) => sql)].join(" AND ");
  // Some versions would choose the index of all ends, and read the letters of all other listeners.
  const index = listener === undefined || ids ? "" : "INDEXED BY hookproof_outbox_dead";
  const sql = `SELECT ${columns} FROM hookproof_outbox ${index} WHERE ${where} ORDER BY ended_at, seq LIMIT ?`;
  const values = given.flatMap(([, ...bound]) => bound.filter((value) => value !== undefined));
  return db.prepare(sql).all(...values, limit) as Row[];
}
