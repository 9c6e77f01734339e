import { sha256Base64url } from "#hash";
import { decodeBase64url } from "../primitives/base64url.js";
import { utf8 } from "../primitives/bytes.js";
import type { BodyEncryption } from "./body-encryption.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  OutboxStore,
  RedriveOptions,
  RedriveResult,
} from "./outbox-store.js";

/**
 * Brings dead letters back under new ids where bodies are encrypted: each is enqueued anew, encrypted for its new id,
 * and then dropped, as a body is bound to its id. A new id follows from the old one, so that whoever was interrupted
 * between the two and begins again makes no second event.
 */
export async function redriveSealed(
  store: OutboxStore,
  encryption: BodyEncryption,
  filter: DeadLetterFilter,
  { dryRun = false, place = "end", limit }: RedriveOptions,
): Promise<RedriveResult> {
  if (place === "kept")
    throw new TypeError(
      'place must be "end" for encrypted events that are to get new ids: they are enqueued anew',
    );
  let redriven = 0;
  for await (const letter of store.dead(filter, limit === undefined ? {} : { limit })) {
    redriven += 1;
    if (dryRun) continue;
    const { listener, id } = letter.event;
    await store.enqueue([await renamed(letter, encryption)]);
    await store.drop({ listener, ids: [id] });
  }
  return { redriven, pastWindow: 0 };
}

async function renamed({ event, diedAt }: DeadLetter, encryption: BodyEncryption) {
  const { id, listener, body, encryptionKeyId } = event;
  const eventId = nextId(`${listener} ${id} ${diedAt}`);
  // It stays as it is: encrypting it would make a body of whoever can write to the database look like one of ours.
  if (encryptionKeyId === undefined) return { ...event, id: eventId };
  const plain = await encryption.decrypt(body, { listener, eventId: id, keyId: encryptionKeyId });
  const sealed = await encryption.encrypt(plain, { listener, eventId });
  return { ...event, id: eventId, body: sealed.body, encryptionKeyId: sealed.keyId };
}

/** A UUID of version 4, as far as anybody can see. */
function nextId(of: string): string {
  const bytes = decodeBase64url(sha256Base64url(utf8(of)))?.slice(0, 16) ?? new Uint8Array(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
