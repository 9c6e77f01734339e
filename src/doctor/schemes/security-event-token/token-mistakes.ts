// Rows of mistakes in a security event token.

import { decodeBase64url } from "../../../core/bytes.js";
import { STORABLE_ID } from "../../../core/event.js";
import { EVENT_ID_RETENTION_MS, TIMESTAMP_TOLERANCE_SECONDS } from "../../../core/protocol.js";
import { shown } from "../../../core/shown.js";
import { eventsFault } from "../../../events/security-events.js";
import { isAlgorithm } from "../../../jwt/algorithms.js";
import { rawFromDer } from "../../../jwt/sign-token.js";
import { isTyp } from "../../../jwt/token.js";
import { SET_TYP } from "../../../schemes/security-event-token/sign.js";
import type { FoundMistake } from "../../rows/mistake.js";
import { kidsInWords } from "../kids-in-words.js";
import type { TokenRequestFacts } from "./request-mistakes.js";

const SIGN_HEADER = `Sign with the header { alg: "ES256", kid, typ: "${SET_TYP}" }.`;
const SECONDS = "Set iat to whole seconds: Math.floor(Date.now() / 1000).";
const JTI = "Set jti to an id of the event's own; copies of the event have the same.";
const SUBJECT =
  'Name the subject as sub_id, with its format: { "format": "iss_sub", "iss": "…", "sub": "…" } (RFC 9493).';
const EVENTS =
  'Send events as one object: { "events": { "https://schemas.openid.net/secevent/caep/event-type/session-revoked": {} } }.';

export const UNREADABLE: FoundMistake<TokenRequestFacts> = {
  id: "token-unreadable",
  title: "Header or claims cannot be read",
  message: "The header or the claims are not one JSON object in base64url, with each name once.",
  fix: "Let a library for JWT write the token: of two members with one name, readers choose differently.",
  find: ({ unreadable }) => unreadable,
};

/** The mistakes of a token's header. */
export const HEADER_MISTAKES: readonly FoundMistake<TokenRequestFacts>[] = [
  {
    id: "typ-differs",
    title: "Another typ",
    message: `typ is not ${SET_TYP} (RFC 8417 section 2.3): the token could be taken for another kind.`,
    fix: SIGN_HEADER,
    find({ header: { typ }, segments }) {
      if (segments.length !== 3) return false;
      if (isTyp(typ, SET_TYP)) return false;
      return `typ is ${typ === undefined ? "missing" : shown(typ)}, not ${SET_TYP} (RFC 8417 section 2.3): it could be taken for another kind of token.`;
    },
  },
  {
    id: "alg-none",
    title: "Not signed",
    message: "alg is none: the token is not signed.",
    fix: SIGN_HEADER,
    find: ({ header: { alg } }) => isNone(alg),
  },
  {
    id: "alg-symmetric",
    title: "Signed with a shared secret",
    message: "The token is made with a shared secret: alg is HS256, HS384 or HS512.",
    fix: `${SIGN_HEADER} A receiver has the public key only; a secret that it knew would let it sign too.`,
    find: ({ header: { alg } }) =>
      isSymmetric(alg) && `alg is ${alg}: the token is made with a shared secret.`,
  },
  {
    id: "alg-other",
    title: "Another algorithm",
    message: "alg is an algorithm that receivers of this profile do not take, or is missing.",
    fix: "Sign with ES256, EdDSA or RS256.",
    find({ header: { alg }, segments }) {
      const isKnown = isAlgorithm(alg) || alg === "Ed25519" || isNone(alg) || isSymmetric(alg);
      if (segments.length !== 3 || isKnown) return false;
      return `alg is ${alg === undefined ? "missing" : shown(alg)}.`;
    },
  },
  {
    id: "kid-missing",
    title: "No key id",
    message: "kid is missing: of the keys of a set nobody knows which one.",
    fix: SIGN_HEADER,
    find: ({ header, segments }) => segments.length === 3 && header.kid === undefined,
  },
  {
    id: "signature-in-der",
    title: "Signature in DER",
    message: "The signature is DER, as OpenSSL writes it, and not the 64 bytes of ES256.",
    fix: "Write r and s as 32 bytes each: in Node sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' }).",
    find({ header, segments }) {
      const bytes = header.alg === "ES256" ? decodeBase64url(segments[2] ?? "") : undefined;
      return bytes !== undefined && rawFromDer(bytes).length === 64;
    },
  },
];

/** The mistakes of a token's claims. */
export const CLAIM_MISTAKES: readonly FoundMistake<TokenRequestFacts>[] = [
  nameRow("iss", "issuer", "the issuer that the receiver expects"),
  nameRow("aud", "audience", "the receiver"),
  missingRow("iss", "Set iss to the URL of the issuer."),
  missingRow("aud", "Set aud to the receiver, or to a list with it."),
  missingRow("jti", JTI),
  {
    id: "jti-not-a-text",
    title: "jti is no text",
    message: "jti is no text of 1 to 256 characters without control characters.",
    fix: `${JTI} In Node crypto.randomUUID().`,
    find: ({ claims: { jti } }) =>
      jti !== undefined &&
      (typeof jti !== "string" || !STORABLE_ID.test(jti)) &&
      `jti is ${shown(jti)}, and no text of 1 to 256 characters without control characters.`,
  },
  missingRow("iat", SECONDS),
  {
    id: "iat-in-milliseconds",
    title: "iat in milliseconds",
    message: "iat is in milliseconds.",
    fix: SECONDS,
    find: ({ claims: { iat } }) => typeof iat === "number" && iat > 1e11,
  },
  {
    id: "iat-not-a-number",
    title: "iat is no number",
    message: "iat is no number.",
    fix: SECONDS,
    find: ({ claims: { iat } }) =>
      iat !== undefined && typeof iat !== "number" && `iat is ${shown(iat)}, and no number.`,
  },
  {
    id: "iat-too-old",
    title: "iat is old",
    message: "iat is older than the receiver's memory of event ids.",
    fix: "Set iat when the token is signed; when it happened belongs into toe. What is older than the receiver's memory of 7 days could be replayed.",
    find: ({ claims: { iat }, now }) =>
      typeof iat === "number" &&
      iat <= now - EVENT_ID_RETENTION_MS / 1000 + 2 * TIMESTAMP_TOLERANCE_SECONDS &&
      `iat is ${Math.round((now - iat) / 86_400)} days old.`,
  },
  {
    id: "iat-in-future",
    title: "iat is ahead",
    message: "iat is ahead of the receiver's clock.",
    fix: "Set the sender's clock by NTP; iat is the time of signing.",
    find: ({ claims: { iat }, now }) =>
      typeof iat === "number" &&
      iat > now + TIMESTAMP_TOLERANCE_SECONDS &&
      iat <= 1e11 &&
      `iat is ${iat - now} s ahead of the receiver's clock.`,
  },
  {
    id: "exp-present",
    title: "exp in a security event token",
    message: "The token has exp.",
    fix: "Leave exp out (RFC 8417 section 2.2): what has happened does not expire. The Shared Signals Framework forbids it.",
    find({ claims: { exp }, now }) {
      if (exp === undefined) return false;
      if (typeof exp !== "number") return `The token has exp, and it is ${shown(exp)}, which is no number.`;
      return exp > now || "The token has exp, and it is over.";
    },
  },
  {
    id: "nbf-in-future",
    title: "nbf is ahead",
    message: "nbf is ahead of the receiver's clock, or no number.",
    fix: "Leave nbf out: a security event token says what has happened. Or set it to whole seconds that are over.",
    find: ({ claims: { nbf }, now }) => {
      if (nbf === undefined) return false;
      if (typeof nbf !== "number") return `nbf is ${shown(nbf)}, and no number.`;
      return (
        nbf > now + TIMESTAMP_TOLERANCE_SECONDS && `nbf is ${nbf - now} s ahead of the receiver's clock.`
      );
    },
  },
  {
    id: "sub-in-place-of-sub-id",
    title: "sub in place of sub_id",
    message: "The subject stands in sub, as in an access token.",
    fix: SUBJECT,
    // RFC 8417 itself allows sub, as in its figures 2 and 3; the profiles of the Shared Signals Framework do not.
    find: ({ claims: { sub, sub_id: subject, events } }) =>
      sub !== undefined && subject === undefined && isOfSharedSignals(events),
  },
  {
    id: "sub-id-without-format",
    title: "sub_id without a format",
    message: "sub_id is not an object with a format.",
    fix: SUBJECT,
    find: ({ claims: { sub_id: subject, events } }) =>
      subject !== undefined && isOfSharedSignals(events) && typeof memberOf(subject, "format") !== "string",
  },
  {
    id: "events-wrong",
    title: "events has another form",
    message: "The claim events is missing, or not one object with the URI of each event's type.",
    fix: EVENTS,
    find({ claims: { events }, segments }) {
      const fault = segments.length === 3 ? eventsFault(events) : undefined;
      if (fault === undefined) return false;
      return events === undefined ? "The claim events is missing." : `The claim events has ${fault}.`;
    },
  },
];

/** The refusals of the key set, where nothing else explains them. */
export const KEY_MISTAKES: readonly FoundMistake<TokenRequestFacts>[] = [
  {
    id: "key-unknown",
    title: "Key id unknown",
    message: "The key set has no usable key with the kid and alg of the token.",
    fix: "Host the public key under this kid, with use and alg, before it signs: hookproof jwks check <url> --token token.txt. A recipient takes keys without them by remoteKeys(url, { lenient: true }).",
    find: ({ refusal, header, jwks }) =>
      refusal?.code === "KEY_NOT_FOUND" &&
      `The key set has no usable key with kid ${shown(header.kid)} and alg ${shown(header.alg)}: ${refusal.detail}.${kidsInWords(jwks, header.kid)}`,
  },
  {
    id: "signature-of-other-key",
    title: "Signed with another key",
    message: "The key set's key has not made the signature: another key has, or the token was changed.",
    fix: "Sign with the private half of the key that the key set has under this kid, over the header and claims as they are sent.",
    find: ({ refusal }) => refusal?.code === "TOKEN_SIGNATURE_MISMATCH",
  },
];

function isOfSharedSignals(events: unknown): events is object {
  return (
    typeof events === "object" &&
    events !== null &&
    Object.keys(events).some((uri) => SHARED_SIGNALS.test(uri))
  );
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

const SHARED_SIGNALS = /^https:\/\/schemas\.openid\.net\/secevent\//;

function isNone(alg: unknown): boolean {
  return typeof alg === "string" && alg.toLowerCase() === "none";
}

function isSymmetric(alg: unknown): alg is string {
  return typeof alg === "string" && /^HS(?:256|384|512)$/.test(alg);
}

function nameRow(
  claim: "iss" | "aud",
  option: "issuer" | "audience",
  who: string,
): FoundMistake<TokenRequestFacts> {
  return {
    id: `${claim}-differs`,
    title: `${claim} is another one`,
    message: `${claim} is not ${who}.`,
    fix: `Write ${claim} letter by letter as both sides have agreed; a slash at the end makes another one.`,
    find({ claims, [option]: wanted }) {
      const value = claims[claim];
      if (wanted === undefined || value === undefined) return false;
      if (value === wanted || (claim === "aud" && Array.isArray(value) && value.includes(wanted)))
        return false;
      const near = typeof value === "string" && plain(value) === plain(wanted);
      return `${claim} is ${shown(value, 200)}, and ${who} is ${shown(wanted, 200)}${near ? ": they differ in a slash at the end, in capitals or in http and https" : ""}.`;
    },
  };
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/^https?:/, "")
    .replace(/\/$/, "");
}

function missingRow(claim: "iss" | "aud" | "jti" | "iat", fix: string): FoundMistake<TokenRequestFacts> {
  return {
    id: `${claim}-missing`,
    title: `${claim} is missing`,
    message: `The claim ${claim} is missing.`,
    fix,
    find: ({ claims, segments }) =>
      segments.length === 3 && Object.keys(claims).length > 0 && claims[claim] === undefined,
  };
}
