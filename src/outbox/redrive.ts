import { sha256Base64url } from "#hash";
import { decodeBase64url, utf8 } from "../core/bytes.js";
import type { BodyEncryption } from "./body-encryption.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  OutboxEvent,
  OutboxStore,
  RedriveOptions,
  RedriveResult,
} from "./outbox-store.js";

/** What a redrive needs of the outbox. */
export interface RedriveContext {
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
      'place must be "end" for encrypted events that are to get new ids: they are enqueued anew',
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
