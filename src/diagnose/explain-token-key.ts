import { digestOf } from "#hash";
import { rawFromDer } from "../jwt/external-signature.js";
import { type Algorithm, importPublicKey, isAlgorithm } from "../jwt/key.js";
import { decodeBase64url } from "../primitives/base64url.js";
import { utf8 } from "../primitives/bytes.js";
import { shown } from "../protocol/check.js";
import type { KnownKeys, TokenParts } from "./explain-token.js";
import type { Finding, Mistake } from "./mistake.js";
import { TOKEN_MISTAKES as MISTAKES } from "./token-mistakes.js";

/** A public key to try, and what its set says of it. */
interface CandidateKey {
  readonly kid: unknown;
  readonly alg: Algorithm;
  readonly key: CryptoKey;
}

type Member = Readonly<Record<string, unknown>>;

const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** A key set has a handful of keys; more are not tried, to bound the work. */
const MAX_TRIED_KEYS = 12;

/** What is wrong about the token's key and signature; nothing where no key is known. */
export async function explainTokenKey(token: TokenParts, known: KnownKeys): Promise<Finding[]> {
  const members = keySetMembers(known.jwks);
  if (members === "malformed") return [{ mistake: MISTAKES.keySetMalformed }];
  if (members === undefined) return withResolver(token, known);
  const ofSet = members.some((key) => PRIVATE_MEMBERS.some((name) => Object.hasOwn(key, name)))
    ? [{ mistake: MISTAKES.keySetPrivate }]
    : [];
  const named = members.filter(({ kid }) => kid === token.header.kid);
  const others = members.filter(({ kid }) => kid !== token.header.kid);
  const findings: Finding[] = [...ofSet, ...explainNamedKey(named, token)];
  const candidates = await importAll([...named, ...others].slice(0, MAX_TRIED_KEYS));
  return [...findings, ...(await explainSignatureBytes(token, candidates, named.length > 0))];
}

async function withResolver(token: TokenParts, { resolver }: KnownKeys): Promise<Finding[]> {
  const { kid, alg } = token.header;
  if (resolver === undefined || typeof kid !== "string" || !isAlgorithm(alg)) return [];
  try {
    const resolved = await resolver.resolve(kid, alg);
    if (resolved.ok) return await explainSignatureBytes(token, [{ kid, alg, key: resolved.key }], true);
    const mistake = resolved.code === "KEY_NOT_FOUND" ? MISTAKES.kidUnknown : MISTAKES.keySetMalformed;
    return [{ mistake, detail: `Seen: ${resolved.detail}.` }];
  } catch {
    return []; // a resolver that somebody else wrote may throw anything
  }
}

function keySetMembers(jwks: unknown): readonly Member[] | "malformed" | undefined {
  if (jwks === undefined) return undefined;
  const keys = isMember(jwks) ? jwks.keys : undefined;
  return Array.isArray(keys) ? keys.filter(isMember) : "malformed";
}

function isMember(value: unknown): value is Member {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function explainNamedKey(named: readonly Member[], { header }: TokenParts): Finding[] {
  const [key] = named;
  if (key === undefined) return [];
  if (named.length > 1) return [{ mistake: MISTAKES.kidTwice }];
  const alg = algorithmOf(key);
  if (isAlgorithm(header.alg) && alg !== undefined && alg !== header.alg)
    return [
      { mistake: MISTAKES.algOfOtherKey, detail: `The token says ${header.alg}, the key is for ${alg}.` },
    ];
  return key.use === "sig" && key.alg === alg ? [] : [{ mistake: MISTAKES.keyMembers }];
}

function algorithmOf({ kty, crv }: Member): Algorithm | undefined {
  if (kty === "RSA") return "RS256";
  if (kty === "EC" && crv === "P-256") return "ES256";
  return kty === "OKP" && crv === "Ed25519" ? "EdDSA" : undefined;
}

async function importAll(members: readonly Member[]): Promise<CandidateKey[]> {
  const imported = members.map(async (member) => {
    const alg = algorithmOf(member);
    if (alg === undefined) return [];
    const { kid, kty, n, e, crv, x, y } = member;
    try {
      const jwk = { kty, n, e, crv, x, y } as Parameters<typeof importPublicKey>[0];
      return [{ kid, alg, key: await importPublicKey(jwk, alg) }];
    } catch {
      return []; // a key that cannot be used made no signature
    }
  });
  return (await Promise.all(imported)).flat();
}

async function explainSignatureBytes(
  token: TokenParts,
  candidates: readonly CandidateKey[],
  isNamed: boolean,
): Promise<Finding[]> {
  const { header, signature, signingInput } = token;
  const input = utf8(signingInput);
  const prehashed = decodeBase64url(digestOf("sha256", [input])) ?? input;
  const raw = rawFromDer(signature);
  const attempts: readonly (readonly [
    bytes: Uint8Array,
    message: Uint8Array,
    mistakes: readonly Mistake[],
  ])[] = [
    [signature, input, []],
    [raw, input, [MISTAKES.der]],
    [signature, prehashed, [MISTAKES.prehashed]],
    [raw, prehashed, [MISTAKES.der, MISTAKES.prehashed]],
  ];
  for (const [bytes, message, mistakes] of attempts) {
    if (bytes.length === 0) continue;
    for (const { kid, alg, key } of candidates) {
      if (!(await isSignedBy(key, alg, bytes, message))) continue;
      const findings = mistakes.map((mistake): Finding => ({ mistake }));
      if (kid === header.kid) return findings;
      const detail = `The key ${shown(kid)} made it.`;
      return [{ mistake: MISTAKES.kidOfOtherKey, detail }, ...findings];
    }
  }
  if (raw.length > 0 && header.alg === "ES256")
    return [{ mistake: MISTAKES.der }, { mistake: MISTAKES.signature }];
  return [{ mistake: isNamed ? MISTAKES.signature : MISTAKES.kidUnknown }];
}

const VERIFYING: Readonly<Record<Algorithm, { name: string; hash?: string }>> = {
  RS256: { name: "RSASSA-PKCS1-v1_5" },
  ES256: { name: "ECDSA", hash: "SHA-256" },
  EdDSA: { name: "Ed25519" },
};

async function isSignedBy(
  key: CryptoKey,
  alg: Algorithm,
  signature: Uint8Array,
  message: Uint8Array,
): Promise<boolean> {
  try {
    return await crypto.subtle.verify(VERIFYING[alg], key, signature.slice(), message.slice());
  } catch {
    return false;
  }
}
