// Finds what is wrong with a token.
import { decodeUtf8, encodeBase64, encodeBase64url, isBase64url, utf8 } from "../../core/bytes.js";
import { MAX_TOKEN_LENGTH } from "../../core/protocol.js";
import { countOf, shown } from "../../core/shown.js";
import { isAlgorithm } from "../../jwt/algorithms.js";
import { parseMembers, REFUSED_MEMBERS } from "../../jwt/token.js";
import { type Mistake, withDetail } from "../rows/mistake.js";
import { firstFound, mistakesFound } from "../rows/run.js";
import { decodeAnyBase64, parseHex } from "../texts/rewrite.js";
import { mistakesInBodyHash } from "./body-hash.js";
import { isRemovedSignature, otherToken, readAuthorization } from "./headers.js";
import { CLAIM_MISTAKES, type ClaimName, claimMistake, ofClaim } from "./mistakes/claim.js";
import { claimUnderOtherName } from "./mistakes/claim-names.js";
import { type ExpectedUrls, URL_DIFFERENCES, URL_MISTAKES } from "./mistakes/claim-url.js";
import { EXPIRY_MISTAKES, expiryOf, NOT_BEFORE } from "./mistakes/expiry.js";
import { KID_MISTAKES } from "./mistakes/key-set.js";
import { TOKEN_MISTAKES as MISTAKES } from "./mistakes/token.js";
import { TOKEN_FORM_MISTAKES, WHOLE_CLAIMS_MISTAKES } from "./mistakes/token-form.js";
import { isSignedWithPublicKey, type KnownKeys, mistakesInKey } from "./token-key.js";

/** What is wrong with a token: Authorization, its form, header, key and signature, and every claim. */
export async function mistakesInToken(
  authorization: string,
  expected: ExpectedClaims,
  keys: KnownKeys,
): Promise<Mistake[]> {
  const { token, mistakes, isNothing } = readAuthorization(authorization);
  if (isNothing) return mistakes;
  const segments = token.split(".");
  if (token.length > MAX_TOKEN_LENGTH)
    return [...mistakes, withDetail(MISTAKES.malformed, lengthOf(token, segments.length))];
  const [, , lastSegment = ""] = segments;
  const isRemoved = segments.length === 3 && isRemovedSignature(lastSegment);
  const form = isRemoved ? [] : firstFound(TOKEN_FORM_MISTAKES, token);
  if (form.length > 0) return [...mistakes, ...form];
  // That something stands before the token says enough, where it cannot be told from the token.
  if (segments.length !== 3)
    return mistakes.length > 0
      ? mistakes
      : [withDetail(MISTAKES.malformed, lengthOf(token, segments.length))];
  const [header, claims, decoded] = segments.map(decodeAnyBase64);
  const signature = isRemoved ? new Uint8Array() : decoded;
  const members = header && parseMembers(header);
  if (members === undefined || typeof members === "string" || !claims || !signature)
    return mistakes.length > 0 ? mistakes : [MISTAKES.malformed];
  if (isRemoved) mistakes.push(MISTAKES.signatureRemoved);
  else if (/[+/=]/.test(token)) mistakes.push(MISTAKES.padded);

  const parts = { header: members, segments, signature, body: expected.body };
  const claimMembers = parseMembers(claims);
  const other = typeof claimMembers === "string" ? undefined : otherToken(members, claimMembers);
  // Of somebody else's token, key and claims are somebody else's too.
  if (other === MISTAKES.ofOtherSystem) return [...mistakes, other];
  const ofHeader = mistakesInTokenHeader(members, claimMembers);
  const isOfSecret = ofHeader.includes(MISTAKES.algHmac);
  if (isOfSecret && (await isSignedWithPublicKey(parts, keys.jwks)))
    ofHeader.splice(ofHeader.indexOf(MISTAKES.algHmac), 1, MISTAKES.algHmacPublic);
  // What no key of a key set makes is not looked for there.
  const isKeyLess = isRemoved || isOfSecret || ofHeader.includes(MISTAKES.algNone);
  const ofKey = isKeyLess ? [] : await mistakesInKey(parts, keys);
  const isLoose = !isRemoved && !segments.every(isBase64url) && !mistakes.includes(MISTAKES.padded);
  return [
    ...mistakes,
    ...(other === undefined ? [] : [other]),
    ...ofHeader,
    ...ofKey,
    // Bits after the last byte, which no library writes, are told where nothing else says why.
    ...(isLoose && ofKey.length === 0 ? [MISTAKES.padded] : []),
    ...mistakesInWhole(claimMembers, decodeUtf8(claims) ?? "", expected),
  ];
}

function mistakesInWhole(
  claims: Readonly<Record<string, unknown>> | string,
  text: string,
  expected: ExpectedClaims,
): readonly Mistake[] {
  const members = typeof claims === "string" ? undefined : claims;
  const whole = firstFound(WHOLE_CLAIMS_MISTAKES, { members, text, body: decodeUtf8(expected.body) });
  if (whole.length > 0) return whole;
  return members === undefined
    ? [withDetail(MISTAKES.claimsMalformed, `There is ${claims}.`)]
    : asReused(mistakesInClaims(members, expected));
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
  return `It has ${countOf(segments, "part")}.`;
}

function mistakesInTokenHeader(
  header: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, unknown>> | string,
): Mistake[] {
  const mistakes: Mistake[] = [];
  const { alg, kid } = header;
  if (typeof alg === "string" && /^HS[0-9]+$/i.test(alg)) mistakes.push(MISTAKES.algHmac);
  else if (typeof alg === "string" && alg.toLowerCase() === "none") mistakes.push(MISTAKES.algNone);
  else if (!isAlgorithm(alg)) mistakes.push(MISTAKES.alg);
  if (typeof kid === "number") mistakes.push(KID_MISTAKES.otherType);
  else if (typeof kid !== "string" || kid === "") {
    const name = Object.keys(header).find(
      (one) => /^(?:(?:x-)?key?[_-]?id|kid)$/i.test(one) && one !== "kid",
    );
    const isClaim = typeof claims === "object" && typeof claims.kid === "string";
    if (name === undefined && !isClaim) mistakes.push(MISTAKES.kidMissing);
    else
      mistakes.push(
        withDetail(MISTAKES.kidElsewhere, `It is ${isClaim ? "among the claims" : `named ${name}`}.`),
      );
  }
  if (REFUSED_MEMBERS.some((name) => Object.hasOwn(header, name))) mistakes.push(MISTAKES.headerMember);
  return mistakes;
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

function missing(claims: Claims, claim: ClaimName, wanted: string | undefined, nowSeconds?: number): Mistake {
  const other = claimUnderOtherName(claims, claim, wanted, nowSeconds);
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
  const bytes = parseHex(digits(right));
  const spelled =
    bytes && right.length > 20
      ? [
          encodeBase64url(bytes),
          encodeBase64(bytes),
          encodeBase64url(utf8(eventId)),
          encodeBase64(utf8(digits(right))),
          BigInt(`0x${digits(right)}`).toString(),
        ]
      : [];
  // The few digits of a short id may be another one's as well.
  const isSpelling =
    (digits(right).length > 20 && digits(left) === digits(right)) ||
    (right.length > 20 && left.includes(right)) ||
    spelled.includes(seen.replace(/(?<!=)=+$/, "")) ||
    spelled.includes(seen);
  return [isSpelling ? CLAIM_MISTAKES.jtiSpelling : CLAIM_MISTAKES.jtiOther];
}

function mistakesInExpiry(claims: Claims, { nowSeconds, timestamp }: ExpectedClaims): readonly Mistake[] {
  const { exp } = claims;
  if (exp === undefined || exp === null) return [missing(claims, "exp", undefined, nowSeconds)];
  if (typeof exp !== "number" && typeof exp !== "string") return [claimMistake("exp", "otherType")];
  return mistakesFound(EXPIRY_MISTAKES, expiryOf(claims, timestamp, nowSeconds));
}
