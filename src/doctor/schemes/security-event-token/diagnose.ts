// Finds the mistakes in a security event token and its request.

import { bodyBytes, decodeBase64url, decodeUtf8, utf8 } from "../../../core/bytes.js";
import { type Clock, systemClock, unixSeconds } from "../../../core/clock.js";
import { CONTENT_TYPE_HEADER, type HeadersInput, receivedHeaders } from "../../../core/headers.js";
import { checkOptions, type OptionNames } from "../../../core/options.js";
import type { Jwks } from "../../../jwks/key-set.js";
import { parseMembers } from "../../../jwt/token.js";
import { type KeyResolver, openToken } from "../../../jwt/verify.js";
import { KEY_MATERIAL_MISTAKES } from "../../diagnose/mistakes/key-material.js";
import { TOKEN_MISTAKES } from "../../diagnose/mistakes/token.js";
import { TOKEN_SIGNATURE_MISTAKES } from "../../diagnose/mistakes/token-signature.js";
import { mistakesInKey } from "../../diagnose/token-key.js";
import { catalogueOf, type Mistake, type MistakeRow } from "../../rows/mistake.js";
import { mistakesFound } from "../../rows/run.js";
import { decodeAnyBase64 } from "../../texts/rewrite.js";
import { REQUEST_MISTAKES, TOKEN, TOKEN_ALONE, type TokenRequestFacts } from "./request-mistakes.js";
import { CLAIM_MISTAKES, HEADER_MISTAKES, KEY_MISTAKES, UNREADABLE } from "./token-mistakes.js";

const ROWS = [...REQUEST_MISTAKES, UNREADABLE, ...HEADER_MISTAKES, ...CLAIM_MISTAKES, ...KEY_MISTAKES];
/** For a token of which nothing is known: the other rows would say of all its members that they are missing. */
const UNREADABLE_ROWS = [...REQUEST_MISTAKES, UNREADABLE];

/** The rows of tokens of every kind: how a signature was made and written, and how a key was published. */
const OF_EVERY_TOKEN: readonly MistakeRow[] = [
  ...Object.values(TOKEN_SIGNATURE_MISTAKES).filter(({ id }) => id !== TOKEN_SIGNATURE_MISTAKES.none.id),
  TOKEN_MISTAKES.prehashed,
  ...Object.values(KEY_MATERIAL_MISTAKES),
];

/** Every mistake of the scheme. */
export const MISTAKES = catalogueOf(ROWS, OF_EVERY_TOKEN);

/** A security event token, with what its receiver expects as far as that is known. */
export interface SecurityEventInput {
  /** Security event tokens. */
  readonly scheme: "security-event-token";
  /** The request as it arrived; without `headers` the body is a token that came without a request. */
  readonly request: {
    /** The headers as received. */
    readonly headers?: HeadersInput | undefined;
    /** The body as received, or a token; a text stands for its UTF-8 bytes. */
    readonly body?: string | Uint8Array | undefined;
  };
  /** What `iss` must be. */
  readonly issuer?: string | undefined;
  /** What `aud` must be, or have in its list. */
  readonly audience?: string | undefined;
  /** The issuer's keys, for the mistakes of keys. */
  readonly keys?: KeyResolver | undefined;
  /** The document that `keys` reads, as it is served. With it more can be said of a key that is not found. */
  readonly jwks?: Jwks | undefined;
  /** The receiver's time; the system's clock by default. */
  readonly clock?: Clock | undefined;
}

/** What is wrong with a token or with the request that brought it: by RFC 8417 and RFC 8935, and for its receiver. */
export async function diagnosed(input: SecurityEventInput): Promise<readonly Mistake[]> {
  checkOptions("diagnose", input, INPUT);
  const {
    request: { headers, body = "" },
    issuer,
    audience,
    keys,
    jwks,
    clock = systemClock,
  } = input;
  const received = headers && receivedHeaders(headers);
  const text = decodeUtf8(bodyBytes(body)) ?? "";
  const authorization = received?.all("Authorization").join(" ") ?? "";
  const isJwe = /^[\w-]+(?:\.[\w-]*){4}$/.test(text.trim());
  const token = isJwe ? text.trim() : tokenIn(text, authorization);
  const segments = token.split(".");
  const header = membersOf(segments[0]);
  const claims = isJwe ? {} : membersOf(segments[1]);
  const unreadable =
    segments.length < 3 || (typeof header === "object" && typeof claims === "object")
      ? undefined
      : `The token has ${typeof header === "string" ? `a header with ${header}` : `claims with ${claims}`}.`;
  const facts: TokenRequestFacts = {
    types: received?.all(CONTENT_TYPE_HEADER),
    encodings: received?.all("Content-Encoding") ?? [],
    authorization,
    text,
    segments,
    unreadable,
    header: typeof header === "object" ? header : {},
    claims: typeof claims === "object" ? claims : {},
    issuer,
    audience,
    now: unixSeconds(clock),
    refusal: keys && (await refusalOf(token, keys)),
    jwks,
  };
  const found = mistakesFound(unreadable === undefined ? ROWS : UNREADABLE_ROWS, facts);
  // In another spelling a signature says nothing of its key.
  if (found.some(({ id }) => id === "signature-in-der"))
    return found.filter(({ id }) => id !== "signature-of-other-key");
  if (facts.refusal === undefined || jwks === undefined) return found;
  const ofKey = await mistakesInSignature(facts, jwks);
  // What the key set's own refusal says is less than its cause.
  return ofKey.length === 0 ? found : [...found.filter(({ id }) => !REFUSALS.has(id)), ...ofKey];
}

const REFUSALS: ReadonlySet<string> = new Set(KEY_MISTAKES.map(({ id }) => id));

/** Why the key set does not verify a token, where one of those mistakes says it. */
async function mistakesInSignature(
  { segments, header, text }: TokenRequestFacts,
  jwks: Jwks,
): Promise<readonly Mistake[]> {
  const signature = decodeAnyBase64(segments[2] ?? "");
  if (segments.length !== 3 || !signature) return [];
  const token = { header, segments, signature, body: utf8(text) };
  const found = await mistakesInKey(token, { jwks, resolver: undefined });
  return found.every(({ id }) => OF_EVERY_TOKEN.some((row) => row.id === id)) ? found : [];
}

/** The body, where it is a token and nothing else; otherwise the token in what it is, or in Authorization. */
function tokenIn(text: string, authorization: string): string {
  const alone = text.trim();
  return TOKEN_ALONE.test(alone) ? alone : (TOKEN.exec(text) ?? TOKEN.exec(authorization) ?? [""])[0];
}

async function refusalOf(token: string, keys: KeyResolver): Promise<TokenRequestFacts["refusal"]> {
  const make = (step: string, ok: boolean, code?: string, seen?: string) =>
    ({ step, ok, rule: "", code, seen }) as never;
  const { checks } = await openToken(
    token,
    { keys, allowEd25519: true, maxLength: token.length },
    { passed: (step) => make(step, true), failed: (step, code, seen) => make(step, false, code, seen) },
  );
  const failed = checks.find(({ ok }) => !ok);
  return failed?.code === undefined ? undefined : { code: failed.code, detail: failed.seen ?? "" };
}

/** The members of a segment, or what stands there instead of them. */
function membersOf(segment = ""): Readonly<Record<string, unknown>> | string {
  const bytes = decodeBase64url(segment);
  return bytes ? parseMembers(bytes) : "text that is not base64url";
}

const INPUT: OptionNames<SecurityEventInput> = {
  scheme: 1,
  request: 1,
  issuer: "string",
  audience: "string",
  keys: ".resolve",
  jwks: "object",
  clock: ".now",
};
