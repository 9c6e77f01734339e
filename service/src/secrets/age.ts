// Keeps text encrypted with age and hands it out encrypted to a reader.
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";

/** A new identity for the service: what encrypts its text secrets at rest. */
export const newIdentity = generateX25519Identity;

/** Keeps text encrypted at rest and hands it out encrypted to a reader. */
export interface SecretVault {
  /** Whether a text is a recipient of the two kinds that the service encrypts to. */
  isRecipient(text: string): Promise<boolean>;
  /** Text as it is stored: a binary age file to the service's own identity. */
  seal(text: string): Promise<Uint8Array>;
  /** Stored text as it was. */
  open(stored: Uint8Array): Promise<string>;
  /**
   * The same text as standard base64 of a binary age file to the reader (specification 4.1), or undefined where
   * the recipient cannot be encrypted to.
   */
  sealFor(recipient: string, stored: Uint8Array): Promise<string | undefined>;
}

/** Opens the vault of an age identity (`AGE-SECRET-KEY-1…`). */
export async function openVault(identity: string): Promise<SecretVault> {
  const own = encrypterTo(await identityToRecipient(identity));
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return {
    isRecipient: async (text) => isRecipient(text),
    async seal(text) {
      return await own.encrypt(text);
    },
    open: (stored) => decrypter.decrypt(stored, "text"),
    async sealFor(recipient, stored) {
      const text = await decrypter.decrypt(stored);
      return await encrypted(recipient, text);
    },
  };
}

function isRecipient(text: string): boolean {
  try {
    encrypterTo(text);
    return true;
  } catch {
    return false;
  }
}

async function encrypted(recipient: string, content: Uint8Array): Promise<string | undefined> {
  try {
    return Buffer.from(await encrypterTo(recipient).encrypt(content)).toString("base64");
  } catch {
    // A well-formed X25519 recipient may still be a point that no secret can be agreed on with.
    return undefined;
  }
}

/** The library also knows recipients of hardware keys, which readers of a paper secret do not have. */
const RECIPIENT = /^age1(?:pq1)?[02-9ac-hj-np-z]+$/;

function encrypterTo(recipient: string): Encrypter {
  if (!RECIPIENT.test(recipient)) throw new RangeError("not an age recipient");
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return encrypter;
}
