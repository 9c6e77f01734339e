// Finds what is wrong with headers, target and body by themselves.
import { type HeadersInput, headerLines, type ReceivedHeaders } from "../../core/headers.js";
import { parseJson } from "../../core/json.js";
import { isTimestamp, MAX_BODY_BYTES } from "../../core/protocol.js";
import { bearerToken } from "../../jwt/token.js";
import { TIMESTAMP_HEADER } from "../../schemes/access-governance/protocol.js";
import { type Mistake, withDetail } from "../rows/mistake.js";
import { firstFound, mistakesFound } from "../rows/run.js";
import { hasVariable, isNotText } from "../texts/variables.js";
import {
  AGE_MISTAKES,
  BODY_MISTAKES,
  CONTENT_TYPE,
  EXTRA_HEADER_MISTAKES,
  HEADER_MISNAMED,
  HEADER_TWICE,
  HEADERS,
  OTHER_NAMES,
  TIMESTAMP,
} from "./mistakes/header.js";
import { TOKEN_MISTAKES } from "./mistakes/token.js";

/** What is wrong with the headers that every request has: missing, sent twice, or malformed. */
export function mistakesInHeaders(headers: ReceivedHeaders): readonly Mistake[] {
  return [
    ...HEADERS.flatMap(({ name, missing, forms }) =>
      mistakesInHeader(headers, name, missing, (value) => firstFound(forms, value)),
    ),
    ...mistakesFound(EXTRA_HEADER_MISTAKES, headers),
  ];
}

/**
 * What is wrong with a header that must be there exactly once.
 *
 * @param missing the mistake if it is not there, under no other name either
 * @param mistakesIn what is wrong with its value
 */
export function mistakesInHeader(
  headers: ReceivedHeaders,
  name: string,
  missing: Mistake,
  mistakesIn: (value: string) => readonly Mistake[],
): readonly Mistake[] {
  const [value, ...more] = headers.all(name);
  if (value === undefined) {
    const other = OTHER_NAMES[name]?.find((one) => headers.all(one).length > 0);
    if (other === undefined) return [missing];
    return [withDetail(HEADER_MISNAMED, `${other} is there, ${name} is not.`)];
  }
  if (more.length > 0) return [withDetail(HEADER_TWICE, `${name} is there ${more.length + 1} times.`)];
  return mistakesIn(value);
}

/** What is wrong with the headers of a body that is JSON, in every scheme. */
export function mistakesInContent(headers: ReceivedHeaders): readonly Mistake[] {
  const lines = headers.all(CONTENT_TYPE.name);
  const type = lines.length === 0 ? [CONTENT_TYPE.missing] : firstFound(CONTENT_TYPE.forms, lines.join(", "));
  return [...type, ...mistakesFound(EXTRA_HEADER_MISTAKES, headers)];
}

/** How far the timestamp is from the clock, if that is too far. */
export function mistakesInAge(headers: ReceivedHeaders, nowSeconds: number): readonly Mistake[] {
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  if (!isTimestamp(timestamp) || firstFound(TIMESTAMP.forms, timestamp).length > 0) return [];
  return mistakesFound(AGE_MISTAKES, nowSeconds - Number(timestamp));
}

/** What is wrong with the body itself, even if its signature is right. */
export function mistakesInBody(body: Uint8Array): readonly Mistake[] {
  // What is too large is not read.
  const parsed = body.length > MAX_BODY_BYTES ? undefined : parseJson(body);
  return firstFound(BODY_MISTAKES, { body, fault: parsed?.ok === false ? parsed.reason : undefined });
}

/** What an Authorization header holds. */
interface ReadAuthorization {
  /** The text in the token's place. */
  readonly token: string;
  readonly mistakes: Mistake[];
  /** There is no token at all, so nothing else can be said of it. */
  readonly isNothing: boolean;
}

/** Reads Authorization, also where something stands before or in place of the token. */
export function readAuthorization(authorization: string): ReadAuthorization {
  const text = authorization.trim();
  const rest = text.replace(/^bearer(?:\s+|$)/i, "");
  if (
    rest === "" ||
    hasVariable(rest) ||
    (isNotText(rest.trim()) && !/^<(?!.*\b(?:object|at)\b)[\w -]{2,30}>$/.test(rest))
  )
    return { token: "", mistakes: [TOKEN_MISTAKES.nothing], isNothing: true };
  if (rest.startsWith("-----BEGIN")) return { token: rest, mistakes: [], isNothing: false };
  const token = bearerToken(authorization);
  if (token !== undefined) return { ...unwrapped(token), isNothing: false };
  const glued = /^bearer(?:[:=]|%20)\s*(\S+)$/i.exec(text) ?? /^bearer(eyJ\S+)$/i.exec(text);
  if (glued) return { token: glued[1] ?? "", mistakes: [TOKEN_MISTAKES.otherScheme], isNothing: false };
  const words = text.split(/\s+/, 20);
  const [, ...pieces] = words;
  if (
    /^bearer$/i.test(words[0] ?? "") &&
    pieces.length > 1 &&
    !/^bearer$/i.test(pieces[0] ?? "") &&
    TOKEN.test(pieces.join(""))
  )
    return { token: pieces.join(""), mistakes: [TOKEN_MISTAKES.brokenUp], isNothing: false };
  const last = (words.at(-1) ?? "").replace(/^["']|["']$/g, "");
  return { token: last, mistakes: [schemeMistake(words)], isNothing: false };
}

/** A token inside of what a program, or a hand, has put around it; a placeholder stays what it is. */
function unwrapped(text: string): { token: string; mistakes: Mistake[] } {
  const inside = AROUND_TOKEN.exec(text)?.[1];
  return inside === undefined || inside === text
    ? { token: text, mistakes: [] }
    : { token: inside, mistakes: [TOKEN_MISTAKES.wrapped] };
}

const AROUND_TOKEN =
  /^(?:b?["'`<{[(]|\\"|(?:token|access_token|jwt)[=:]["']?)*(eyJ[\w-]*\.[\w-]*\.[\w-]*)(?:["'`>}\]),;]|\\["nr]){0,4}$/;

/** Names of other schemes; another word may be a secret, and is not shown. */
const KNOWN_SCHEME = /^(?:dpop|token|jwt|basic|digest|hmac|apikey|oauth|negotiate|bearer:)$/i;

function schemeMistake(words: readonly string[]): Mistake {
  const [first = "", second = ""] = words;
  if (words.length === 1 && !/^["'`<]?bearer/i.test(first)) return TOKEN_MISTAKES.bearerMissing;
  if (/^bearer$/i.test(first) && /^bearer$/i.test(second))
    return withDetail(TOKEN_MISTAKES.otherScheme, "Bearer stands there twice.");
  return KNOWN_SCHEME.test(first)
    ? withDetail(TOKEN_MISTAKES.otherScheme, `Its scheme is ${first}.`)
    : TOKEN_MISTAKES.otherScheme;
}

const REMOVED = /REMOVED|REDACTED|MASKED|STRIPPED/i;

/** Whether a word stands in a signature's place, such as SIGNATURE_REMOVED_BY_GOOGLE. */
export function isRemovedSignature(segment: string): boolean {
  if (segment.length > 60) return false;
  return /^[*x]{3,}$/i.test(segment) || (/^[A-Z_]+$/i.test(segment) && REMOVED.test(segment));
}

type Members = Readonly<Record<string, unknown>>;

/** Whether a token is made for something else: a proof of DPoP, or the login of another system. */
export function otherToken(header: Members, claims: Members): Mistake | undefined {
  const isProof = Object.hasOwn(claims, "htu") && !Object.hasOwn(claims, "htb_s256");
  const { typ } = header;
  const isNamed = typeof typ === "string" && typ.toLowerCase() === "dpop+jwt";
  if (isProof || (isNamed && !Object.hasOwn(claims, "htb_s256"))) return TOKEN_MISTAKES.dpop;
  const hasNone = !["jti", "htm", "htb_s256"].some((name) => Object.hasOwn(claims, name));
  const isLogin = ["iss", "scope", "scp", "azp", "client_id", "email"].some((name) =>
    Object.hasOwn(claims, name),
  );
  if (!hasNone || !isLogin) return undefined;
  return TOKEN_MISTAKES.ofOtherSystem;
}

const TOKEN = /^(?:(?:bearer|dpop)\s+)?[\w-]{4,}={0,2}\.[\w-]{4,}={0,2}\.[\w-]*={0,2}$/i;

/** A token in a header that nothing looks at, as gateways leave it; `known` are the headers that are told elsewhere. */
export function movedToken(headers: HeadersInput, known: readonly string[]): Mistake | undefined {
  for (const [name, value] of headerLines(headers)) {
    if (known.includes(name.toLowerCase()) || value.length > 8_192 || !TOKEN.test(value.trim())) continue;
    if (name.toLowerCase() === "dpop") return TOKEN_MISTAKES.dpopHeader;
    return withDetail(
      TOKEN_MISTAKES.moved,
      `It is in ${/^[\w-]{1,60}$/.test(name) ? name : "another header"}.`,
    );
  }
  return undefined;
}
