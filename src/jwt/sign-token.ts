import type { CryptoKey } from "jose";
import { encodeBase64url } from "#hash";
import { signatureBy } from "#signature";
import { utf8 } from "../core/bytes.js";
import { HookproofError } from "../core/errors.js";
import { MAX_KEY_ID_LENGTH } from "../core/protocol.js";
import { ALGORITHM_FACTS, type Algorithm, checkAlgorithm } from "./algorithms.js";
import { externalSignature } from "./external-signature.js";
import { importPrivateKey, type PrivateKeyInput, type SigningKey } from "./key.js";

/** A key to sign with, or a function that gives the one of now. */
export type SigningKeySource = SigningKey | (() => SigningKey | Promise<SigningKey>);

/**
 * Signs claims as compact tokens with the header members `alg`, `kid` and `typ`. A fixed key is checked at once; a
 * function is called for every token, so that a rotated key is used at once.
 *
 * @throws {TypeError} for a wrong option. Signing rejects with KEY_UNFIT or SIGNER_FAILED
 */
export function tokenSigner(source: SigningKeySource, typ: string): (claims: object) => Promise<string> {
  if (typeof source !== "function") checkSigningKey(source);
  const imported = importedOnce();
  return async (claims) => {
    const { key, kid, alg } = typeof source === "function" ? await askForKey(source) : source;
    const header = { alg, kid, typ };
    const input = `${segment(header)}.${segment(claims)}`;
    const bytes = utf8(input);
    const signature = await (typeof key === "function"
      ? externalSignature(key, bytes, alg)
      : signatureBy(await imported(key, alg), ALGORITHM_FACTS[alg].signatureParameters, bytes));
    return `${input}.${encodeBase64url(signature)}`;
  };
}

function segment(members: object): string {
  return encodeBase64url(utf8(JSON.stringify(members)));
}

/** The key that a caller's function gives. */
export async function askForKey(signingKey: () => SigningKey | Promise<SigningKey>): Promise<SigningKey> {
  let given: SigningKey;
  try {
    given = await signingKey();
  } catch (cause) {
    throw new HookproofError("SIGNER_FAILED", "The function that gives the signing key failed.", { cause });
  }
  checkSigningKey(given);
  return given;
}

/** Refuses a key whose kid or alg cannot be one. */
export function checkSigningKey({ kid, alg }: SigningKey): void {
  checkAlgorithm(alg);
  if (typeof kid !== "string" || kid === "" || kid.length > MAX_KEY_ID_LENGTH) {
    throw new TypeError(`kid must be a text of 1 to ${MAX_KEY_ID_LENGTH} characters`);
  }
}

/** Imports a key at its first use; again only when the key or its algorithm changes. */
export function importedOnce(): (key: PrivateKeyInput, alg: Algorithm) => Promise<CryptoKey> {
  let last: { key: PrivateKeyInput; alg: Algorithm; imported: Promise<CryptoKey> } | undefined;
  return (key, alg) => {
    if (last?.key !== key || last.alg !== alg) last = { key, alg, imported: importPrivateKey(key, alg) };
    return last.imported;
  };
}
