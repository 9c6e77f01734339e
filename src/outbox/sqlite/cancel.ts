// Cancellations in SQLite.
import {
  type Changes,
  preparedChanges,
  preparedQueries,
  type Queries,
  type SqliteDatabase,
} from "../../sqlite/database.js";
import type { CancelResult, EventFilter } from "../outbox-store.js";
import type { Access } from "./dead-letters.js";
import { type ChangedRow, type StateChange, stateChange } from "./enqueue.js";
import { CANCELLED, IS_ASIDE, IS_LATER, IS_WAITING, PENDING } from "./schema.js";

/** How many events one transaction reads to cancel them, so that many do not hold up other writers. */
const PAGE = 200;

/** An event with its place in the order in which a cancellation reads. */
interface Candidate extends ChangedRow {
  readonly place: number | string;
  readonly isOpen: number;
}

/** How far a cancellation has read a listener's events in one of the two orders. */
interface Scan {
  readonly listener: string;
  readonly order: "free" | "aside" | "later" | "keyed";
  readonly place: number | string;
  readonly seq: number;
}

/**
 * Events without an ordering key are read by their due times, the others key by key. What a pause has put aside is read
 * before and after: events may go there and come back meanwhile. Before both, what is not due for a while: its time may
 * come meanwhile.
 */
const scansOf = (listener: string): Scan[] => [
  { listener, order: "aside", place: -1, seq: 0 },
  { listener, order: "free", place: -1, seq: 0 },
  { listener, order: "aside", place: -1, seq: 0 },
  { listener, order: "later", place: -1, seq: 0 },
  { listener, order: "keyed", place: "", seq: 0 },
];

const CANDIDATE = `seq, listener, ordering_key, state = ${PENDING} AND first_attempt_at IS NULL AS isOpen`;

const QUERIES = {
  last: "SELECT coalesce(max(seq), 0) AS seq FROM hookproof_outbox",
  listeners: `SELECT listener FROM hookproof_outbox_counts WHERE state = ${PENDING} AND events > 0`,
  free: `SELECT ${CANDIDATE}, visible_at AS place FROM hookproof_outbox
    WHERE listener = ? AND ${IS_WAITING} AND ordering_key IS NULL AND (visible_at, seq) > (?, ?)
    ORDER BY visible_at, seq LIMIT ?`,
  aside: `SELECT ${CANDIDATE}, ready_at AS place FROM hookproof_outbox
    WHERE listener = ? AND ${IS_ASIDE} AND ordering_key IS NULL AND (ready_at, seq) > (?, ?)
    ORDER BY ready_at, seq LIMIT ?`,
  later: `SELECT ${CANDIDATE}, visible_at AS place FROM hookproof_outbox
    WHERE listener = ? AND ${IS_LATER} AND (visible_at, seq) > (?, ?)
    ORDER BY visible_at, seq LIMIT ?`,
  keyed: `SELECT ${CANDIDATE}, ordering_key AS place FROM hookproof_outbox
    WHERE listener = ? AND ordering_key IS NOT NULL AND turn IS NOT NULL AND (ordering_key, seq) > (?, ?)
    ORDER BY ordering_key, seq LIMIT ?`,
  begun: `SELECT count(*) AS events FROM hookproof_outbox
    WHERE listener = ? AND state = ${PENDING} AND first_attempt_at IS NOT NULL`,
  byId: `SELECT ${CANDIDATE} FROM hookproof_outbox WHERE id = ?`,
  byIdAndListener: `SELECT ${CANDIDATE} FROM hookproof_outbox WHERE id = ? AND listener = ?`,
};

const CHANGES = {
  cancel: `UPDATE hookproof_outbox SET state = ${CANCELLED}, turn = NULL, ended_at = ?
    WHERE seq IN (SELECT value FROM json_each(?))`,
};

/** See `OutboxStore.cancel`. */
export class Cancellation {
  readonly #access: Access;
  readonly #changed: StateChange;
  readonly #ask: Queries<keyof typeof QUERIES>;
  readonly #change: Changes<keyof typeof CHANGES>;

  constructor(db: SqliteDatabase, access: Access) {
    this.#access = access;
    this.#changed = stateChange(db);
    this.#ask = preparedQueries(db, QUERIES);
    this.#change = preparedChanges(db, CHANGES);
  }

  cancel({ ids, listener }: EventFilter): Promise<CancelResult> {
    return ids ? this.#cancelIds(ids, listener) : this.#cancelAll(listener);
  }

  /** Cancels those that have not begun, inside a transaction; returns how many. */
  #cancelOpen(rows: readonly Candidate[]): number {
    const open = rows.filter(({ isOpen }) => isOpen);
    if (open.length > 0)
      this.#change("cancel", this.#access.clock.now(), JSON.stringify(open.map(({ seq }) => seq)));
    this.#changed(open, PENDING, undefined);
    return open.length;
  }

  /** Does one task after another, in transactions of about a page; a task returns how many rows it has read. */
  async #inSteps<Task>(tasks: Task[], work: (task: Task, max: number) => number): Promise<void> {
    const step = () => {
      let left = PAGE;
      for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
        left -= 1 + work(task, left);
        if (left <= 0) break;
      }
      return tasks.length > 0;
    };
    while (await this.#access.changing(step));
  }

  async #cancelIds(ids: readonly string[], listener: string | undefined): Promise<CancelResult> {
    const sum = { cancelled: 0, tooLate: 0 };
    await this.#inSteps([...new Set(ids)], (id) => {
      const rows =
        listener === undefined
          ? this.#ask<Candidate>("byId", id)
          : this.#ask<Candidate>("byIdAndListener", id, listener);
      const cancelled = this.#cancelOpen(rows);
      sum.cancelled += cancelled;
      sum.tooLate += rows.length - cancelled;
      return rows.length;
    });
    return sum;
  }

  async #cancelAll(listener: string | undefined): Promise<CancelResult> {
    const [listeners, last] = this.#access.reading(() => [
      listener === undefined
        ? this.#ask<{ listener: string }>("listeners").map((row) => row.listener)
        : [listener],
      this.#ask<{ seq: number }>("last")[0]?.seq ?? 0,
    ]);
    const sum = { cancelled: 0, tooLate: 0 };
    const scans = listeners.flatMap(scansOf);
    await this.#inSteps(scans, (scan, max) => {
      const rows = this.#ask<Candidate>(scan.order, scan.listener, scan.place, scan.seq, max);
      // What was enqueued after the call is not meant.
      sum.cancelled += this.#cancelOpen(rows.filter(({ seq }) => seq <= last));
      const end = rows.at(-1);
      if (end && rows.length === max) scans.push({ ...scan, place: end.place, seq: end.seq });
      return rows.length;
    });
    await this.#inSteps(listeners, (name) => {
      sum.tooLate += this.#ask<{ events: number }>("begun", name)[0]?.events ?? 0;
      return 0;
    });
    return sum;
  }
}
