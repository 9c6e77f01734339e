import { bodyBytes, decodeBase64url, decodeUtf8 } from "../../core/bytes.js";
import { CONTENT_TYPE_HEADER, type HeadersInput, receivedHeaders } from "../../core/headers.js";
import { parseMembers } from "../../jwt/token.js";
import { type KeyResolver, openToken } from "../../jwt/verify.js";
import type { SchemeMistake } from "../../schemes/scheme.js";
import { catalogueOf, mistakesMade } from "./mistake-rows.js";
import { type Facts, REQUEST_MISTAKES, TOKEN } from "./set-request-mistakes.js";
import { CLAIM_MISTAKES, HEADER_MISTAKES, KEY_MISTAKES, UNREADABLE } from "./set-token-mistakes.js";

const ROWS = [...REQUEST_MISTAKES, UNREADABLE, ...HEADER_MISTAKES, ...CLAIM_MISTAKES, ...KEY_MISTAKES];
/** For a token of which nothing is known: the other rows would say of all its members that they are missing. */
const UNREADABLE_ROWS = [...REQUEST_MISTAKES, UNREADABLE];

/**
 * Every mistake that `securityEventMistakes` can name, for tools that list or explain them. Ids are stable.
 *
 * @example
 * ```ts
 * import { allSecurityEventMistakes } from "hookproof/set";
 *
 * allSecurityEventMistakes.find(({ id }) => id === "alg-none")?.title; // "Not signed"
 * ```
 */
export const allSecurityEventMistakes: readonly SchemeMistake[] = catalogueOf(ROWS);

/**
 * Names what is wrong with a security event token or with the request that brought it: by RFC 8417 and RFC 8935, and
 * against what the receiver expects, as far as that is given. Empty if nothing is found, which does not mean that the
 * token is genuine. For people and tests; a receiver does not need it.
 *
 * @param options.headers the header lines; leave them out for a token without a request
 * @param options.body the body, or the token
 * @param options.keys the issuer's keys, for the mistakes of keys
 * @param options.nowSeconds Unix seconds; the machine's time by default
 *
 * @example
 * ```ts
 * import { securityEventMistakes } from "hookproof/set";
 *
 * const body = '"eyJhbGciOiJub25lIn0.e30."';
 * const found = await securityEventMistakes({ body });
 * found.map(({ id }) => id); // ["body-in-quotes", "typ-differs", "alg-none", …]
 * ```
 */
export async function securityEventMistakes({
  headers,
  body,
  issuer,
  audience,
  keys,
  nowSeconds = Math.floor(Date.now() / 1000),
}: {
  headers?: HeadersInput | undefined;
  body: string | Uint8Array;
  issuer?: string | undefined;
  audience?: string | undefined;
  keys?: KeyResolver | undefined;
  nowSeconds?: number | undefined;
}): Promise<readonly SchemeMistake[]> {
  const received = headers && receivedHeaders(headers);
  const text = decodeUtf8(bodyBytes(body)) ?? "";
  const authorization = received?.all("Authorization").join(" ") ?? "";
  const isJwe = /^[\w-]+(?:\.[\w-]*){4}$/.test(text.trim());
  const token = isJwe ? text.trim() : (TOKEN.exec(text)?.[0] ?? TOKEN.exec(authorization)?.[0] ?? "");
  const segments = token.split(".");
  const header = membersOf(segments[0]);
  const claims = isJwe ? {} : membersOf(segments[1]);
  const unreadable =
    segments.length < 3 || (typeof header === "object" && typeof claims === "object")
      ? undefined
      : `The token has ${typeof header === "string" ? `a header with ${header}` : `claims with ${claims}`}.`;
  const facts: Facts = {
    types: received?.all(CONTENT_TYPE_HEADER),
    authorization,
    text,
    segments,
    unreadable,
    header: typeof header === "object" ? header : {},
    claims: typeof claims === "object" ? claims : {},
    issuer,
    audience,
    now: nowSeconds,
    refusal: keys && (await refusalOf(token, keys)),
  };
  return mistakesMade(unreadable === undefined ? ROWS : UNREADABLE_ROWS, facts);
}

async function refusalOf(token: string, keys: KeyResolver): Promise<string | undefined> {
  const make = (step: string, ok: boolean, code?: string) => ({ step, ok, rule: "", code }) as never;
  const { checks } = await openToken(
    token,
    { keys, allowEd25519: true, maxLength: token.length },
    { passed: (step) => make(step, true), failed: (step, code) => make(step, false, code) },
  );
  return checks.find(({ ok }) => !ok)?.code;
}

/** The members of a segment, or what stands there instead of them. */
function membersOf(segment = ""): Readonly<Record<string, unknown>> | string {
  const bytes = decodeBase64url(segment);
  return bytes ? parseMembers(bytes) : "text that is not base64url";
}
