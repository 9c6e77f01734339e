import {
  constants,
  createHash,
  createHmac,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
} from "node:crypto";
import type { KeyResolver } from "hookproof/jwks";
import { localKeys } from "hookproof/jwks";
import type { LocalListener } from "hookproof-service";
import { BASE_URL, NOW, type Parts, pathOf, unsignedParts } from "./hostile-target.js";
import type { Line } from "./raw-http.js";

/** A key pair and the names it goes by in a key set. */
export interface TestKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key as it stands in a key set. */
  readonly jwk: JsonWebKey & { kid: string; alg: string; use: string };
}

/** A fresh key of one of the kinds of the protocol, or of a kind it refuses. */
export function testKey(
  alg: string,
  kid: string = alg.toLowerCase(),
  rsa = { bits: 2048, e: 65_537 },
): TestKey {
  const { privateKey, publicKey } = keyPair(alg, rsa);
  return {
    kid,
    alg,
    privateKey,
    publicKey,
    jwk: { ...publicKey.export({ format: "jwk" }), kid, alg, use: "sig" },
  };
}

function keyPair(
  alg: string,
  rsa: { bits: number; e: number },
): { privateKey: KeyObject; publicKey: KeyObject } {
  if (alg === "EdDSA") return generateKeyPairSync("ed25519");
  if (alg === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  if (alg === "ES384") return generateKeyPairSync("ec", { namedCurve: "P-384" });
  return generateKeyPairSync("rsa", { modulusLength: rsa.bits, publicExponent: rsa.e });
}

/** base64url without padding. */
export function base64url(data: string | Uint8Array): string {
  return Buffer.from(data as string).toString("base64url");
}

/** The signature of a token, made with `node:crypto`. */
function signatureOf(alg: string, input: string, key: KeyObject | string): Buffer {
  const bytes = Buffer.from(input);
  if (alg.startsWith("HS")) return createHmac("sha256", key).update(bytes).digest();
  if (alg === "PS256")
    return sign("sha256", bytes, {
      key: key as KeyObject,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: 32,
    });
  if (alg === "EdDSA" || alg === "Ed25519") return sign(null, bytes, key as KeyObject);
  const hash = alg.endsWith("384") ? "sha384" : "sha256";
  return sign(hash, bytes, { key: key as KeyObject, dsaEncoding: "ieee-p1363" });
}

/** What goes into one token; a text stands for raw JSON. */
export interface TokenOptions {
  header?: Record<string, unknown> | string;
  claims?: Record<string, unknown> | string;
  /** The key that signs, when it is not the one the header names. */
  signWith?: KeyObject | string;
  /** How it signs, when it is not what the header says. */
  signAs?: string;
}

/** A compact token by hand. */
export function compactToken(
  key: TestKey,
  claims: Record<string, unknown>,
  options: TokenOptions = {},
): string {
  const header = textOf({ alg: key.alg, typ: "JWT", kid: key.kid }, options.header);
  const input = `${base64url(header)}.${base64url(textOf(claims, options.claims))}`;
  const signature = signatureOf(options.signAs ?? key.alg, input, options.signWith ?? key.privateKey);
  return `${input}.${base64url(signature)}`;
}

/** Members over members; `undefined` takes one away, a text replaces them all. */
function textOf(members: Record<string, unknown>, over: Record<string, unknown> | string = {}): string {
  return typeof over === "string" ? over : JSON.stringify({ ...members, ...over });
}

/** The claims that bind a token to these parts. */
export function claimsFor(listenerId: string, parts: Parts): Record<string, unknown> {
  return {
    sub: BASE_URL,
    aud: `${BASE_URL}${pathOf(listenerId)}`,
    exp: NOW + 300,
    jti: parts.eventId,
    htm: "POST",
    htb_s256: createHash("sha256").update(parts.body).digest("base64url"),
  };
}

/** The parts of a request with a token. */
export function jwtParts(
  listenerId: string,
  key: TestKey,
  options: TokenOptions & { eventId?: string; timestamp?: string; body?: string | Uint8Array } = {},
): Parts {
  const { header, claims, signWith, signAs, ...rest } = options;
  const parts = unsignedParts(listenerId, rest);
  const token = compactToken(key, claimsFor(listenerId, parts), {
    ...(header === undefined ? {} : { header }),
    ...(claims === undefined ? {} : { claims }),
    ...(signWith === undefined ? {} : { signWith }),
    ...(signAs === undefined ? {} : { signAs }),
  });
  return authorized(parts, `Bearer ${token}`);
}

/** The same parts with this `Authorization`. */
export function authorized(parts: Parts, authorization: string): Parts {
  const line: Line = ["Authorization", authorization];
  return { ...parts, headers: [...parts.headers.filter(([name]) => name !== "Authorization"), line] };
}

/** A JWT listener of the tenant over fixed keys, or over a resolver. */
export function jwtListener(
  id: string,
  keys: readonly TestKey[] | KeyResolver,
  setup: Omit<LocalListener, "listener"> & { allowEd25519?: boolean } = {},
): LocalListener {
  const { allowEd25519, ...rest } = setup;
  const resolver =
    "resolve" in keys ? keys : localKeys({ keys: keys.map(({ jwk }) => jwk as { kty: string }) });
  return {
    listener: { id, baseUrl: BASE_URL, auth: { method: "jwt", keys: resolver, allowEd25519 } },
    ...rest,
  };
}
