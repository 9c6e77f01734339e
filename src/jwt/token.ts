// Reads tokens strictly: form, header and members.
import { decodeBase64url } from "#hash";
import { decodeUtf8, isBase64url, utf8 } from "../core/bytes.js";
import { duplicateMember, isObject } from "../core/json.js";
import { MAX_KEY_ID_LENGTH, MAX_TOKEN_LENGTH } from "../core/protocol.js";
import { countOf, shown } from "../core/shown.js";
import { type Algorithm, isAlgorithm } from "./algorithms.js";

/** The members of a token's header that choose the key. */
export interface TokenHeader {
  readonly alg: Algorithm | "Ed25519";
  readonly kid: string;
}

/** Bytes as WebCrypto takes them; TypeScript before 5.7 has no other name for them in a declaration. */
export type Bytes = ReturnType<typeof Uint8Array.of>;

/** A token of which only its header was read. */
interface ReadToken {
  readonly ok: true;
  readonly header: TokenHeader;
  /** What the signature is made over. */
  readonly signed: Bytes;
  readonly claims: Bytes;
  readonly signature: Bytes;
}

/** Why a token is refused before its signature is checked. */
interface TokenRefusal {
  readonly ok: false;
  readonly code:
    | "TOKEN_MALFORMED"
    | "TOKEN_HEADER_REFUSED"
    | "TOKEN_ALGORITHM_REFUSED"
    | "TOKEN_KEY_ID_INVALID";
  readonly seen: string;
}

/** The token of an `Authorization` header: `Bearer` in any case, spaces (RFC 6750, 2.1: one or more), one token. */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1];
}

/** What a kind of token is in addition to what every token is. */
export interface TokenForm {
  /** Accept the header `alg: "Ed25519"` (RFC 9864) next to `EdDSA`. */
  readonly allowEd25519: boolean;
  /** The value that the header's `typ` must have, as a media type without `application/`; any or none by default. */
  readonly typ?: string | undefined;
  /** The most characters of a token; 8,192 by default. */
  readonly maxLength?: number | undefined;
}

/**
 * Reads the header of a compact token. Strict: canonical base64url only, no member twice, and no member by which a
 * token would bring its own key.
 */
export function readToken(token: string, form: TokenForm): ReadToken | TokenRefusal {
  const { maxLength = MAX_TOKEN_LENGTH } = form;
  if (token.length > maxLength) return refused("TOKEN_MALFORMED", countOf(token.length, "character"));
  const segments = token.split(".");
  if (segments.length !== 3) return refused("TOKEN_MALFORMED", countOf(segments.length, "segment"));
  const [header, claims, signature] = segments.every(isBase64url) ? segments.map(decodeBase64url) : [];
  if (!header || !claims || !signature)
    return refused("TOKEN_MALFORMED", "a segment that is not canonical base64url");
  const members = parseMembers(header);
  if (typeof members === "string") return refused("TOKEN_MALFORMED", `a header with ${members}`);
  const checked = checkHeader(members, form);
  if (!checked.ok) return checked;
  return { ...checked, signed: utf8(token.slice(0, token.lastIndexOf("."))), claims, signature };
}

/** Members of a header under which no token is taken. */
export const REFUSED_MEMBERS: readonly string[] = ["crit", "b64", "jwk", "jku", "x5u", "x5c"];

function checkHeader(
  members: Record<string, unknown>,
  { allowEd25519, typ }: TokenForm,
): { ok: true; header: TokenHeader } | TokenRefusal {
  const refusedMember = REFUSED_MEMBERS.find((name) => Object.hasOwn(members, name));
  if (refusedMember) return refused("TOKEN_HEADER_REFUSED", refusedMember);
  const { alg, kid } = members;
  if (typ !== undefined && !isTyp(members.typ, typ))
    return refused("TOKEN_HEADER_REFUSED", `typ ${shown(members.typ)}`);
  if (!isAlgorithm(alg) && !(alg === "Ed25519" && allowEd25519))
    return refused("TOKEN_ALGORITHM_REFUSED", `alg ${shown(alg)}`);
  if (typeof kid !== "string" || kid === "" || kid.length > MAX_KEY_ID_LENGTH) {
    return refused("TOKEN_KEY_ID_INVALID", kid === undefined ? "no kid" : `kid ${shown(kid)}`);
  }
  return { ok: true, header: { alg, kid } };
}

/** Whether a `typ` is that media type: in any case, with or without `application/` (RFC 7515 section 4.1.9). */
export function isTyp(value: unknown, wanted: string): boolean {
  return typeof value === "string" && value.toLowerCase().replace(/^application\//, "") === wanted;
}

/** The members of a JSON object; or a text that says what is wrong, also if a name occurs twice. */
export function parseMembers(bytes: Uint8Array): Record<string, unknown> | string {
  const text = decodeUtf8(bytes);
  if (text === undefined) return "bytes that are not UTF-8";
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "text that is not JSON";
  }
  if (!isObject(value)) return "a value that is not an object";
  // A text that equals the serialized value has no duplicates; the full search takes three times as long.
  const twice = isWrittenAs(value, text) ? undefined : duplicateMember(text);
  return twice === undefined ? (value as Record<string, unknown>) : `the member ${shown(twice)} twice`;
}

/** JSON.stringify needs more stack than JSON.parse: it may fail for a deeply nested value that could be parsed. */
function isWrittenAs(value: unknown, text: string): boolean {
  try {
    return JSON.stringify(value) === text;
  } catch {
    return false;
  }
}

function refused(code: TokenRefusal["code"], seen: string): TokenRefusal {
  return { ok: false, code, seen };
}
