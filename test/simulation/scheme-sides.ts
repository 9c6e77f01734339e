// What differs between listeners of the four schemes: who signs, what verifies, where the event's id and bytes stand in
// a request. The access governance listeners keep the reference receiver; the others have the library's own.
import { createPrivateKey, KeyObject, sign, verify } from "node:crypto";
import type { Signer } from "hookproof";
import { hmacSigner, type SigningKey } from "hookproof";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { type KeyResolver, localKeys } from "hookproof/jwks";
import type { Verifier } from "hookproof/schemes";
import { securityEventSigner, securityEventVerifier } from "hookproof/set";
import { standardWebhooksSigner, standardWebhooksVerifier } from "hookproof/standard-webhooks";
import { activeTime } from "./virtual-time.js";

export const SCHEMES = [
  "access-governance",
  "standard-webhooks",
  "security-event-token",
  "http-signature",
] as const;
export type SchemeName = (typeof SCHEMES)[number];

/** The secrets of every listener: the first one, and the one it is switched to. */
export const SECRETS = [
  "WzEsMiwzLDQsNSw2LDcsOCw5LDEwLDExLDEyLDEzXSE",
  "WzEzLDEyLDExLDEwLDksOCw3LDYsNSw0LDMsMiwxXSE",
] as const;

export const urlOf = (listener: string) => `https://receiver.example/api/v1/webhooks/incoming/${listener}`;

/** The two secrets or keys of a rotation, of which the receiver knows one at a time, or both keys if the sender has both. */
export interface Rotation {
  /** Whether there is one at all. */
  readonly isOn: boolean;
  readonly hasBoth: boolean;
  /** Which one a process takes at the moment. */
  now(): 0 | 1;
}

type Headers = readonly (readonly [string, string])[];

/** What somebody on the wire, who knows the scheme, reads in a request. */
interface Seen {
  readonly id: string;
  /** The bytes of the event. */
  readonly event: Uint8Array;
  /** The proof, where it is one for all attempts: bytes that are compared where the key is the same. */
  readonly proof?: { readonly key: string; readonly claims: string; readonly all: string };
}

/** A listener's scheme. */
export interface SchemeSide {
  signer(rotation: Rotation): Signer;
  /** What the receiver verifies with; none for a listener of the reference receiver. */
  verifier?(listener: string, rotation: Rotation): Verifier;
  seen(headers: Headers, body: Uint8Array): Seen;
  /** The payload of an event that says this. */
  payload(said: object): object;
  /** How a receiver refuses an event for good, where the scheme has a word for that. */
  readonly refusal?: { readonly status: number; readonly body?: string };
  /** Whether 410 says that the receiver wants nothing more. */
  readonly stops?: boolean;
  /** Whether an answer says that the event was taken, now or before. */
  isAccepted(status: number): boolean;
}

const headerOf = (headers: Headers, wanted: string) =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? "";

const byHeader = (name: string) => (headers: Headers, body: Uint8Array) => ({
  id: headerOf(headers, name),
  event: body,
});

const isAccepted = (status: number) => status === 200 || status === 409;
const unchanged = (said: object) => said;

const WHSEC = SECRETS.map((text) => `whsec_${Buffer.from(text).toString("base64")}`);

/** Two Ed25519 keys, the same in each run: a signature of theirs is the same each time. */
const KEYS = [1, 2].map((n) => {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, n)]);
  const jwk = createPrivateKey({ key: der, format: "der", type: "pkcs8" }).export({ format: "jwk" });
  return { ...jwk, kid: `key-${n}`, alg: "EdDSA", use: "sig" };
});
const publicOf = ({ d: _d, ...jwk }: (typeof KEYS)[number]) => jwk;
const KNOWN = [[KEYS[0]], [KEYS[1]], KEYS].map((some) =>
  localKeys({ keys: some.flatMap((one) => (one ? [publicOf(one)] : [])) }),
);
const signingKeys: SigningKey[] = [];
const keyNow =
  ({ now }: Rotation) =>
  () =>
    signingKeys[now()] as SigningKey;
const knownKeys = ({ hasBoth, now }: Rotation) => KNOWN[hasBoth ? 2 : now()] as KeyResolver;

const ISSUER = "https://sender.example/";
const AUDIENCE = "https://receiver.example/";
const HAPPENED = "https://schemas.example/event-type/happened";

export const SIDES: Readonly<Record<SchemeName, SchemeSide>> = {
  "access-governance": {
    signer: ({ isOn, hasBoth, now }) =>
      hmacSigner({ secret: isOn ? (hasBoth ? [...SECRETS].reverse() : () => [SECRETS[now()]]) : SECRETS[0] }),
    seen: byHeader("webhook-event-id"),
    payload: unchanged,
    refusal: { status: 422 },
    isAccepted,
    stops: true, // by stopping-scheme.ts
  },
  "standard-webhooks": {
    signer: ({ hasBoth, now }) =>
      standardWebhooksSigner({ secrets: hasBoth ? [...WHSEC].reverse() : () => WHSEC[now()] as string }),
    verifier: (_listener, { now }) => standardWebhooksVerifier({ secrets: WHSEC[now()] as string }),
    seen: byHeader("webhook-id"),
    payload: unchanged,
    stops: true,
    isAccepted: (status) => status === 200,
  },
  "security-event-token": {
    signer: (rotation) => securityEventSigner({ issuer: ISSUER, audience: AUDIENCE, key: keyNow(rotation) }),
    verifier: (_listener, rotation) =>
      securityEventVerifier({ issuer: ISSUER, audience: AUDIENCE, keys: knownKeys(rotation) }),
    seen(_headers, body) {
      const all = Buffer.from(body).toString("latin1");
      const [key = "", claims = ""] = all.split(".");
      const {
        iss: _iss,
        iat: _iat,
        aud: _aud,
        jti,
        ...event
      } = JSON.parse(Buffer.from(claims, "base64url").toString("utf8"));
      return { id: jti, event: Buffer.from(JSON.stringify(event)), proof: { key, claims, all } };
    },
    payload: (said) => ({ events: { [HAPPENED]: said } }),
    refusal: { status: 400, body: '{"err":"invalid_request","description":"no event of ours"}' },
    isAccepted: (status) => status === 202,
  },
  "http-signature": {
    signer: (rotation) => httpSignatureSigner({ key: keyNow(rotation) }),
    verifier: (listener, rotation) =>
      httpSignatureVerifier({ url: urlOf(listener), keys: knownKeys(rotation) }),
    seen: byHeader("webhook-event-id"),
    payload: unchanged,
    refusal: { status: 422 },
    isAccepted,
  },
};

/**
 * In a simulated world signatures by keys are made and checked at once, by node:crypto: what runs on the thread pool has
 * no fixed order. The keys are imported before the first world.
 */
export async function prepareSchemes(): Promise<void> {
  if (isPrepared) return;
  isPrepared = true;
  const { subtle } = globalThis.crypto;
  const real = { sign: subtle.sign.bind(subtle), verify: subtle.verify.bind(subtle) };
  Object.defineProperties(subtle, {
    sign: {
      value: async (how: never, key: CryptoKey, bytes: Uint8Array) =>
        activeTime()
          ? new Uint8Array(sign(null, bytes, KeyObject.from(key))).buffer
          : real.sign(how, key, bytes as never),
    },
    verify: {
      value: async (how: never, key: CryptoKey, signature: Uint8Array, bytes: Uint8Array) =>
        activeTime()
          ? verify(null, bytes, KeyObject.from(key), signature)
          : real.verify(how, key, signature as never, bytes as never),
    },
  });
  for (const jwk of KEYS) {
    const key = await subtle.importKey("jwk", jwk as JsonWebKey, "Ed25519", false, ["sign"]);
    signingKeys.push({ key, kid: jwk.kid, alg: "EdDSA" });
    for (const known of KNOWN) await known.resolve(jwk.kid, "EdDSA");
  }
}
let isPrepared = false;
