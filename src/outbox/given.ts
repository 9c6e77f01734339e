// Checks what an outbox is given: its store, its worker's name and how long it keeps what has ended.
import { isName } from "./listener.js";
import type { OutboxStore } from "./outbox-store.js";
import type { Retention } from "./upkeep.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_WORKER_LENGTH = 200;

/** What a store must have. */
const METHODS =
  `enqueue claim markDelivered reschedule fail expire release redrive drop deadLetters find stats now followClock prune
  due changed unknown pause resume rest cancel pending close`.split(/\s+/) as (keyof OutboxStore)[];

/** @throws {TypeError} for what is no store */
export function requireStore(store: OutboxStore): void {
  const missing = METHODS.filter((name) => typeof store?.[name] !== "function");
  if (missing.length === 0) return;
  const which = missing.length === METHODS.length ? "" : `: this one has no ${missing.join(", no ")}`;
  throw new TypeError(
    `store must be memoryStore(), sqliteStore(...), postgresStore(...) or your own${which}`,
  );
}

/** @throws {TypeError} for a name that is no short text */
export function requireWorkerName(worker: string | undefined): void {
  if (worker !== undefined && !(isName(worker) && worker.length <= MAX_WORKER_LENGTH))
    throw new TypeError(`worker must be a name of 1 to ${MAX_WORKER_LENGTH} characters`);
}

/** @throws {RangeError} for a time below 0 */
export function checkedRetention(given: Partial<Retention> | undefined): Retention {
  const retention = { deliveredMs: 7 * DAY_MS, deadMs: 30 * DAY_MS, ...given };
  for (const name of ["deliveredMs", "deadMs"] as const)
    if (!(retention[name] >= 0)) throw new RangeError(`retention.${name} must be 0 or more`);
  return retention;
}
