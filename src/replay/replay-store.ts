// What a replay store does.
import { within } from "../core/clock.js";
import { databaseFailure, HookproofError, messageOf } from "../core/errors.js";
import { isSqlName } from "../core/sql-name.js";

/** A reservation of an event id. Its holder commits or releases it. */
export interface Reservation {
  /** The listener's id. */
  readonly listenerId: string;
  /** The event id, in lower case. */
  readonly eventId: string;
  /** Different for each reservation, so that a holder whose reservation expired is told from the next one. */
  readonly token: string;
}

/** What `reserve` found: the id is reserved for the caller, was processed before, or is being processed by another. */
export type ReserveResult =
  | { readonly state: "reserved"; readonly reservation: Reservation }
  | { readonly state: "processed" }
  | { readonly state: "in-flight" };

/** How long a reservation holds by default. A run must be done within this time. */
export const RESERVATION_MS = 60_000;

/**
 * Remembers processed event ids for 7 days, for each listener (specification 8). An id is *processed* once its event
 * was accepted; before that it is *reserved*. A reservation whose holder died expires. Any method may reject: then
 * the receiver answers 503, and the id stays unused.
 *
 * `replayStoreContract` of `hookproof/testing` tests a store of your own against these rules.
 */
export interface ReplayStore {
  /** Reserves an id (in lower case) unless it is processed or reserved. Of many calls at once exactly one succeeds. */
  reserve(listenerId: string, eventId: string): Promise<ReserveResult>;
  /**
   * Marks the id as processed. The holder may commit twice. A reservation that expired can be committed as long as
   * nobody else has reserved or processed the id; after that `commit` rejects with RESERVATION_LOST and changes
   * nothing.
   */
  commit(reservation: Reservation): Promise<void>;
  /** Frees the id, as its event was not accepted. A reservation that is no longer held changes nothing. */
  release(reservation: Reservation): Promise<void>;
}

/** The default name of the table in which the SQL stores keep ids. */
export const REPLAY_TABLE = "hookproof_event_ids";

/** How many expired ids one call removes at most, so that no request has to remove those of a week. */
export const CLEANUP_ROWS = 500;

const CLEANUP_EVERY_MS = 60_000;

/**
 * Checks a table's name, because it becomes part of the SQL, and quotes it.
 *
 * @param name a name, or `schema.name` where the database has schemas
 */
export function quotedTable(name: string): string {
  const parts = typeof name === "string" ? name.split(".") : [];
  if (parts.length < 1 || parts.length > 2 || !parts.every(isSqlName))
    throw new TypeError("table must be a name of letters, digits and _, or schema.name");
  return parts.map((part) => `"${part}"`).join(".");
}

/** The name of the index on the expiry. It has no schema: PostgreSQL puts an index into the schema of its table. */
export function quotedIndex(table: string): string {
  return `"${table.split(".").at(-1)?.slice(0, 50)}_expires_at"`;
}

/** Says when it is time to remove expired ids: once a minute, and again at once while there are more. */
export function cleanupSchedule(): { isDue(now: number): boolean; done(now: number, removed: number): void } {
  let nextAt = 0;
  return {
    isDue: (now) => now >= nextAt,
    done(now, removed) {
      nextAt = removed < CLEANUP_ROWS ? now + CLEANUP_EVERY_MS : now;
    },
  };
}

/** What a method of a replay store rejects with when its database fails. */
export function storeFailure(error: unknown): HookproofError {
  return databaseFailure("REPLAY_STORE_UNAVAILABLE", error);
}

/** What a holder's `commit` or `release` rejects with when another request has taken its reservation over. */
export function reservationLost(): HookproofError {
  return new HookproofError("RESERVATION_LOST", messageOf("RESERVATION_LOST"));
}

/**
 * Runs a replay store's call to a database on the network with a time limit: drivers queue calls while they
 * reconnect, and a caller waits no longer than its own limit.
 *
 * @param undo takes back what a call may have done although its caller was told that it failed: late, or over a connection
 * that broke
 */
export async function withinMs<Value>(
  limitMs: number,
  call: () => Promise<Value>,
  undo?: (value?: Value) => unknown,
): Promise<Value> {
  let isLate = false;
  const late = () => {
    isLate = true;
    return new Error(`no answer within ${limitMs} ms`);
  };
  try {
    const work = call();
    if (undo)
      work
        .then(
          (value) => isLate && undo(value),
          () => undo(),
        )
        .catch(() => {}); // nobody waits for it any more
    return await within(work, limitMs, late);
  } catch (error) {
    throw storeFailure(error);
  }
}
