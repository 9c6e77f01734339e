// Private keys as they are imported and exported.

import {
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  type PrivateKeyInput,
} from "node:crypto";
import { HookproofError, isNotGiven, notGiven } from "../core/errors.js";
import { checkOptions } from "../core/options.js";
import { MAX_KEY_ID_LENGTH } from "../core/protocol.js";
import { shown } from "../core/shown.js";
import { type Algorithm, algorithmOf, KINDS_OF_KEY } from "../jwt/algorithms.js";
import type { JWK, SigningKey } from "../jwt/key.js";
import { DAMAGED } from "../jwt/key-der.js";
import { readKey } from "../jwt/key-material.js";
import { checkUse, kindOf, nameIn, unfitKey } from "../jwt/unfit-key.js";

/**
 * A private key to import: a JWK (an object or its text) or a PEM (PKCS#8, PKCS#1, SEC1, encrypted or not), in any of the
 * forms that keys are kept in; or the bytes of a file with one, also in DER.
 */
export type KeyMaterial = JWK | string | Uint8Array;

/**
 * Reads a private key that was made elsewhere, in whatever form it is kept, for `jwtSigner` and its like: a PEM (PKCS#8,
 * PKCS#1, SEC1; with `passphrase` also encrypted) or a JWK, in quotes, with `\n` written out, in JSON (`private_key`),
 * .env, YAML or base64. The kid is the JWK's own if none is given, and the algorithm follows from the key.
 *
 * @throws {HookproofError} KEY_UNFIT with the reason; KEY_STORE_PASSPHRASE for an encrypted PEM that cannot be decrypted
 *
 * @example
 * ```ts
 * import { generateKeyPairSync } from "node:crypto";
 * import { readSigningKey } from "hookproof/node";
 *
 * const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
 * const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
 * const key = readSigningKey(`KEY="${pem.replaceAll("\n", "\\n")}"`, { kid: "billing-1" });
 * key.alg; // "RS256"
 * ```
 */
export function readSigningKey(
  material: KeyMaterial,
  options: {
    /** The key's id in your key set; the JWK's own by default. */
    readonly kid?: string;
    /** Of an encrypted PEM. */
    readonly passphrase?: string;
  } = {},
): SigningKey & { readonly key: JWK } {
  checkOptions("readSigningKey", options, { kid: 1, passphrase: 1 });
  const jwk = privateJwkOf(material, options.passphrase);
  const alg = checkedAlgorithmOf(jwk);
  if (jwk.alg !== undefined && jwk.alg !== alg)
    throw unfitKey(`says alg ${shown(nameIn(jwk.alg))}, and is one for ${alg}`);
  const kid = options.kid ?? jwk.kid;
  if (typeof kid !== "string" || kid === "" || kid.length > MAX_KEY_ID_LENGTH)
    throw unfitKey(`has no id: give the kid, the name that it has in your key set`);
  return { key: jwk, kid, alg };
}

/**
 * The private JWK of an imported key, with its own `kid` and `alg` if it has them.
 *
 * @throws {HookproofError} KEY_UNFIT; KEY_STORE_PASSPHRASE for an encrypted PEM that cannot be decrypted
 */
export function privateJwkOf(material: KeyMaterial, passphrase: string | undefined): JWK {
  if (isNotGiven(material)) throw notGiven("key", material, "KEY_UNFIT");
  const read = readKey(material);
  if (read.form === "jwk") return checkNames(read.jwk);
  if (read.form === "pkcs8")
    return jwkOf(opened({ key: Buffer.from(read.der), format: "der", type: "pkcs8" }, unfitKey(DAMAGED)));
  if (passphrase === undefined)
    throw new HookproofError("KEY_STORE_PASSPHRASE", "The PEM is encrypted; its passphrase is needed.");
  const wrong = new HookproofError(
    "KEY_STORE_PASSPHRASE",
    "The PEM cannot be decrypted with this passphrase.",
  );
  return jwkOf(opened({ key: read.pem, format: "pem", passphrase }, wrong));
}

function checkNames(jwk: JWK): JWK {
  if (jwk.kty === "oct") throw unfitKey("is symmetric");
  checkUse(jwk);
  const { key_ops: _, ext: __, ...kept } = jwk;
  return kept as JWK;
}

/** OpenSSL's own message may quote the input, so it is not passed on. */
function opened(input: PrivateKeyInput, otherwise: HookproofError): KeyObject {
  try {
    return createPrivateKey(input);
  } catch {
    throw otherwise;
  }
}

function jwkOf(key: KeyObject): JWK {
  const kind = key.asymmetricKeyType;
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (kind !== "rsa" && kind !== "ed25519" && !(kind === "ec" && curve === "prime256v1"))
    throw unfitKey(`is of the kind ${[kind, curve].filter(Boolean).join(" ")}; it must be ${KINDS_OF_KEY}`);
  return key.export({ format: "jwk" }) as JWK;
}

/** The algorithm of a key that does not name it: each kind of key has only one. */
export function checkedAlgorithmOf(jwk: JWK): Algorithm {
  const alg = algorithmOf(jwk);
  if (alg === undefined) throw unfitKey(`is of the kind ${kindOf(jwk)}; it must be ${KINDS_OF_KEY}`);
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
