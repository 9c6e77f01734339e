// Encrypts bodies before they are stored.
import { concatBytes, utf8 } from "../core/bytes.js";
import { CALLBACK_MS, within } from "../core/clock.js";
import { HookproofError, notGiven } from "../core/errors.js";
import { shownAs } from "../core/shown.js";

/**
 * Encrypts bodies before they are stored, and decrypts them before they are sent. Bind the result to the listener and
 * the event id: otherwise anyone who can write to the database can have a body delivered again under another id.
 */
export interface BodyEncryption {
  /** Encrypts a body. `keyId` is stored next to the body and passed to `decrypt`. */
  encrypt(
    body: Uint8Array,
    context: { readonly listener: string; readonly eventId: string },
  ): Promise<{ readonly body: Uint8Array; readonly keyId: string }>;
  /**
   * Decrypts a body.
   *
   * @throws {HookproofError} OUTBOX_KEY_MISSING if there is no key `keyId`, OUTBOX_BODY_UNREADABLE if the body was changed
   */
  decrypt(
    body: Uint8Array,
    context: { readonly listener: string; readonly eventId: string; readonly keyId: string },
  ): Promise<Uint8Array>;
}

/**
 * An application's encryption, each call of which has 10 seconds: one that hangs must not hold a place, or a call, for
 * ever.
 */
export function timelyEncryption(given: BodyEncryption | undefined): BodyEncryption | undefined {
  const timely = <Value>(work: Promise<Value>, what: string) =>
    within(
      work,
      CALLBACK_MS,
      () =>
        new HookproofError("TIMED_OUT", `The outbox's encryption did not ${what} within ${CALLBACK_MS} ms.`),
    );
  return (
    given && {
      encrypt: async (...call) => timely(given.encrypt(...call), "encrypt"),
      decrypt: async (...call) => timely(given.decrypt(...call), "decrypt"),
    }
  );
}

const NONCE_BYTES = 12;
const KEY_BYTES = 32;

/**
 * AES-256-GCM with keys of your own. The first key encrypts, and every key decrypts. To replace a key, put the new one
 * first, and remove the old one when no event and no dead letter needs it any more. A body is bound to its listener
 * and its event id.
 *
 * @param keys each with an id of its own and 32 bytes
 * @throws {TypeError} if there is no key, an id is missing or used twice, or a key does not have 32 bytes
 *
 * @example
 * ```ts
 * import { aesGcmEncryption } from "hookproof/outbox";
 *
 * const key = crypto.getRandomValues(new Uint8Array(32)); // yours comes from a secret store
 * const encryption = aesGcmEncryption([{ id: "2026-11", key }]); // createOutbox({ ..., encryption })
 * ```
 */
export function aesGcmEncryption(
  keys: readonly { readonly id: string; readonly key: Uint8Array }[],
): BodyEncryption {
  if (!Array.isArray(keys)) throw new TypeError("keys must be a list of keys, the newest first");
  const [first] = keys;
  if (!first) throw new TypeError("keys must hold a key");
  const byId = new Map<string, Promise<CryptoKey>>();
  for (const { id, key } of keys) {
    if (typeof id !== "string" || id === "" || byId.has(id))
      throw new TypeError("keys must each have an id of their own");
    if (key === undefined) throw notGiven(`key ${JSON.stringify(id)}`, key, "KEY_UNFIT");
    if (!(key instanceof Uint8Array) || key.length !== KEY_BYTES)
      throw new TypeError(`key ${JSON.stringify(id)} must have ${KEY_BYTES} bytes`);
    byId.set(id, crypto.subtle.importKey("raw", key.slice(), "AES-GCM", false, ["encrypt", "decrypt"]));
  }

  const encryption: BodyEncryption = {
    async encrypt(body, { listener, eventId }) {
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const key = (await byId.get(first.id)) as CryptoKey;
      const parameters = { name: "AES-GCM", iv, additionalData: boundTo(listener, eventId) };
      const sealed = await crypto.subtle.encrypt(parameters, key, body.slice());
      return { body: concatBytes([iv, new Uint8Array(sealed)]), keyId: first.id };
    },
    async decrypt(body, { listener, eventId, keyId }) {
      const key = await byId.get(keyId);
      if (!key)
        throw new HookproofError(
          "OUTBOX_KEY_MISSING",
          `The outbox has no key ${JSON.stringify(keyId)}, which an event was encrypted with.`,
        );
      const parameters = {
        name: "AES-GCM",
        iv: body.slice(0, NONCE_BYTES),
        additionalData: boundTo(listener, eventId),
      };
      try {
        return new Uint8Array(await crypto.subtle.decrypt(parameters, key, body.slice(NONCE_BYTES)));
      } catch (cause) {
        throw new HookproofError(
          "OUTBOX_BODY_UNREADABLE",
          "An event's body cannot be decrypted: it was changed, or the key is another one.",
          { cause },
        );
      }
    },
  };
  return shownAs(encryption, "BodyEncryption { keys: [redacted] }");
}

function boundTo(listener: string, eventId: string): Uint8Array<ArrayBuffer> {
  return utf8(JSON.stringify(["hookproof outbox", listener, eventId]));
}
