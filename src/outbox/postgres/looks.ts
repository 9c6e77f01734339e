// Looks for what is to be settled, and remembers from where on.
import { blocksRead, SLOW_BLOCKS } from "./floor.js";
import { type OutboxNames, OWN_NAMES } from "./names.js";
import { ms } from "./rows.js";

/*
 * What is to be settled stands in three indexes, each by a time: leases that have run out, events for later whose time has
 * come, and new events with a key. While a snapshot is held, each index keeps the entries of all that was settled since,
 * and a look goes over them. So a process remembers where the first one stood that is to be settled, and begins there. Now
 * and then it looks over all again, for what appeared before: what was given back, and what was committed late.
 */

/** Leases and times are looked for so long before the last look: a claim may commit after it. */
const MARGIN_MS = 10_000;

/** A new event is stored at most so long before its transaction takes a number: see `isOver`. */
const STORED_MS = 2_000;

/** How long a look over all is not repeated, for each block that it read: about twenty times as long as it takes. */
export const PAUSE_PER_BLOCK_MS = 0.2;

/** The clock was put back if it shows a time that is so much earlier. */
const BACK_MS = 1_000;

/** Times in milliseconds, by kind of what is to be settled. */
interface Times<Time> {
  readonly expired: Time;
  readonly ripe: Time;
  readonly fresh: Time;
}

/** What the function `unsettled` answers: the time of the first one of each kind, if there is one. */
export interface Seen extends Times<number | null> {
  readonly read: number;
  /** Whether it is time to look below a floor. */
  readonly below: boolean;
  readonly now: number;
  /** The number of the oldest transaction that runs, and of the next one. */
  readonly oldest: number;
  readonly next: number;
}

/** Where something is to be settled: SQL expressions of the times after which it stands. */
export type From = Times<string>;

const FIRST = Number.NEGATIVE_INFINITY;
export const FROM_FIRST: From = { expired: time(FIRST), ripe: time(FIRST), fresh: time(FIRST) };

function time(at: number): string {
  return at === FIRST ? "'-infinity'" : `to_timestamp(${at / 1_000})`;
}

/** What a process knows of what is to be settled. */
export interface Looks {
  sql(): string;
  /** From where on `settle` has something to do, if it has. */
  saw(seen: Seen | undefined): From | undefined;
  /** An SQL expression: the time before which no lease runs out that stands. A process that does not claim knows none. */
  leasesFrom(): string;
}

/**
 * A new event that was committed late must not be found late: another one of its key, which was stored after it, would
 * overtake it. So looks for new ones begin only where each transaction that may have stored one before is over: those that
 * had a number then, as an event's time is taken when its transaction has a number, or just before.
 */
export function looks({ schema }: OutboxNames): Looks {
  let from: Times<number> = { expired: FIRST, ripe: FIRST, fresh: FIRST };
  let now = FIRST;
  let allAt = FIRST;
  let isAll = true;
  let isOver = FIRST;
  let noted: Pick<Seen, "now" | "next"> | undefined;

  return {
    sql() {
      isAll = now >= allAt;
      const begin = isAll
        ? FROM_FIRST
        : { expired: time(from.expired), ripe: time(from.ripe), fresh: time(from.fresh) };
      const first = ["expired", "ripe", "fresh"].map((kind) => `${ms(`u.${kind}`)} AS ${kind}`);
      return `SELECT ${first}, u.read::float8 AS read, u.below, u.oldest::text::float8 AS oldest, u.next::text::float8 AS next,
        ${ms("now()")} AS now FROM ${schema}.unsettled(${begin.expired}, ${begin.ripe}, ${begin.fresh}) u`;
    },
    saw(seen) {
      if (!seen) return undefined;
      const isBack = seen.now < now - BACK_MS;
      if (isBack) [isOver, noted] = [FIRST, undefined];
      now = seen.now;
      if (isBack) allAt = now;
      else if (isAll) allAt = seen.read > SLOW_BLOCKS ? now + seen.read * PAUSE_PER_BLOCK_MS : now;
      if (noted && seen.oldest >= noted.next) [isOver, noted] = [noted.now - STORED_MS, undefined];
      noted ??= seen;
      const before = (first: number | null, known: number) =>
        Math.min((first ?? Number.POSITIVE_INFINITY) - 1, known);
      from = {
        expired: before(seen.expired, now - MARGIN_MS),
        ripe: before(seen.ripe, now - MARGIN_MS),
        fresh: before(seen.fresh, isOver),
      };
      if (seen.expired === null && seen.ripe === null && seen.fresh === null) return undefined;
      if (isAll && allAt <= now) return FROM_FIRST; // nothing is slow
      return { expired: time(from.expired), ripe: time(from.ripe), fresh: time(from.fresh) };
    },
    leasesFrom() {
      const known = time(from.expired);
      return from.expired === FIRST ? known : `CASE WHEN ${known} < now() THEN ${known} ELSE '-infinity' END`; // the clock may have been put back
    },
  };
}

/** Events of all listeners that are put off, by the index of their time; the second condition holds for every row. */
export const LATER_OF_ALL = "state = 'later' AND attempts >= 0";

/** `unsettled(expired, ripe, fresh)`: see `Seen`. One statement, as each has a cost of its own in a function, and one snapshot. */
export function unsettledFunction(names: OutboxNames): string {
  const { schema, event, floor } = names;
  const first = (column: string, where: string) =>
    `(SELECT ${column} FROM ${event} WHERE ${where} ORDER BY ${column} LIMIT 1)`;
  return `
    CREATE OR REPLACE FUNCTION ${schema}.unsettled(INOUT expired timestamptz, INOUT ripe timestamptz, INOUT fresh timestamptz,
      OUT read bigint, OUT below boolean, OUT oldest xid8, OUT next xid8)
    LANGUAGE plpgsql ${OWN_NAMES} SET plan_cache_mode = force_generic_plan AS $unsettled$
    BEGIN
      read := ${blocksRead(names)};
      SELECT ${first("leased_until", "state = 'leased' AND leased_until > $1 AND leased_until <= now()")},
          ${first("due_at", `${LATER_OF_ALL} AND due_at > $2 AND due_at <= now()`)},
          ${first("enqueued_at", "state = 'new' AND enqueued_at > $3")},
          EXISTS (SELECT FROM ${floor} WHERE look_at <= now()),
          pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmax(pg_current_snapshot())
        INTO expired, ripe, fresh, below, oldest, next;
      read := ${blocksRead(names)} - read;
    END $unsettled$;`;
}
