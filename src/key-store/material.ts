import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { HookproofError } from "../errors.js";
import type { JWK } from "../jwks/key-record.js";
import type { Algorithm } from "../jwt/key.js";

/** A private key somebody brings: a JWK (as an object or its text) or a PEM (PKCS#8, PKCS#1, SEC1, encrypted or not). */
export type KeyMaterial = JWK | string;

/** The private JWK of what somebody brings, with whatever names it carries. */
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
    // What OpenSSL says may quote the input.
    if (isEncrypted)
      throw new HookproofError("KEY_STORE_PASSPHRASE", "The PEM cannot be decrypted with this passphrase.");
    throw unfit("cannot be read: the PEM is damaged or of an unknown kind");
  }
}

function jwkOf(key: KeyObject): JWK {
  const kind = key.asymmetricKeyType;
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (kind !== "rsa" && kind !== "ed25519" && !(kind === "ec" && curve === "prime256v1"))
    throw unfit(
      `is of the kind ${[kind, curve].filter(Boolean).join(" ")}; it must be RSA, EC on P-256 or Ed25519`,
    );
  return key.export({ format: "jwk" }) as JWK;
}

/** The algorithm that a key's kind leaves open no choice about. */
export function algorithmOf({ kty, crv }: JWK): Algorithm {
  if (kty === "RSA") return "RS256";
  if (kty === "EC" && crv === "P-256") return "ES256";
  if (kty === "OKP" && crv === "Ed25519") return "EdDSA";
  throw unfit(`is of the kind ${JSON.stringify([kty, crv])}; it must be RSA, EC on P-256 or Ed25519`);
}

/** PKCS#8 in PEM, encrypted where there is a passphrase. */
export function privatePem(jwk: JWK, passphrase: string | undefined): string {
  const key = createPrivateKey({ key: jwk as JsonWebKey, format: "jwk" });
  const cipher = passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase };
  return key.export({ type: "pkcs8", format: "pem", ...cipher }) as string;
}

/** SPKI in PEM. */
export function publicPem(jwk: JWK): string {
  return createPublicKey({ key: jwk as JsonWebKey, format: "jwk" }).export({
    type: "spki",
    format: "pem",
  }) as string;
}

function unfit(reason: string): HookproofError {
  return new HookproofError("KEY_UNFIT", `The key ${reason}.`);
}
