import { type ExternalSigner, externalSignature } from "../jwt/external-signature.js";
import { type Algorithm, importPrivateKey, type SigningKey } from "../jwt/key.js";

/** Signs the first two segments of a token. */
export type SignBytes = (bytes: Uint8Array & { readonly buffer: ArrayBuffer }) => Promise<Uint8Array>;

/** The public members of each kind of key. */
const PUBLIC_MEMBERS = ["kty", "crv", "x", "y", "n", "e"] as const;

/** A public key as it stands in a key set, without its names. */
export type PublicJwk = Partial<Record<(typeof PUBLIC_MEMBERS)[number], string>>;

/** A key to make tokens with, correct and hostile ones. */
export interface TokenKey {
  readonly sign: SignBytes;
  /** The public half, where the private one tells it. */
  publicJwk(): Promise<PublicJwk | undefined>;
}

const PARAMETERS = {
  RS256: { name: "RSASSA-PKCS1-v1_5" },
  ES256: { name: "ECDSA", hash: "SHA-256" },
  EdDSA: { name: "Ed25519" },
} as const;

/** Makes a caller's key ready. */
export async function tokenKey({ key, alg }: SigningKey): Promise<TokenKey> {
  if (typeof key === "function")
    return {
      sign: (bytes) => externalSignature(key as ExternalSigner, bytes, alg),
      publicJwk: async () => undefined,
    };
  const imported = (await importPrivateKey(key, alg)) as CryptoKey;
  return {
    sign: signWith(imported, alg),
    async publicJwk() {
      if (typeof key === "object" && "kty" in key) return publicOf(key);
      return imported.extractable ? publicOf(await crypto.subtle.exportKey("jwk", imported)) : undefined;
    },
  };
}

/** A new key that no listener knows. */
export async function strangerKey(alg: Algorithm): Promise<TokenKey> {
  const { privateKey, publicKey } = (await crypto.subtle.generateKey(generation(alg), true, [
    "sign",
    "verify",
  ])) as CryptoKeyPair;
  return {
    sign: signWith(privateKey, alg),
    publicJwk: async () => publicOf(await crypto.subtle.exportKey("jwk", publicKey)),
  };
}

/** The public key in PEM, as careless libraries take it for an HMAC secret. */
export async function pemOf(jwk: PublicJwk, alg: Algorithm): Promise<string> {
  const key = await crypto.subtle.importKey("jwk", jwk, generation(alg), true, ["verify"]);
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", key));
  const lines = btoa(String.fromCharCode(...spki)).match(/.{1,64}/g) ?? [];
  return `-----BEGIN PUBLIC KEY-----\n${lines.join("\n")}\n-----END PUBLIC KEY-----\n`;
}

function generation(alg: Algorithm): RsaHashedKeyGenParams | EcKeyGenParams {
  const { name } = PARAMETERS[alg];
  if (alg !== "RS256") return { name, namedCurve: "P-256" };
  return { name, hash: "SHA-256", modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) };
}

function signWith(key: CryptoKey, alg: Algorithm): SignBytes {
  return async (bytes) => new Uint8Array(await crypto.subtle.sign(PARAMETERS[alg], key, bytes));
}

function publicOf(jwk: object): PublicJwk {
  return Object.fromEntries(
    Object.entries(jwk).filter(([name]) => PUBLIC_MEMBERS.some((one) => one === name)),
  );
}
