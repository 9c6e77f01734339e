import type { VerdictCode } from "../errors.js";
import { decodeBase64url, isBase64url } from "../primitives/base64url.js";
import { decodeUtf8 } from "../primitives/bytes.js";
import { shown } from "../protocol/check.js";
import { duplicateMember } from "../protocol/json.js";
import { MAX_KEY_ID_LENGTH, MAX_TOKEN_LENGTH } from "../protocol/limits.js";
import { type Algorithm, isAlgorithm } from "./key.js";

/** A token's header, as far as it decides which key verifies it. */
export interface TokenHeader {
  readonly alg: Algorithm | "Ed25519";
  readonly kid: string;
}

/** Why a token is refused before its signature is looked at. */
export interface TokenRefusal {
  readonly ok: false;
  readonly code: VerdictCode;
  readonly seen: string;
}

/** Takes a bearer token out of an `Authorization` value: the scheme without case, one space, one token. */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer ([\x21-\x7e]+)$/i.exec(authorization)?.[1];
}

/** Reads a compact token's header by the strict rules: canonical base64url, no member twice, nothing that brings a key. */
export function readToken(
  token: string,
  options: { allowEd25519: boolean },
): { ok: true; header: TokenHeader } | TokenRefusal {
  if (token.length > MAX_TOKEN_LENGTH) return refused("TOKEN_MALFORMED", `${token.length} characters`);
  const segments = token.split(".");
  if (segments.length !== 3) return refused("TOKEN_MALFORMED", `${segments.length} segments`);
  const header = segments.every(isBase64url) && decodeBase64url(segments[0] as string);
  if (!header) return refused("TOKEN_MALFORMED", "a segment that is not canonical base64url");
  const members = parseMembers(header);
  if (typeof members === "string") return refused("TOKEN_MALFORMED", `a header with ${members}`);
  return checkHeader(members, options.allowEd25519);
}

const REFUSED_MEMBERS = ["crit", "b64", "jwk", "jku", "x5u", "x5c"];

function checkHeader(
  members: Record<string, unknown>,
  allowEd25519: boolean,
): { ok: true; header: TokenHeader } | TokenRefusal {
  const refusedMember = REFUSED_MEMBERS.find((name) => Object.hasOwn(members, name));
  if (refusedMember) return refused("TOKEN_HEADER_REFUSED", refusedMember);
  const { alg, kid } = members;
  if (!isAlgorithm(alg) && !(alg === "Ed25519" && allowEd25519))
    return refused("TOKEN_ALGORITHM_REFUSED", `alg ${shown(alg)}`);
  if (typeof kid !== "string" || kid === "" || kid.length > MAX_KEY_ID_LENGTH) {
    return refused("TOKEN_KEY_ID_INVALID", kid === undefined ? "no kid" : `kid ${shown(kid)}`);
  }
  return { ok: true, header: { alg, kid } };
}

/** The members of a JSON object in which no name stands twice; otherwise, in words, what it has. */
export function parseMembers(bytes: Uint8Array): Record<string, unknown> | string {
  const text = decodeUtf8(bytes);
  if (text === undefined) return "bytes that are not UTF-8";
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "text that is not JSON";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return "a value that is not an object";
  // What is exactly what its value is written as names nothing twice; looking for it takes three times as long.
  const twice = isWrittenAs(value, text) ? undefined : duplicateMember(text);
  return twice === undefined ? (value as Record<string, unknown>) : `the member ${shown(twice)} twice`;
}

/** Parsing takes less stack than writing: a value that could be read may be too deep to be written. */
function isWrittenAs(value: unknown, text: string): boolean {
  try {
    return JSON.stringify(value) === text;
  } catch {
    return false;
  }
}

function refused(code: VerdictCode, seen: string): TokenRefusal {
  return { ok: false, code, seen };
}
