// Finds what is wrong with a token.
import { digestOf } from "#hash";
import { decodeBase64url, isBase64url, utf8 } from "../../core/bytes.js";
import { MAX_TOKEN_LENGTH } from "../../core/protocol.js";
import { countOf, shown } from "../../core/shown.js";
import { otherShapeOf } from "../../jwks/key-set-shape.js";
import { ALGORITHM_FACTS, type Algorithm, algorithmOf, isAlgorithm } from "../../jwt/algorithms.js";
import { importPublicKey } from "../../jwt/key.js";
import { rawFromDer } from "../../jwt/sign-token.js";
import { parseMembers } from "../../jwt/token.js";
import { hasSigned, type KeyResolver } from "../../jwt/verify.js";
import { type Mistake, withDetail } from "../rows/mistake.js";
import { mistakesFound } from "../rows/run.js";
import { decodeAnyBase64 } from "../texts/rewrite.js";
import { isRemovedSignature, otherToken, readAuthorization } from "./headers.js";
import {
  CLAIM_MISTAKES,
  type ClaimName,
  claimMistake,
  type ExpectedUrls,
  ofClaim,
  URL_DIFFERENCES,
  URL_MISTAKES,
} from "./mistakes/claim.js";
import { EXPIRY_MISTAKES, expiryOf, NOT_BEFORE } from "./mistakes/expiry.js";
import { KEY_SET_SHAPES, KID_MISTAKES } from "./mistakes/key-set.js";
import { TOKEN_MISTAKES as MISTAKES } from "./mistakes/token.js";
import { mistakesInBodyHash } from "./signature.js";

/** The keys that the caller knows. */
export interface KnownKeys {
  /** The document of a key set, as it is served. */
  readonly jwks: unknown;
  readonly resolver: KeyResolver | undefined;
}

/** A token, decoded. */
interface TokenParts {
  readonly header: Readonly<Record<string, unknown>>;
  /** The text that is signed. */
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

/** What is wrong with a token: Authorization, its form, header, key and signature, and every claim. */
export async function mistakesInToken(
  authorization: string,
  expected: ExpectedClaims,
  keys: KnownKeys,
): Promise<Mistake[]> {
  const { token, mistakes, isNothing } = readAuthorization(authorization);
  if (isNothing) return mistakes;
  const segments = token.split(".");
  if (segments.length !== 3 || token.length > MAX_TOKEN_LENGTH)
    return [...mistakes, withDetail(MISTAKES.malformed, lengthOf(token, segments.length))];
  const [header, claims, signature] = segments.map(decodeAnyBase64);
  const members = header && parseMembers(header);
  if (members === undefined || typeof members === "string" || !claims || !signature)
    return [...mistakes, MISTAKES.malformed];
  const [, , lastSegment = ""] = segments;
  const isRemoved = isRemovedSignature(lastSegment);
  if (isRemoved) mistakes.push(MISTAKES.signatureRemoved);
  else if (!segments.every(isBase64url)) mistakes.push(MISTAKES.padded);

  const [headerText = "", claimsText = ""] = segments;
  const parts = { header: members, signingInput: `${headerText}.${claimsText}`, signature };
  const claimMembers = parseMembers(claims);
  const other = typeof claimMembers === "string" ? undefined : otherToken(members, claimMembers);
  // Of somebody else's token, key and claims are somebody else's too.
  if (other === MISTAKES.ofOtherSystem) return [...mistakes, other];
  return [
    ...mistakes,
    ...(other === undefined ? [] : [other]),
    ...mistakesInTokenHeader(members),
    ...(isRemoved ? [] : await mistakesInKey(parts, keys)),
    ...(typeof claimMembers === "string"
      ? [withDetail(MISTAKES.claimsMalformed, `There is ${claimMembers}.`)]
      : asReused(mistakesInClaims(claimMembers, expected))),
  ];
}

/** Both that are bound to one event are of another one: the token itself is of another event. */
function asReused(found: Mistake[]): Mistake[] {
  const ofOther: readonly Mistake[] = [CLAIM_MISTAKES.jtiOther, CLAIM_MISTAKES.htbUnexplained];
  if (!ofOther.every(({ id }) => found.some((one) => one.id === id))) return found;
  return [MISTAKES.reused, ...found.filter(({ id }) => !ofOther.some((one) => one.id === id))];
}

function lengthOf(token: string, segments: number): string {
  if (token.length > MAX_TOKEN_LENGTH)
    return `It has ${countOf(token.length, "character")}; ${MAX_TOKEN_LENGTH} are the most.`;
  return `It has ${segments} part${segments === 1 ? "" : "s"}${segments === 5 ? ", as encrypted tokens have" : ""}.`;
}

const REFUSED_MEMBERS = ["crit", "b64", "jwk", "jku", "x5u", "x5c"];

function mistakesInTokenHeader(header: Readonly<Record<string, unknown>>): Mistake[] {
  const mistakes: Mistake[] = [];
  const { alg, kid } = header;
  if (typeof alg === "string" && /^HS[0-9]+$/i.test(alg)) mistakes.push(MISTAKES.algHmac);
  else if (typeof alg === "string" && alg.toLowerCase() === "none") mistakes.push(MISTAKES.algNone);
  else if (!isAlgorithm(alg)) mistakes.push(MISTAKES.alg);
  if (typeof kid === "number") mistakes.push(KID_MISTAKES.otherType);
  else if (typeof kid !== "string" || kid === "") mistakes.push(MISTAKES.kidMissing);
  if (REFUSED_MEMBERS.some((name) => Object.hasOwn(header, name))) mistakes.push(MISTAKES.headerMember);
  return mistakes;
}

/** A public key that may have made the signature. */
interface CandidateKey {
  readonly kid: unknown;
  readonly alg: Algorithm;
  readonly key: CryptoKey;
}

type Member = Readonly<Record<string, unknown>>;

const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** A key set has a handful of keys; more are not tried. */
const MAX_TRIED_KEYS = 12;

/** What is wrong with the token's key and signature; nothing where no key is known. */
async function mistakesInKey(token: TokenParts, known: KnownKeys): Promise<Mistake[]> {
  const members = keySetMembers(known.jwks);
  if (members === "malformed") return [notAKeySet(known.jwks)];
  if (members === undefined) return withResolver(token, known);
  const ofSet = members.some((key) => PRIVATE_MEMBERS.some((name) => Object.hasOwn(key, name)))
    ? [MISTAKES.keySetPrivate]
    : [];
  const named = members.filter(({ kid }) => kid === token.header.kid);
  const others = members.filter(({ kid }) => kid !== token.header.kid);
  const mistakes = [...ofSet, ...mistakesInNamedKey(named, token)];
  const candidates = await importAll([...named, ...others].slice(0, MAX_TRIED_KEYS));
  return [...mistakes, ...(await mistakesInTokenSignature(token, candidates, named.length > 0))];
}

async function withResolver(token: TokenParts, { resolver }: KnownKeys): Promise<Mistake[]> {
  const { kid, alg } = token.header;
  if (resolver === undefined || typeof kid !== "string" || !isAlgorithm(alg)) return [];
  try {
    const resolved = await resolver.resolve(kid, alg);
    if (resolved.ok) return await mistakesInTokenSignature(token, [{ kid, alg, key: resolved.key }], true);
    // What could not be read is no mistake of the sender's, and the verdict says that it was not.
    return resolved.code === "KEY_SET_UNAVAILABLE" ? [] : [mistakeOfRefusal(resolved.code, resolved.detail)];
  } catch {
    return []; // the caller's resolver may throw anything
  }
}

/** A resolver's refusal as a mistake: it says no more than the resolver did. */
function mistakeOfRefusal(code: "KEY_NOT_FOUND" | "KEY_SET_INVALID", detail: string): Mistake {
  if (code === "KEY_SET_INVALID")
    return { ...MISTAKES.keySetMalformed, message: `The key set is refused: ${detail}.` };
  if (/^kid .* occurs [0-9]+ times$/s.test(detail)) return withDetail(MISTAKES.kidTwice, `Seen: ${detail}.`);
  if (/^kid .* has (?:use|alg|key_ops) /s.test(detail))
    return withDetail(MISTAKES.keyMembers, `Seen: ${detail}.`);
  return { ...MISTAKES.kidUnknown, message: `The key set has no key for the token's kid: ${detail}.` };
}

function keySetMembers(jwks: unknown): readonly Member[] | "malformed" | undefined {
  if (jwks === undefined) return undefined;
  const keys = isMember(jwks) ? jwks.keys : undefined;
  return Array.isArray(keys) ? keys.filter(isMember) : "malformed";
}

function notAKeySet(document: unknown): Mistake {
  const shape = otherShapeOf(document) ?? "other";
  return shape === "other" ? MISTAKES.keySetMalformed : KEY_SET_SHAPES[shape];
}

function isMember(value: unknown): value is Member {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mistakesInNamedKey(named: readonly Member[], { header }: TokenParts): Mistake[] {
  const [key] = named;
  if (key === undefined) return [];
  if (named.length > 1) return [MISTAKES.kidTwice];
  const alg = algorithmOf(key);
  if (isAlgorithm(header.alg) && alg !== undefined && alg !== header.alg)
    return [withDetail(MISTAKES.algOfOtherKey, `The token says ${header.alg}, the key is for ${alg}.`)];
  return mistakesInMembers(key, alg);
}

/** What the key says of itself, which is all that a listener goes by. */
function mistakesInMembers(key: Member, alg: Algorithm | undefined): Mistake[] {
  const { use, alg: said, key_ops } = key;
  const canVerify = key_ops === undefined || (Array.isArray(key_ops) && key_ops.includes("verify"));
  if (use === "sig" && said === alg && canVerify) return [];
  const names = { use, alg: said, ...(canVerify ? {} : { key_ops }) };
  const seen = Object.entries(names).map(
    ([name, value]) => `${name} ${value === undefined ? "missing" : shown(value)}`,
  );
  return [withDetail(MISTAKES.keyMembers, `Seen: ${seen.join(", ")}.`)];
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

async function mistakesInTokenSignature(
  token: TokenParts,
  candidates: readonly CandidateKey[],
  isNamed: boolean,
): Promise<Mistake[]> {
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
      if (!(await hasSigned(key, alg, bytes.slice(), message.slice()))) continue;
      if (kid === header.kid) return [...mistakes];
      const mistake = kidMistake(header.kid, kid);
      // Of a number in the token the header's check has said so.
      if (mistake === KID_MISTAKES.otherType && typeof header.kid === "number") return [...mistakes];
      // A key without a kid has no name to be told.
      if (mistake === KID_MISTAKES.missingInSet) return [mistake, ...mistakes];
      return [withDetail(mistake, `The key ${shown(kid)} made it.`), ...mistakes];
    }
  }
  if (raw.length > 0 && isAlgorithm(header.alg) && ALGORITHM_FACTS[header.alg].isOftenDer)
    return [MISTAKES.der, MISTAKES.signature];
  return [isNamed ? MISTAKES.signature : MISTAKES.kidUnknown];
}

/** Why the key that made the signature is not found by the token's kid. */
function kidMistake(ofToken: unknown, ofKey: unknown): Mistake {
  if (ofKey === undefined || ofKey === null || ofKey === "") return KID_MISTAKES.missingInSet;
  if (plainKid(ofToken) !== plainKid(ofKey)) return MISTAKES.kidOfOtherKey;
  return typeof ofToken === typeof ofKey ? KID_MISTAKES.otherCase : KID_MISTAKES.otherType;
}

function plainKid(kid: unknown): string {
  // An object may have a member toString, which is no function.
  return typeof kid === "object" ? "" : String(kid).trim().toLowerCase();
}

/** The right values of a token's claims, as far as the caller knows them. */
interface ExpectedClaims {
  readonly baseUrl: string | undefined;
  readonly url: string | undefined;
  readonly eventId: string;
  /** The text of Webhook-Timestamp. */
  readonly timestamp: string;
  readonly body: Uint8Array;
  readonly nowSeconds: number;
}

type Claims = Readonly<Record<string, unknown>>;

/** What is wrong with the claims: all of it, not only the first mistake. */
function mistakesInClaims(claims: Claims, expected: ExpectedClaims): Mistake[] {
  const { baseUrl, url, eventId } = expected;
  return [
    ...mistakesInText(claims, "sub", baseUrl, (seen) => [
      urlMistake("sub", seen, { url: baseUrl ?? "", counterpart: url ?? "" }),
    ]),
    ...mistakesInAudience(claims, expected),
    ...mistakesInText(claims, "jti", eventId, (seen) => mistakesInEventId(seen, eventId)),
    ...mistakesInText(claims, "htm", "POST", (seen) => [
      seen.toUpperCase() === "POST" ? CLAIM_MISTAKES.htmCase : claimMistake("htm", "other"),
    ]),
    ...mistakesInText(claims, "htb_s256", undefined, (seen) => mistakesInBodyHash(seen, expected)),
    ...mistakesInExpiry(claims, expected),
    ...mistakesFound([NOT_BEFORE], { nbf: claims.nbf, nowSeconds: expected.nowSeconds }),
  ];
}

/** What is wrong with a claim that must be one text. `mistakesIn` looks at a text that is not the wanted one. */
function mistakesInText(
  claims: Claims,
  claim: ClaimName,
  wanted: string | undefined,
  mistakesIn: (seen: string) => Mistake[],
): Mistake[] {
  const seen = claims[claim];
  if (seen === undefined || seen === null) return [missing(claims, claim, wanted)];
  if (typeof seen !== "string")
    return [withDetail(claimMistake(claim, "otherType"), `It is ${shown(seen)}.`)];
  // The body's hash is known only by computing it.
  if (claim === "htb_s256") return mistakesIn(seen);
  return wanted === undefined || seen === wanted ? [] : mistakesIn(seen);
}

function missing(claims: Claims, claim: ClaimName, wanted: string | undefined): Mistake {
  const other =
    wanted === undefined ? undefined : Object.keys(claims).find((name) => claims[name] === wanted);
  return other === undefined
    ? claimMistake(claim, "missing")
    : withDetail(claimMistake(claim, "misnamed"), `The claim ${shown(other)} holds it.`);
}

function mistakesInAudience(claims: Claims, { url, baseUrl }: ExpectedClaims): Mistake[] {
  const { aud } = claims;
  const mistakesIn = (seen: string) => [
    urlMistake("aud", seen, { url: url ?? "", counterpart: baseUrl ?? "" }),
  ];
  if (!Array.isArray(aud)) return mistakesInText(claims, "aud", url, mistakesIn);
  const inside =
    aud.length === 1 && typeof aud[0] === "string"
      ? mistakesInText({ aud: aud[0] }, "aud", url, mistakesIn)
      : [];
  return [CLAIM_MISTAKES.audList, ...inside];
}

function urlMistake(claim: "sub" | "aud", seen: string, wanted: ExpectedUrls): Mistake {
  const found =
    URL_MISTAKES.find(({ ways }) => ways.some(([, rewrite]) => rewrite(wanted) === seen)) ??
    URL_DIFFERENCES.find(({ differs }) => differs(seen, wanted.url));
  return withDetail(
    found ? ofClaim(claim, found) : claimMistake(claim, "other"),
    `It is ${shown(seen)}, and must be ${shown(wanted.url, 200)}.`,
  );
}

function mistakesInEventId(seen: string, eventId: string): Mistake[] {
  // The service compares ids without case (docs/decisions.md, R10).
  const [left, right] = [seen.toLowerCase(), eventId.toLowerCase()];
  if (left === right || eventId === "") return [];
  const digits = (id: string) => id.replace(/^urn:uuid:/, "").replace(/[^0-9a-f]/g, "");
  return [digits(left) === digits(right) ? CLAIM_MISTAKES.jtiSpelling : CLAIM_MISTAKES.jtiOther];
}

function mistakesInExpiry(claims: Claims, { nowSeconds, timestamp }: ExpectedClaims): readonly Mistake[] {
  const { exp } = claims;
  if (exp === undefined || exp === null) return [claimMistake("exp", "missing")];
  if (typeof exp !== "number" && typeof exp !== "string") return [claimMistake("exp", "otherType")];
  return mistakesFound(EXPIRY_MISTAKES, expiryOf(exp, timestamp, nowSeconds));
}
