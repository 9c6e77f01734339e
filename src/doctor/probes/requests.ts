// Builds the right and wrong requests of probes.
import { hmacSha256 } from "#hash";
import {
  bodyBytes,
  concatBytes,
  decodeBase64url,
  encodeBase64url,
  URL_SAFE,
  utf8,
} from "../../core/bytes.js";
import { AUTHORIZATION_HEADER, CONTENT_TYPE_HEADER, type HeaderPair } from "../../core/headers.js";
import { DEFAULT_TOKEN_LIFETIME_SECONDS } from "../../core/protocol.js";
import { ALGORITHM_FACTS, type Algorithm } from "../../jwt/algorithms.js";
import { type ExternalSigner, importPrivateKey, type SigningKey } from "../../jwt/key.js";
import { externalSignature } from "../../jwt/sign-token.js";
import { claimsFor } from "../../schemes/access-governance/claims.js";
import {
  EVENT_ID_HEADER,
  SIGNATURE_HEADER,
  signingHead,
  TIMESTAMP_HEADER,
} from "../../schemes/access-governance/protocol.js";
import { checkSecret, generateSecret } from "../../schemes/access-governance/secret.js";

/** A raw request, with its header lines exactly as they are to be sent. */
export interface ProbeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body?: Uint8Array;
}

/** What a signature or a token is made over. */
interface RequestParts {
  readonly url: string;
  readonly timestamp: string;
  readonly eventId: string;
  readonly body: string | Uint8Array;
}

/** Where and when a probe is sent. */
export interface RequestFacts {
  readonly url: string;
  readonly baseUrl: string;
  readonly nowSeconds: number;
  /** A new id for every request, in lower case. */
  readonly eventId: string;
}

/** What every probe can build its request with, whatever the listener's method. */
export interface RequestKit extends RequestFacts {
  /** A correct request, signed after `parts` have replaced its own. */
  signed(parts?: Partial<RequestParts>): Promise<ProbeRequest>;
  /** The same, but signed with a secret or key that the listener does not know. */
  signedWithWrongKey(parts?: Partial<RequestParts>): Promise<ProbeRequest>;
  /** The header of the method that the listener does not use. */
  otherMethod(): HeaderPair;
}

/** The body of a probe that is not about bodies. It shows in the listener's log that it is a probe. */
/** What a probe sends. */
export const BODY = '{"type":"hookproof.probe"}';

/** The parts of a correct request; `over` replaces some of them. */
export function partsOf(
  { url, nowSeconds, eventId }: RequestFacts,
  over: Partial<RequestParts> = {},
): RequestParts {
  return { url, timestamp: String(nowSeconds), eventId, body: BODY, ...over };
}

/** A request of these parts, with the signature or token as its last header. */
export function requestOf(
  { url, timestamp, eventId, body }: RequestParts,
  ...proof: HeaderPair[]
): ProbeRequest {
  const headers: HeaderPair[] = [
    [CONTENT_TYPE_HEADER, "application/json"],
    [TIMESTAMP_HEADER, timestamp],
    [EVENT_ID_HEADER, eventId],
    ...proof,
  ];
  return { method: "POST", url, headers, body: bodyBytes(body) };
}

/** The request without a header. */
export function without(request: ProbeRequest, name: string): ProbeRequest {
  return { ...request, headers: request.headers.filter(([key]) => key !== name) };
}

/** The request with another value of a header. */
export function replaced(request: ProbeRequest, name: string, value: string): ProbeRequest {
  return { ...request, headers: request.headers.map(([key, old]) => [key, key === name ? value : old]) };
}

/** The request with one more header line. */
export function added(request: ProbeRequest, name: string, value: string): ProbeRequest {
  return { ...request, headers: [...request.headers, [name, value]] };
}

/** Base64url with an unused bit of its last character set: another text for the same bytes. */
export function withTrailingBit(text: string): string {
  return text.slice(0, -1) + URL_SAFE.charAt(URL_SAFE.indexOf(text.at(-1) ?? "") | 1);
}

/** Base64url turned into hexadecimal. */
export function hexOf(text: string): string {
  return Array.from(decodeBase64url(text) ?? [], (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Base64url with padding. */
export function padded(text: string): string {
  return text + "=".repeat((4 - (text.length % 4)) % 4);
}

/** Writes the part of the signing input in front of the body. */
export type SigningHead = (timestamp: string, eventId: string) => string;

/** What a probe of an HMAC listener builds its request with. */
export interface HmacKit extends RequestKit {
  readonly secret: string;
  /** A signature over the parts. Another `key` or `head` makes a wrong one. */
  signature(over?: Partial<RequestParts>, key?: string | Uint8Array, head?: SigningHead): string;
  /** A request with any text as its signature. */
  withSignature(signature: string, over?: Partial<RequestParts>): ProbeRequest;
}

/** A correct signature that has a character in which base64 and base64url differ. */
export function telltaleSignature(kit: HmacKit): { body: string; signature: string } {
  for (let n = 0; ; n++) {
    const body = `{"type":"hookproof.probe","n":${n}}`;
    const signature = kit.signature({ body });
    if (/[-_]/.test(signature)) return { body, signature };
  }
}

/** A token of the right form, for listeners that do not accept tokens. */
const SOME_TOKEN = "Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ.e30.AAAA";

/** Makes the kits for an HMAC listener. */
export function hmacKits(secret: string): (facts: RequestFacts) => HmacKit {
  checkSecret(secret);
  return (facts) => {
    const kit: HmacKit = {
      ...facts,
      secret,
      signature(over, key = secret, head = signingHead) {
        const { timestamp, eventId, body } = partsOf(facts, over);
        return hmacSha256(key)(head(timestamp, eventId), body);
      },
      withSignature: (signature, over) => requestOf(partsOf(facts, over), [SIGNATURE_HEADER, signature]),
      signed: async (over) => kit.withSignature(kit.signature(over), over),
      signedWithWrongKey: async (over) => kit.withSignature(kit.signature(over, generateSecret()), over),
      otherMethod: () => [AUTHORIZATION_HEADER, SOME_TOKEN],
    };
    return kit;
  };
}

/** In what a token differs from a correct one. */
export interface TokenChanges {
  /** Members that replace those of the header (`undefined` removes one), or the whole header as raw JSON. */
  readonly header?: Readonly<Record<string, unknown>> | string;
  /** The same for the claims. */
  readonly claims?: Readonly<Record<string, unknown>> | string;
  /** Makes the signature in place of the listener's key. */
  readonly sign?: SignBytes;
  /** Changes the text of header and claims before they are signed. */
  readonly spell?: (segment: string) => string;
}

/** What a probe of a JWT listener builds its request with. */
export interface TokenKit extends RequestKit {
  readonly alg: Algorithm;
  readonly kid: string;
  /** A token for the parts, in compact form. */
  token(changes?: TokenChanges, over?: Partial<RequestParts>): Promise<string>;
  /** A request with a token that differs from a correct one. */
  withToken(changes: TokenChanges, over?: Partial<RequestParts>): Promise<ProbeRequest>;
  /** A request with any text as its `Authorization`. */
  withAuthorization(value: string, over?: Partial<RequestParts>): ProbeRequest;
  /** The listener's public key; `undefined` if the private key does not give it. */
  publicJwk(): Promise<PublicJwk | undefined>;
  /** A key that the listener does not know, the same one for each call with an algorithm. */
  unknownKey(alg: Algorithm): Promise<TokenKey>;
}

/** Makes the kits for a JWT listener. */
export async function tokenKits(key: SigningKey): Promise<(facts: RequestFacts) => TokenKit> {
  const { alg, kid } = key;
  const own = await tokenKey(key);
  const unknownKey = oncePerAlgorithm(newKey);
  return (facts) => {
    const kit: TokenKit = {
      ...facts,
      alg,
      kid,
      publicJwk: own.publicJwk,
      unknownKey,
      async token({ header, claims, sign = own.sign, spell = (text: string) => text } = {}, over) {
        const parts = partsOf(facts, over);
        const body = bodyBytes(parts.body);
        const exp = facts.nowSeconds + DEFAULT_TOKEN_LIFETIME_SECONDS;
        const correct = claimsFor({ ...parts, body, baseUrl: facts.baseUrl, exp });
        const input = [changed({ alg, kid, typ: "JWT" }, header), changed({ ...correct }, claims)]
          .map((json) => spell(encodeBase64url(utf8(json))))
          .join(".");
        return `${input}.${encodeBase64url(await sign(utf8(input)))}`;
      },
      withAuthorization: (value, over) => requestOf(partsOf(facts, over), [AUTHORIZATION_HEADER, value]),
      async withToken(changes, over) {
        return kit.withAuthorization(`Bearer ${await kit.token(changes, over)}`, over);
      },
      signed: (over) => kit.withToken({}, over),
      signedWithWrongKey: async (over) => kit.withToken({ sign: (await unknownKey(alg)).sign }, over),
      otherMethod: () => [SIGNATURE_HEADER, generateSecret()],
    };
    return kit;
  };
}

function changed(members: object, changes: TokenChanges["claims"]): string {
  return typeof changes === "string" ? changes : JSON.stringify({ ...members, ...changes });
}

function oncePerAlgorithm(make: (alg: Algorithm) => Promise<TokenKey>): typeof make {
  const made = new Map<Algorithm, Promise<TokenKey>>();
  return (alg) => {
    const key = made.get(alg) ?? make(alg);
    made.set(alg, key);
    return key;
  };
}

/** Signs the first two segments of a token. */
export type SignBytes = (bytes: Uint8Array & { readonly buffer: ArrayBuffer }) => Promise<Uint8Array>;

/** The public members of all kinds of keys. */
const PUBLIC_MEMBERS = ["kty", "crv", "x", "y", "n", "e"] as const;

/** A public key as in a key set, without kid, alg and use. */
type PublicJwk = Partial<Record<(typeof PUBLIC_MEMBERS)[number], string>>;

/** A key that signs tokens, correct and wrong ones. */
interface TokenKey {
  readonly sign: SignBytes;
  /** The public half; `undefined` if the private key does not give it. */
  publicJwk(): Promise<PublicJwk | undefined>;
}

async function tokenKey({ key, alg }: SigningKey): Promise<TokenKey> {
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

async function newKey(alg: Algorithm): Promise<TokenKey> {
  const { keyParameters } = ALGORITHM_FACTS[alg];
  const { privateKey, publicKey } = (await crypto.subtle.generateKey(keyParameters, true, [
    "sign",
    "verify",
  ])) as CryptoKeyPair;
  return {
    sign: signWith(privateKey, alg),
    publicJwk: async () => publicOf(await crypto.subtle.exportKey("jwk", publicKey)),
  };
}

/** The public key in PEM, which careless libraries take for an HMAC secret. */
export async function pemOf(jwk: PublicJwk, alg: Algorithm): Promise<string> {
  const key = await crypto.subtle.importKey("jwk", jwk, ALGORITHM_FACTS[alg].keyParameters, true, ["verify"]);
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", key));
  const lines = btoa(String.fromCharCode(...spki)).match(/.{1,64}/g) ?? [];
  return `-----BEGIN PUBLIC KEY-----\n${lines.join("\n")}\n-----END PUBLIC KEY-----\n`;
}

function signWith(key: CryptoKey, alg: Algorithm): SignBytes {
  const { signatureParameters } = ALGORITHM_FACTS[alg];
  return async (bytes) => new Uint8Array(await crypto.subtle.sign(signatureParameters, key, bytes));
}

/** The DER of an ECDSA signature of 64 bytes, `r || s`. */
export function derFromRaw(raw: Uint8Array): Uint8Array {
  const integers = [raw.subarray(0, 32), raw.subarray(32)].map((half) => {
    const first = half.findIndex((byte) => byte !== 0);
    const digits = half.subarray(first < 0 ? half.length - 1 : first);
    const sign = (digits[0] ?? 0) > 127 ? [0] : [];
    return concatBytes([Uint8Array.of(0x02, digits.length + sign.length, ...sign), digits]);
  });
  const content = concatBytes(integers);
  return concatBytes([Uint8Array.of(0x30, content.length), content]);
}

function publicOf(jwk: object): PublicJwk {
  return Object.fromEntries(
    Object.entries(jwk).filter(([name]) => PUBLIC_MEMBERS.some((one) => one === name)),
  );
}
