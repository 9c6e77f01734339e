// Dead letters in PostgreSQL.
import { newEventId } from "../../core/event.js";
import { type Database, jsonLiteral, literal } from "../../postgres/database.js";
import type { DeadLetter, DeadLetterFilter, DropOptions, RedriveOptions, RedriveResult } from "../records.js";
import { fitsDead, IS_DEAD } from "./filters.js";
import { lowerKeyFloors } from "./key-floor.js";
import type { OutboxNames } from "./names.js";
import { lockOrder, noteKeys, passOn } from "./order.js";
import { bodyOf, type DeadRow, deadColumns, deadLetter, timeText } from "./rows.js";

/** How many dead letters one transaction changes, and one query reads. */
const PAGE = 500;

/** A dead letter that was found. */
export interface Found {
  readonly id: string;
  readonly listener: string;
  readonly ended_at: string;
  readonly seq: string;
}

/** The columns of `Found`. */
export const FOUND = `e.id, e.listener, ${timeText("e.ended_at")} AS ended_at, e.seq::text AS seq`;

interface Counted {
  readonly inside: number;
  readonly others: number;
}

/** The condition on what comes after a dead letter, in the order of their ends. */
export function isAfter(last: Found | undefined): string {
  if (!last) return "true";
  return `(e.ended_at, e.seq) > (${literal(last.ended_at)}::timestamptz, ${literal(last.seq)}::bigint)`;
}

/**
 * Selects `columns` of the dead letters of `found`, in this order, which have not ended otherwise since, and locks them;
 * those that others have locked are left out.
 */
function stillDead({ event }: OutboxNames, found: readonly Found[], columns: string, where = "true"): string {
  return `SELECT ${columns} FROM json_to_recordset(${jsonLiteral(found.map((one, place) => ({ ...one, place })))})
      AS f(place int, id uuid, listener text, ended_at timestamptz, new_id uuid)
    JOIN ${event} e ON e.id = f.id AND e.listener = f.listener AND e.ended_at = f.ended_at AND ${IS_DEAD}
    WHERE ${where} ORDER BY f.place`;
}

/** Removes dead letters that were found, which then no longer block their keys; resolves to how many. */
export async function removeFound(
  database: Database,
  names: OutboxNames,
  found: readonly Found[],
  where?: string,
): Promise<number> {
  const gone = `WITH gone AS (DELETE FROM ${names.event} d WHERE d.ctid = ANY (ARRAY(
        ${stillDead(names, found, "e.ctid", where)} FOR UPDATE OF e SKIP LOCKED))
      RETURNING d.listener, d.ordering_key, d.seq, d.blocks_key),
    counted AS (INSERT INTO ${names.tally} SELECT listener, 0, 0, -count(*) FROM gone GROUP BY listener)
    SELECT (SELECT count(*)::int FROM gone) AS gone, ${noteKeys("gone WHERE blocks_key")}`;
  const results = await database.script([lockOrder(names), gone, passOn(names)]);
  return (results[1] as { gone: number }[])[0]?.gone ?? 0;
}

/** What can be done with dead letters; see `OutboxStore`. */
export class DeadLetters {
  readonly #database: Database;
  readonly #names: OutboxNames;

  constructor(database: Database, names: OutboxNames) {
    this.#database = database;
    this.#names = names;
  }

  async *list(filter: DeadLetterFilter, limit: number): AsyncGenerator<DeadLetter> {
    let left = limit;
    for await (const page of this.#pages(await this.#standing(filter), filter, limit)) {
      const columns = deadColumns(this.#names);
      const rows = await this.#database.search<DeadRow>(stillDead(this.#names, page.slice(0, left), columns));
      yield* rows.map(deadLetter);
      left -= page.length;
      if (left <= 0) return;
    }
  }

  async redrive(filter: DeadLetterFilter, windowMs: number, options: RedriveOptions): Promise<RedriveResult> {
    const { dryRun = false, newIds = false, limit = Number.POSITIVE_INFINITY } = options;
    const inWindow = `e.first_attempt_at >= now() - ${Number(windowMs)} * interval '1 ms'`;
    const isOpen = newIds ? "true" : `(e.first_attempt_at IS NULL OR ${inWindow})`;
    const { inside, others: pastWindow } = await this.#count(filter, isOpen);
    if (dryRun) return { redriven: Math.min(inside, limit), pastWindow };
    const where = `${await this.#standing(filter)} AND ${isOpen}`;
    const redriven = await this.#change(where, filter, limit, (found) => this.#revive(found, options));
    return { redriven, pastWindow };
  }

  async drop(
    filter: DeadLetterFilter,
    { dryRun = false, limit = Number.POSITIVE_INFINITY }: DropOptions,
  ): Promise<number> {
    if (dryRun) return Math.min((await this.#count(filter)).inside, limit);
    return this.#change(await this.#standing(filter), filter, limit, (found) =>
      removeFound(this.#database, this.#names, found),
    );
  }

  /**
   * The condition on the dead letters of a filter that are there now: one that dies meanwhile may be what the call has just
   * made pending. Those with given ids are found at once.
   */
  async #standing(filter: DeadLetterFilter): Promise<string> {
    const { ids, listener } = filter;
    if (ids) return fitsDead(filter);
    const all = listener === undefined ? {} : { listener };
    const [row] = await this.#database.search<{ last: string }>(
      `SELECT ${timeText("e.ended_at")} AS last FROM ${this.#names.event} e WHERE ${fitsDead(all)}
       ORDER BY e.ended_at DESC, e.seq DESC LIMIT 1`,
    );
    return `${fitsDead(filter)} AND e.ended_at <= ${literal(row?.last ?? "-infinity")}::timestamptz`;
  }

  /** How many dead letters a condition holds for, and how many others there are. */
  async #count(filter: DeadLetterFilter, where = "true"): Promise<Counted> {
    const [row] = await this.#database.read<Counted>(
      `SELECT count(*) FILTER (WHERE ${where})::float8 AS inside, count(*) FILTER (WHERE NOT ${where})::float8 AS others
       FROM ${this.#names.event} e WHERE ${fitsDead(filter)}`,
    );
    return row ?? { inside: 0, others: 0 };
  }

  /**
   * Finds dead letters, the oldest first, without a lock. Each page goes on behind the last one: before that are the
   * entries of those that were changed, and those that do not fit. What has ids is few, and found at once.
   */
  async *#pages(where: string, { ids }: DeadLetterFilter, limit: number): AsyncGenerator<Found[]> {
    const max = ids ? limit : Math.min(PAGE, limit);
    for (let last: Found | undefined; ; ) {
      const rows = await this.#database.search<Found>(
        `SELECT ${FOUND} FROM ${this.#names.event} e WHERE ${where} AND ${isAfter(last)}
         ORDER BY e.ended_at, e.seq LIMIT ${Number.isFinite(max) ? max : "ALL"}`,
      );
      for (let from = 0; from < rows.length; from += PAGE) yield rows.slice(from, from + PAGE);
      last = rows.at(-1);
      if (!last || rows.length < max) return;
    }
  }

  /** Changes dead letters page by page, and once more from the first one if somebody else held some of them. */
  async #change(
    where: string,
    filter: DeadLetterFilter,
    limit: number,
    change: (found: readonly Found[]) => Promise<number>,
  ): Promise<number> {
    let done = 0;
    for (let pass = 0, isLeft = true; isLeft && pass < 2; pass++) {
      isLeft = false;
      for await (const page of this.#pages(where, filter, limit)) {
        const found = page.slice(0, limit - done);
        const changed = await change(found);
        done += changed;
        isLeft ||= changed < found.length;
        if (done >= limit) return done;
      }
    }
    return done;
  }

  /** Makes dead letters pending again; resolves to how many. */
  async #revive(found: readonly Found[], { place = "end", newIds }: RedriveOptions): Promise<number> {
    const { event, tally } = this.#names;
    const given = newIds ? found.map((one) => ({ ...one, new_id: newEventId() })) : found;
    const name = newIds ? `id = i.new_id, body = ${bodyOf(this.#names)}, first_attempt_at = NULL,` : "";
    // Keyed events are placed again, in the order of their `seq`.
    const [[row] = []] = (await this.#database.script([
      `WITH i AS MATERIALIZED (
         ${stillDead(this.#names, given, "e.id, e.listener, f.place, f.new_id")} FOR UPDATE OF e SKIP LOCKED),
       revived AS (
         UPDATE ${event} e SET state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END,
           ${name} ${place === "end" ? "seq = DEFAULT," : ""} due_at = now(), attempts_before_redrive = e.attempts,
           ended_at = NULL, reason = NULL, code = NULL, blocks_key = false
         FROM (SELECT * FROM i ORDER BY place) i
         WHERE e.id = i.id AND e.listener = i.listener RETURNING e.listener, e.ordering_key, e.seq),
       firsts AS (SELECT listener, ordering_key, min(seq) AS seq FROM revived GROUP BY listener, ordering_key),
       lowered AS (${lowerKeyFloors(this.#names, "firsts")}),
       counted AS (INSERT INTO ${tally} SELECT listener, count(*), 0, -count(*) FROM revived GROUP BY listener)
       SELECT count(*)::int AS revived FROM revived`,
    ])) as { revived: number }[][];
    return row?.revived ?? 0;
  }
}
