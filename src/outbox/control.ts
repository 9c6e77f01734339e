import type { Clock } from "../core/clock.js";
import { HookproofError, messageOf } from "../core/errors.js";
import { isName } from "./listener.js";
import type { CancelResult, EventFilter, OutboxEntry, OutboxStore, StoreControl } from "./outbox-store.js";

const MAX_REASON_LENGTH = 200;
const MAX_LISTED = 1_000;
const DEFAULT_LISTED = 100;
const YEAR_MS = 366 * 24 * 60 * 60 * 1000;

/** Selects what waits, for `Outbox.cancel`. An event must match every field that is given. */
export interface CancelFilter extends EventFilter {
  /** Only the event with this id: short for `ids` with one, and given in its place. */
  readonly eventId?: string | undefined;
}

/**
 * What the store can do beside delivering.
 *
 * @throws {HookproofError} OUTBOX_UNSUPPORTED if it is a store of somebody else's that cannot
 */
export function controlOf(store: OutboxStore): StoreControl {
  if (store.control) return store.control;
  throw new HookproofError("OUTBOX_UNSUPPORTED", `${messageOf("OUTBOX_UNSUPPORTED")} It has no control.`);
}

/** @throws {TypeError} for a reason that is no short text */
export function pauseListener(store: OutboxStore, listener: string, reason?: string): Promise<void> {
  if (reason !== undefined && !(isName(reason) && reason.length <= MAX_REASON_LENGTH))
    throw new TypeError(`reason must be a text of 1 to ${MAX_REASON_LENGTH} characters`);
  return controlOf(store).pause(listener, reason);
}

/** @throws {TypeError} for a filter that would cancel everything, or that names events in two ways */
export function cancelEvents(store: OutboxStore, filter: CancelFilter): Promise<CancelResult> {
  const { eventId, listener, ids } = Object(filter) as CancelFilter;
  if (listener === undefined && ids === undefined && eventId === undefined)
    throw new TypeError("filter must say which events: { eventId }, { ids } or { listener }");
  if (ids !== undefined && eventId !== undefined)
    throw new TypeError("filter names events by eventId or by ids, and not by both");
  return controlOf(store).cancel(eventFilter(listener, eventId === undefined ? ids : [eventId]));
}

/** Ids are stored in lower case. */
function eventFilter(listener: string | undefined, ids: readonly string[] | undefined): EventFilter {
  return { listener, ids: ids?.map((id) => id.toLowerCase()) };
}

/** @throws {RangeError} for a limit out of its range */
export function pendingEvents(
  store: OutboxStore,
  { listener, ids }: EventFilter = {},
  { limit = DEFAULT_LISTED }: { readonly limit?: number } = {},
): Promise<readonly OutboxEntry[]> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED)
    throw new RangeError(`limit must be a whole number from 1 to ${MAX_LISTED}`);
  return controlOf(store).pending(eventFilter(listener, ids), limit);
}

/**
 * A message's `deliverAt` in milliseconds since the epoch.
 *
 * @throws {TypeError | RangeError | HookproofError} for no time, one that is too far away, or a store that cannot wait
 */
export function deliveryTime(
  deliverAt: Date | number | undefined,
  clock: Clock,
  store: OutboxStore,
): number | undefined {
  if (deliverAt === undefined) return undefined;
  const time = deliverAt instanceof Date ? deliverAt.getTime() : deliverAt;
  if (typeof time !== "number" || !Number.isFinite(time))
    throw new TypeError("deliverAt must be a valid Date, or milliseconds since the epoch");
  if (time > clock.now() + YEAR_MS) throw new RangeError("deliverAt must be at most a year away");
  controlOf(store);
  return Math.ceil(time);
}
