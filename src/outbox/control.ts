// Pauses, cancellations, lists and redrives, as an outbox offers them.
import { sha256Base64url } from "#hash";
import { decodeBase64url, utf8 } from "../core/bytes.js";
import type { Clock } from "../core/clock.js";
import { checkOptions, type OptionNames } from "../core/options.js";
import type { BodyEncryption } from "./body-encryption.js";
import { isName } from "./listener.js";
import type { CancelResult, EventFilter, OutboxStore } from "./outbox-store.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  DropOptions,
  OutboxEntry,
  OutboxEvent,
  RedriveOptions,
  RedriveResult,
} from "./records.js";

const MAX_REASON_LENGTH = 200;
const MAX_LISTED = 1_000;
const DEFAULT_LISTED = 100;
const YEAR_MS = 366 * 24 * 60 * 60 * 1000;

/** Selects what waits, for `Outbox.cancel`. An event must match every field that is given. */
export interface CancelFilter extends EventFilter {
  /** Only the event with this id: short for `ids` with one, and given in its place. */
  readonly eventId?: string | undefined;
}

const EVENTS: OptionNames<EventFilter> = { listener: "string", ids: "texts" };
const DEAD_LETTERS: OptionNames<DeadLetterFilter> = {
  ...EVENTS,
  reason: "string",
  code: "string",
  before: "number",
};
const DROPS: OptionNames<DropOptions> = { dryRun: "boolean", limit: "number" };
const REDRIVES: OptionNames<RedriveOptions> = { ...DROPS, place: "string", newIds: "boolean" };

/** @throws {TypeError} for a reason that is no short text */
export function pauseListener(store: OutboxStore, listener: string, reason?: string): Promise<void> {
  if (reason !== undefined && !(isName(reason) && reason.length <= MAX_REASON_LENGTH))
    throw new TypeError(`reason must be a text of 1 to ${MAX_REASON_LENGTH} characters`);
  return store.pause(listener, reason);
}

/** @throws {TypeError} for a filter that is none: it is said, as a misspelt one would select everything */
export async function dropLetters(
  store: OutboxStore,
  filter: DeadLetterFilter,
  options: DropOptions = {},
): Promise<number> {
  if (typeof filter !== "object" || filter === null)
    throw new TypeError("filter must say which dead letters: {} for all of them");
  checkOptions("the filter of drop", filter, DEAD_LETTERS);
  checkOptions("drop", options, DROPS);
  return store.drop(filter, options);
}

/** @throws {TypeError} as `dropLetters` does */
export function listedLetters(
  store: OutboxStore,
  filter: DeadLetterFilter = {},
  options: { readonly limit?: number } = {},
): AsyncIterable<DeadLetter> {
  checkOptions("the filter of deadLetters", filter, DEAD_LETTERS);
  checkOptions("deadLetters", options, { limit: "number" });
  return store.deadLetters(filter, options);
}

/** @throws {TypeError} for a filter that would cancel everything, or that names events in two ways */
export function cancelEvents(store: OutboxStore, filter: CancelFilter): Promise<CancelResult> {
  checkOptions("cancel", filter ?? {}, { ...EVENTS, eventId: "string" } satisfies OptionNames<CancelFilter>);
  const { eventId, listener, ids }: CancelFilter = filter ?? {};
  if (listener === undefined && ids === undefined && eventId === undefined)
    throw new TypeError("filter must say which events: { eventId }, { ids } or { listener }");
  if (ids !== undefined && eventId !== undefined)
    throw new TypeError("filter names events by eventId or by ids, and not by both");
  return store.cancel(eventFilter(listener, eventId === undefined ? ids : [eventId]));
}

/** Ids are stored in lower case. */
function eventFilter(listener: string | undefined, ids: readonly string[] | undefined): EventFilter {
  return { listener, ids: ids?.map((id) => id.toLowerCase()) };
}

/** @throws {RangeError} for a limit out of its range */
export function pendingEvents(
  store: OutboxStore,
  filter: EventFilter = {},
  options: { readonly limit?: number } = {},
): Promise<readonly OutboxEntry[]> {
  checkOptions("the filter of pending", filter, EVENTS);
  checkOptions("pending", options, { limit: 1 });
  const { listener, ids } = filter;
  const { limit = DEFAULT_LISTED } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED)
    throw new RangeError(`limit must be a whole number from 1 to ${MAX_LISTED}`);
  return store.pending(eventFilter(listener, ids), limit);
}

/**
 * A message's `deliverAt` in milliseconds since the epoch.
 *
 * @throws {TypeError | RangeError} for no time, or one that is too far away
 */
export function deliveryTime(deliverAt: Date | number | undefined, clock: Clock): number | undefined {
  if (deliverAt === undefined) return undefined;
  const time = deliverAt instanceof Date ? deliverAt.getTime() : deliverAt;
  if (typeof time !== "number" || !Number.isFinite(time))
    throw new TypeError("deliverAt must be a valid Date, or milliseconds since the epoch");
  if (time > clock.now() + YEAR_MS) throw new RangeError("deliverAt must be at most a year away");
  return Math.ceil(time);
}

/** What a redrive needs of the outbox. */
interface RedriveContext {
  readonly store: OutboxStore;
  readonly encryption: BodyEncryption | undefined;
  /** The window of a listener, also of one that this outbox does not have. */
  readonly windowMs: (listener: string) => Promise<number>;
}

/** Makes dead letters pending again, listener by listener, as each has its own window. */
export async function redriveAll(
  { store, encryption, windowMs }: RedriveContext,
  filter: DeadLetterFilter,
  options: RedriveOptions,
): Promise<RedriveResult> {
  checkOptions("the filter of redrive", filter, DEAD_LETTERS);
  checkOptions("redrive", options, REDRIVES);
  const { newIds = false, limit = Number.POSITIVE_INFINITY } = options;
  let [redriven, pastWindow] = [0, 0];
  for (const listener of await listenersOf(store, filter)) {
    if (redriven >= limit) break;
    const own = { ...filter, listener };
    const rest = { ...options, limit: limit - redriven };
    const result =
      newIds && encryption
        ? await redriveEncrypted(store, encryption, own, rest)
        : await store.redrive(own, await windowMs(listener), rest);
    redriven += result.redriven;
    pastWindow += result.pastWindow;
  }
  return { redriven, pastWindow };
}

async function listenersOf(store: OutboxStore, { listener }: DeadLetterFilter): Promise<string[]> {
  if (listener !== undefined) return [listener];
  const stats = await store.stats();
  return stats.filter(({ dead }) => dead > 0).map((one) => one.listener);
}

/**
 * Gives dead letters new ids where bodies are encrypted. A body is bound to its id, so each event is decrypted,
 * encrypted for its new id, enqueued, and the dead letter dropped. The new id is computed from the old one: a redrive
 * that was interrupted between these steps and is repeated makes no second event.
 */
async function redriveEncrypted(
  store: OutboxStore,
  encryption: BodyEncryption,
  filter: DeadLetterFilter,
  { dryRun = false, place = "end", limit = Number.POSITIVE_INFINITY }: RedriveOptions,
): Promise<RedriveResult> {
  if (place === "kept")
    throw new TypeError(
      'place must be "end" for encrypted events that are to get new ids: they are enqueued again',
    );
  let redriven = 0;
  for await (const letter of store.deadLetters(filter, { limit })) {
    redriven += 1;
    if (dryRun) continue;
    const { listener, id } = letter.event;
    await store.enqueue([await withNewId(letter, encryption)]);
    await store.drop({ listener, ids: [id] });
  }
  return { redriven, pastWindow: 0 };
}

async function withNewId({ event, failedAt }: DeadLetter, encryption: BodyEncryption): Promise<OutboxEvent> {
  const { id, listener, body, encryptionKeyId } = event;
  const eventId = uuidFrom(`${listener} ${id} ${failedAt}`);
  // An unencrypted body stays unencrypted. Encrypting it would turn a body that somebody wrote into the database into
  // one that counts as ours.
  if (encryptionKeyId === undefined) return { ...event, id: eventId };
  const plain = await encryption.decrypt(body, { listener, eventId: id, keyId: encryptionKeyId });
  const encrypted = await encryption.encrypt(plain, { listener, eventId });
  return { ...event, id: eventId, body: encrypted.body, encryptionKeyId: encrypted.keyId };
}

/** A UUID with the version and variant bits of version 4, computed from a text. */
function uuidFrom(text: string): string {
  const bytes = decodeBase64url(sha256Base64url(utf8(text)))?.slice(0, 16) ?? new Uint8Array(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
