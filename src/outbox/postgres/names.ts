// The names of an outbox's tables, checked and quoted.
import { isSqlName } from "../../core/sql-name.js";
import { literal } from "../../postgres/database.js";

/**
 * Of every function of the schema, and of every transaction of the store's own: its words mean PostgreSQL's own functions and operators, whoever calls it. Its tables
 * are always named with the schema.
 */
export const OWN_PATH = "pg_catalog, pg_temp";
export const OWN_NAMES: string = `SET search_path = ${OWN_PATH}`;

/** The most attempts that an event counts, and the most events of a count; both stay there. */
export const MAX_ATTEMPTS = 1_000_000_000;
export const MAX_COUNT = 1_000_000_000_000_000;

/** The names of an outbox's schema, tables, lock and channel, as SQL. */
export interface OutboxNames {
  readonly schema: string;
  /** The table of events. */
  readonly event: string;
  /** The table of bodies that several events have, one for each of several listeners. */
  readonly body: string;
  /** A table of changes of the counts: the sums are how many events each listener has in each state. */
  readonly tally: string;
  /**
   * The table of listeners that are paused, rest, have changed or have a rate. `pace` is the time of `allowedBy`;
   * `has_aside` says whether events of it may be `aside`.
   */
  readonly listener: string;
  /**
   * The table of listeners whose claims are slow: looks and claims go over their waiting events from `due_from` on; see
   * floor.ts.
   */
  readonly floor: string;
  /** The table of ordering keys that are slow: what is asked about one begins at `seq_from`; see key-floor.ts. */
  readonly keyFloor: string;
  /** The table with the time at which the database's clock was last seen; see clock.ts. */
  readonly clock: string;
  /** The table of workers and when each was last seen; see workers.ts. */
  readonly worker: string;
  /** The advisory lock that is held while ordering keys pass from one event to the next. */
  readonly orderLock: string;
  /** The class of the advisory locks of listeners that are being claimed from. */
  readonly claimLock: string;
  /** The channel of notifications about new work. */
  readonly channel: string;
}

/**
 * Checks and quotes a schema's name, which becomes part of the SQL.
 *
 * @throws {TypeError} if it is no plain name
 */
export function outboxNames(name: string): OutboxNames {
  if (typeof name !== "string" || !isSqlName(name))
    throw new TypeError("schema must be a name of letters, digits and _");
  const schema = `"${name}"`;
  return {
    schema,
    event: `${schema}.event`,
    body: `${schema}.body`,
    tally: `${schema}.tally`,
    listener: `${schema}.listener`,
    floor: `${schema}.floor`,
    keyFloor: `${schema}.key_floor`,
    clock: `${schema}.clock`,
    worker: `${schema}.worker`,
    orderLock: `hashtextextended(${literal(`hookproof ${name} order`)}, 0)`,
    claimLock: `hashtext(${literal(`hookproof ${name} claim`)})`,
    channel: `"hookproof ${name}"`,
  };
}
