// Dead letters in PostgreSQL.
import { isEventId, newEventId } from "../../core/event.js";
import { type Database, jsonLiteral, rowsOf } from "../../postgres/database.js";
import type { DeadLetter, DeadLetterFilter, DropOptions, RedriveOptions, RedriveResult } from "../records.js";
import { lowerKeyFloors } from "./key-floor.js";
import type { OutboxNames } from "./names.js";
import { lockOrder, noteKeys, passOn } from "./order.js";
import { bodyOf, type DeadRow, deadColumns, deadLetter } from "./rows.js";

/** How many dead letters one transaction changes, and one query reads. */
const PAGE = 500;

const FITS = `e.state = 'dead' AND (f.listener IS NULL OR e.listener = f.listener)
  AND (f.ids IS NULL OR e.id = ANY (f.ids)) AND (f.reason IS NULL OR e.reason = f.reason)
  AND (f.code IS NULL OR e.code = f.code) AND (f.before IS NULL OR e.ended_at < to_timestamp(f.before / 1000))
  AND (f.after_time IS NULL OR (e.ended_at, e.seq) > (f.after_time, f.after_seq))`;

const IN_WINDOW = `(f.new_ids OR e.first_attempt_at IS NULL
  OR e.first_attempt_at >= now() - f.window_ms * interval '1 ms')`;

/** What can be done with dead letters; see `OutboxStore`. */
export class DeadLetters {
  readonly #database: Database;
  readonly #names: OutboxNames;

  constructor(database: Database, names: OutboxNames) {
    this.#database = database;
    this.#names = names;
  }

  async *list(filter: DeadLetterFilter, limit: number): AsyncGenerator<DeadLetter> {
    const { event } = this.#names;
    let after: object = {};
    for (let left = limit; left > 0; ) {
      const max = Math.min(PAGE, left);
      const rows = await this.#database.read<DeadRow>(
        `SELECT ${deadColumns(this.#names)} FROM ${filterSql(filter, after)} JOIN ${event} e ON ${FITS} ORDER BY e.ended_at, e.seq LIMIT ${max}`,
      );
      yield* rows.map(deadLetter);
      const last = rows.at(-1);
      if (!last || rows.length < max) return;
      left -= rows.length;
      after = { after_time: last.after_time, after_seq: last.seq };
    }
  }

  async redrive(filter: DeadLetterFilter, windowMs: number, options: RedriveOptions): Promise<RedriveResult> {
    const { dryRun = false, newIds = false, limit = Number.POSITIVE_INFINITY } = options;
    const [inside, pastWindow] = await this.#count(filter, windowMs, newIds);
    if (dryRun) return { redriven: Math.min(inside, limit), pastWindow };
    const wanted = filterSql(filter, { window_ms: windowMs, new_ids: newIds });
    const redriven = await inPages(limit, (max) => this.#revive(wanted, options, max));
    return { redriven, pastWindow };
  }

  async drop(
    filter: DeadLetterFilter,
    { dryRun = false, limit = Number.POSITIVE_INFINITY }: DropOptions,
  ): Promise<number> {
    const { event, tally } = this.#names;
    if (dryRun) return Math.min((await this.#count(filter))[0], limit);
    return inPages(limit, async (max) => {
      const gone = `WITH gone AS (DELETE FROM ${event} d WHERE d.ctid = ANY (ARRAY(
          SELECT e.ctid FROM ${filterSql(filter)} JOIN ${event} e ON ${FITS}
          ORDER BY e.ended_at, e.seq LIMIT ${max} FOR UPDATE OF e SKIP LOCKED))
          RETURNING d.listener, d.ordering_key, d.seq, d.blocks_key),
        counted AS (INSERT INTO ${tally} SELECT listener, 0, 0, -count(*) FROM gone GROUP BY listener)
        SELECT (SELECT count(*)::int FROM gone) AS gone, ${noteKeys("gone WHERE blocks_key")}`;
      const results = await this.#database.script([lockOrder(this.#names), gone, passOn(this.#names)]);
      return (results[1] as { gone: number }[])[0]?.gone ?? 0;
    });
  }

  /** How many dead letters are inside their window, and how many past it. */
  async #count(filter: DeadLetterFilter, windowMs = 0, newIds = true): Promise<[number, number]> {
    const { event } = this.#names;
    const [row] = await this.#database.read<{ inside: number; all: number }>(
      `SELECT count(*) FILTER (WHERE ${IN_WINDOW})::float8 AS inside, count(*)::float8 AS all
       FROM ${filterSql(filter, { window_ms: windowMs, new_ids: newIds })} JOIN ${event} e ON ${FITS}`,
    );
    const { inside = 0, all = 0 } = row ?? {};
    return [inside, all - inside];
  }

  /** Makes up to `max` dead letters pending again; resolves to how many. */
  #revive(wanted: string, { place = "end", newIds }: RedriveOptions, max: number): Promise<number> {
    const { event, tally } = this.#names;
    const name = newIds ? `id = i.new_id, body = ${bodyOf(this.#names)}, first_attempt_at = NULL,` : "";
    return this.#database.transaction(async (client) => {
      const dead = rowsOf<{ id: string; listener: string }>(
        await client.query(
          `SELECT e.id, e.listener FROM ${wanted} JOIN ${event} e ON ${FITS} WHERE ${IN_WINDOW}
           ORDER BY e.ended_at, e.seq LIMIT ${max} FOR UPDATE OF e SKIP LOCKED`,
        ),
      );
      if (dead.length === 0) return 0;
      const input = dead.map((row, index) => ({
        ...row,
        place: index,
        new_id: newIds ? newEventId() : null,
      }));
      // Keyed events are placed again, in the order of their `seq`.
      await client.query(
        `WITH revived AS (
           UPDATE ${event} e SET state = CASE WHEN e.ordering_key IS NULL THEN 'waiting' ELSE 'new' END,
             ${name} ${place === "end" ? "seq = DEFAULT," : ""} due_at = now(), attempts_before_redrive = e.attempts,
             ended_at = NULL, reason = NULL, code = NULL, blocks_key = false
           FROM (SELECT * FROM json_to_recordset($1::text::json) AS r(place int, id uuid, listener text, new_id uuid)
             ORDER BY place) i
           WHERE e.id = i.id AND e.listener = i.listener RETURNING e.listener, e.ordering_key, e.seq),
         firsts AS (SELECT listener, ordering_key, min(seq) AS seq FROM revived GROUP BY listener, ordering_key),
         lowered AS (${lowerKeyFloors(this.#names, "firsts")})
         INSERT INTO ${tally} SELECT listener, count(*), 0, -count(*) FROM revived GROUP BY listener`,
        [JSON.stringify(input)],
      );
      return dead.length;
    });
  }
}

/** Repeats a change of one page until nothing is left to change, or `limit` is reached. */
async function inPages(limit: number, change: (max: number) => Promise<number>): Promise<number> {
  for (let done = 0; ; ) {
    const most = Math.min(PAGE, limit - done);
    const changed = most > 0 ? await change(most) : 0;
    done += changed;
    if (changed < PAGE) return done;
  }
}

/** A filter as a table of one row. Ids that are no event ids match nothing. */
function filterSql({ ids, ...filter }: DeadLetterFilter, more: object = {}): string {
  const wanted = { ...filter, ...(ids && { ids: ids.filter(isEventId) }), ...more };
  return `json_to_record(${jsonLiteral(wanted)}) AS f(listener text, ids uuid[], reason text, code text,
    before float8, window_ms float8, new_ids boolean, after_time timestamptz, after_seq bigint)`;
}
