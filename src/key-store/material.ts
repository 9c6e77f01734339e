// Private keys as they are imported and exported.
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { HookproofError } from "../core/errors.js";
import { MAX_KEY_ID_LENGTH } from "../core/protocol.js";
import { shown } from "../core/shown.js";
import { type Algorithm, algorithmOf, KINDS_OF_KEY } from "../jwt/algorithms.js";
import type { JWK } from "../jwt/key.js";

/** A private key to import: a JWK (an object or its text) or a PEM (PKCS#8, PKCS#1, SEC1, encrypted or not). */
export type KeyMaterial = JWK | string;

/**
 * The private JWK of an imported key, with its own `kid` and `alg` if it has them.
 *
 * @throws {HookproofError} KEY_UNFIT; KEY_STORE_PASSPHRASE for an encrypted PEM that cannot be decrypted
 */
export function privateJwkOf(material: KeyMaterial, passphrase: string | undefined): JWK {
  if (typeof material !== "string") return checkNames(material);
  if (/-----BEGIN /.test(material)) return jwkOf(openPem(material, passphrase));
  try {
    return checkNames(JSON.parse(material));
  } catch (error) {
    if (error instanceof HookproofError) throw error;
    throw unfit("is neither a PEM nor the JSON of a JWK");
  }
}

function checkNames(jwk: JWK): JWK {
  if (typeof jwk !== "object" || jwk === null || Array.isArray(jwk)) throw unfit("is not a JWK");
  if ("keys" in jwk) throw unfit("is a key set; bring one key of it");
  if (jwk.kty === "oct") throw unfit("is symmetric");
  if (jwk.d === undefined) throw unfit("is a public key; signing needs the private one");
  if (jwk.use !== undefined && jwk.use !== "sig") throw unfit("says that it is not for signatures (use)");
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes("sign")))
    throw unfit("says that it is not for signing (key_ops)");
  const { key_ops: _, ext: __, ...kept } = jwk;
  return kept as JWK;
}

function openPem(pem: string, passphrase: string | undefined): KeyObject {
  if (/-----BEGIN (?:PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-----/.test(pem) && !/PRIVATE KEY-----/.test(pem))
    throw unfit("is a public key; signing needs the private one");
  const isEncrypted = /ENCRYPTED/.test(pem);
  if (isEncrypted && passphrase === undefined)
    throw new HookproofError("KEY_STORE_PASSPHRASE", "The PEM is encrypted; its passphrase is needed.");
  try {
    return createPrivateKey({ key: pem, format: "pem", ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    // OpenSSL's own message may quote the input, so it is not passed on.
    if (isEncrypted)
      throw new HookproofError("KEY_STORE_PASSPHRASE", "The PEM cannot be decrypted with this passphrase.");
    throw unfit("cannot be read: the PEM is damaged or of an unknown kind");
  }
}

function jwkOf(key: KeyObject): JWK {
  const kind = key.asymmetricKeyType;
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (kind !== "rsa" && kind !== "ed25519" && !(kind === "ec" && curve === "prime256v1"))
    throw unfit(`is of the kind ${[kind, curve].filter(Boolean).join(" ")}; it must be ${KINDS_OF_KEY}`);
  return key.export({ format: "jwk" }) as JWK;
}

/** The algorithm of a key that does not name it: each kind of key has only one. */
export function checkedAlgorithmOf(jwk: JWK): Algorithm {
  const alg = algorithmOf(jwk);
  if (alg === undefined)
    throw unfit(`is of the kind ${JSON.stringify([jwk.kty, jwk.crv])}; it must be ${KINDS_OF_KEY}`);
  return alg;
}

/** The private key as PEM (PKCS#8), encrypted if there is a passphrase. */
export function privatePem(jwk: JWK, passphrase: string | undefined): string {
  const key = createPrivateKey({ key: jwk as JsonWebKey, format: "jwk" });
  const cipher = passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase };
  return key.export({ type: "pkcs8", format: "pem", ...cipher }) as string;
}

/** The public key as PEM (SPKI). */
export function publicPem(jwk: JWK): string {
  return createPublicKey({ key: jwk as JsonWebKey, format: "jwk" }).export({
    type: "spki",
    format: "pem",
  }) as string;
}

function unfit(reason: string): HookproofError {
  return new HookproofError("KEY_UNFIT", `The key ${reason}.`);
}

/** The kids that a shell takes without quotes and that no command line reads as a flag or a home folder. */
const STORABLE = /^[A-Za-z0-9_.][A-Za-z0-9._~:/+=@-]*$/;

/** Whether a key store accepts this kid. Key sets of others may have any text. */
export function isStorableKid(kid: unknown): kid is string {
  return typeof kid === "string" && kid.length <= MAX_KEY_ID_LENGTH && STORABLE.test(kid);
}

/** Refuses a kid that a key store does not accept. */
export function checkStorableKid(kid: string | undefined): void {
  if (kid === undefined || isStorableKid(kid)) return;
  throw new HookproofError(
    "KEY_UNFIT",
    `The key id ${shown(kid)} cannot be kept: it must be 1 to ${MAX_KEY_ID_LENGTH} letters, digits and . _ ~ : / + = @ - with a letter, a digit, _ or . first. Give the key another one.`,
  );
}
