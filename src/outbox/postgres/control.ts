// Pauses, rests and cancellations in PostgreSQL.
import { type Database, jsonLiteral } from "../../postgres/database.js";
import { type DueLooks, UNKNOWN_MAX_MS, UNKNOWN_MS } from "../engine.js";
import type { CancelResult, EventFilter, OutboxStore } from "../outbox-store.js";
import type { OutboxEntry } from "../records.js";
import { type EntryRow, entryColumns, outboxEntry } from "./entries.js";
import { fits, text } from "./filters.js";
import type { OutboxNames } from "./names.js";
import { lockOrder, noteKeys, passOn } from "./order.js";
import { timeText } from "./rows.js";
import { IS_BEHIND } from "./schema.js";

/** How many events one transaction cancels. */
const PAGE = 500;

/** Where events are that have not ended: a condition for each of the indexes. */
const WAITING = "e.state = 'waiting'";
const LATER = "e.state = 'later'";
const LEASED = "e.state = 'leased'";

/** An event that is leased has had its first attempt counted, and so has one whose lease has expired. */
const HAS_BEGUN = "e.first_attempt_at IS NOT NULL";
const NOT_BEGUN = "e.first_attempt_at IS NULL";

/** One transaction's part of a cancellation. */
interface Page {
  readonly cancelled: number;
  readonly found: number;
}

/** An event that may be cancelled, and its place in an index. */
interface Open {
  readonly id: string;
  readonly listener: string;
  readonly at: string;
  readonly seq: string;
}

/** What people and workers say about listeners; see `OutboxStore`. */
export class ListenerControl {
  readonly #database: Database;
  readonly #names: OutboxNames;
  readonly #looks: DueLooks;

  constructor(database: Database, names: OutboxNames, looks: DueLooks) {
    this.#database = database;
    this.#names = names;
    this.#looks = looks;
  }

  async changed(listener: string): Promise<void> {
    await this.#database.script([
      `INSERT INTO ${this.#names.listener} AS h (name, changed_at) VALUES (${text(listener)}, clock_timestamp())
       ON CONFLICT (name) DO UPDATE
       SET changed_at = greatest(excluded.changed_at, h.changed_at + interval '1 ms'), unknown_since = NULL,
         unknown_until = NULL`,
    ]);
    await this.#looks.bringBack(listener);
  }

  async unknown(listeners: readonly string[]): Promise<void> {
    const pause = (since: string) => `now() + least(${UNKNOWN_MAX_MS} * interval '1 ms',
      greatest(${UNKNOWN_MS} * interval '1 ms', now() - ${since}))`;
    await this.#database.script([
      // In one order, so that two workers cannot wait for each other.
      `INSERT INTO ${this.#names.listener} AS h (name, unknown_since, unknown_until)
       SELECT DISTINCT name, now(), ${pause("now()")} FROM json_array_elements_text(${jsonLiteral(listeners)}) AS g(name)
       ORDER BY name
       ON CONFLICT (name) DO UPDATE SET unknown_since = coalesce(h.unknown_since, now()),
         unknown_until = CASE WHEN h.unknown_until > now() THEN h.unknown_until
           ELSE ${pause("coalesce(h.unknown_since, now())")} END`,
    ]);
  }

  async pause(
    ...[listener, reason, { keepReason = false } = {}]: Parameters<OutboxStore["pause"]>
  ): Promise<void> {
    await this.#database.script([
      `INSERT INTO ${this.#names.listener} AS h (name, paused_at, pause_reason)
       SELECT name, now(), nullif(reason, '')
       FROM json_to_record(${jsonLiteral({ name: listener, reason })}) AS g(name text, reason text)
       ON CONFLICT (name) DO UPDATE
       SET paused_at = coalesce(h.paused_at, now()), pause_reason = excluded.pause_reason
       ${keepReason ? "WHERE h.paused_at IS NULL" : ""}`,
    ]);
  }

  async resume(listener: string): Promise<boolean> {
    const [ended] = await this.#database.script([
      `UPDATE ${this.#names.listener} SET paused_at = NULL, pause_reason = NULL
       WHERE name = ${text(listener)} AND paused_at IS NOT NULL RETURNING 1`,
    ]);
    await this.#looks.bringBack(listener);
    return ended?.length === 1;
  }

  async rest(listener: string, ms: number): Promise<void> {
    await this.#database.script([
      // A rest that was noted before the clock was put back is as much shorter.
      `INSERT INTO ${this.#names.listener} AS h (name, rest_until, rested_at)
       VALUES (${text(listener)}, now() + ${Number(ms)} * interval '1 ms', now())
       ON CONFLICT (name) DO UPDATE SET rested_at = now(), rest_until = greatest(
         h.rest_until - greatest(h.rested_at - now(), interval '0'), excluded.rest_until)`,
    ]);
  }

  cancel({ listener, ids }: EventFilter): Promise<CancelResult> {
    return ids ? this.#cancelIds([...new Set(ids)], listener) : this.#cancelAll(listener);
  }

  async pending(filter: EventFilter, limit: number): Promise<OutboxEntry[]> {
    const { event } = this.#names;
    const first = (where: string) =>
      `(SELECT e.ctid, e.seq FROM ${event} e WHERE ${where} AND ${fits(filter)} ORDER BY e.seq LIMIT ${Number(limit)})`;
    const places = filter.ids ? ["e.ended_at IS NULL"] : [WAITING, LATER, LEASED, IS_BEHIND];
    const rows = await this.#database.search<EntryRow>(
      `SELECT ${entryColumns(this.#names)} FROM ${event} e WHERE e.ctid = ANY (ARRAY(
         SELECT o.ctid FROM (${places.map(first).join(" UNION ALL ")}) o ORDER BY o.seq LIMIT ${Number(limit)}))
       ORDER BY e.seq`,
    );
    return rows.map(outboxEntry);
  }

  /**
   * Cancels those of the `given` events that no attempt has begun for. A claim of the same event comes first or sees
   * the cancellation: the update waits for its lock, and then looks at the conditions again.
   */
  async #cancelPage(given: string): Promise<Page> {
    const { event, tally } = this.#names;
    const cancelling = `WITH given AS MATERIALIZED (${given}),
      done AS (
        UPDATE ${event} e SET state = 'cancelled', ended_at = now(), token = NULL, body = NULL FROM given g
        WHERE e.id = g.id AND e.listener = g.listener AND e.ended_at IS NULL AND ${NOT_BEGUN}
        RETURNING e.listener, e.ordering_key, e.seq),
      counted AS (INSERT INTO ${tally} SELECT listener, -count(*), 0, 0 FROM done GROUP BY listener)
      SELECT (SELECT count(*)::int FROM done) AS cancelled, (SELECT count(*)::int FROM given) AS found,
        ${noteKeys("done WHERE ordering_key IS NOT NULL")}`;
    const [, [page]] = (await this.#database.script([
      lockOrder(this.#names),
      cancelling,
      passOn(this.#names),
    ])) as [[], [Page]];
    return page;
  }

  async #cancelIds(ids: readonly string[], listener: string | undefined): Promise<CancelResult> {
    const pages: Page[] = [];
    for (let from = 0; from < ids.length; from += PAGE) {
      const some = ids.slice(from, from + PAGE);
      const given = `SELECT e.id, e.listener FROM ${this.#names.event} e WHERE ${fits({ ids: some, listener })}`;
      pages.push(await this.#cancelPage(given));
    }
    const cancelled = sum(pages.map((page) => page.cancelled));
    return { cancelled, tooLate: sum(pages.map(({ found }) => found)) - cancelled };
  }

  /**
   * Goes along an index, which begins with listener, `at` and seq; resolves to how many events it cancelled. They are
   * found before the lock of the order is taken: a held snapshot keeps the entries of all that stood there before.
   */
  async #cancelAlong(where: string, at: string): Promise<number> {
    let cancelled = 0;
    for (let after = ""; ; ) {
      const found = await this.#database.search<Open>(
        `SELECT e.id, e.listener, ${timeText(`e.${at}`)} AS at, e.seq::text AS seq FROM ${this.#names.event} e
         WHERE ${where} AND ${NOT_BEGUN} ${after} ORDER BY e.listener, e.${at}, e.seq LIMIT ${PAGE}`,
      );
      const last = found.at(-1);
      if (!last) return cancelled;
      const given = `SELECT g.id, g.listener FROM json_to_recordset(${jsonLiteral(found)}) AS g(id uuid, listener text)`;
      cancelled += (await this.#cancelPage(given)).cancelled;
      if (found.length < PAGE) return cancelled;
      after = `AND (e.listener, e.${at}, e.seq) > (${text(last.listener)}, '${last.at}'::timestamptz, ${last.seq})`;
    }
  }

  async #cancelAll(listener: string | undefined): Promise<CancelResult> {
    const [start] = await this.#database.search<{ now: string }>("SELECT to_json(now()) AS now");
    // What is enqueued after the call is not meant.
    const meant = `${fits({ listener })} AND e.enqueued_at <= '${start?.now}'::timestamptz`;
    let cancelled = 0;
    // Twice, because an event may pass from one index to the other while the call goes along them.
    for (let pass = 0; pass < 2; pass++) {
      cancelled += await this.#cancelAlong(`${LATER} AND ${meant}`, "due_at");
      cancelled += await this.#cancelAlong(`${IS_BEHIND} AND ${meant}`, "ready_at");
      cancelled += await this.#cancelAlong(`${WAITING} AND ${meant}`, "due_at");
    }
    return { cancelled, tooLate: await this.#countBegun(listener) };
  }

  async #countBegun(listener: string | undefined): Promise<number> {
    const { event } = this.#names;
    const counts = [WAITING, LATER, LEASED, IS_BEHIND].map(
      (where) =>
        `(SELECT count(*) FROM ${event} e WHERE ${where} AND ${HAS_BEGUN} AND ${fits({ listener })})`,
    );
    const [row] = await this.#database.search<{ begun: number }>(
      `SELECT (${counts.join(" + ")})::float8 AS begun`,
    );
    return row?.begun ?? 0;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
