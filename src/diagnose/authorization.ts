import { type HeadersInput, headerLines } from "../core/headers.js";
import { bearerToken } from "../jwt/token.js";
import { isNotText } from "./digest-text.js";
import { type Mistake, withDetail } from "./mistake.js";
import { TOKEN_MISTAKES as MISTAKES } from "./tables/token-mistakes.js";

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
  if (rest === "" || isNotText(rest.trim()))
    return { token: "", mistakes: [MISTAKES.nothing], isNothing: true };
  const token = bearerToken(authorization);
  if (token !== undefined) return { token, mistakes: [], isNothing: false };
  const words = text.split(/\s+/);
  const last = (words.at(-1) ?? "").replace(/^["']|["']$/g, "");
  return { token: last, mistakes: [schemeMistake(words)], isNothing: false };
}

/** Names of other schemes; another word may be a secret, and is not shown. */
const KNOWN_SCHEME = /^(?:dpop|token|jwt|basic|digest|hmac|apikey|oauth|negotiate|bearer:)$/i;

function schemeMistake(words: readonly string[]): Mistake {
  const [first = "", second = ""] = words;
  if (words.length === 1) return MISTAKES.bearerMissing;
  if (/^bearer$/i.test(first) && /^bearer$/i.test(second))
    return withDetail(MISTAKES.otherScheme, "Bearer stands there twice.");
  return KNOWN_SCHEME.test(first)
    ? withDetail(MISTAKES.otherScheme, `Its scheme is ${first}.`)
    : MISTAKES.otherScheme;
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
  if (isProof || (typeof typ === "string" && typ.toLowerCase() === "dpop+jwt")) return MISTAKES.dpop;
  const hasNone = !["jti", "htm", "htb_s256"].some((name) => Object.hasOwn(claims, name));
  const isLogin = ["iss", "scope", "scp", "azp", "client_id", "email"].some((name) =>
    Object.hasOwn(claims, name),
  );
  if (!hasNone || !isLogin) return undefined;
  return MISTAKES.ofOtherSystem;
}

const TOKEN = /^(?:(?:bearer|dpop)\s+)?[\w-]{4,}={0,2}\.[\w-]{4,}={0,2}\.[\w-]*={0,2}$/i;

/** A token in a header that nothing looks at, as gateways leave it; `known` are the headers that are told elsewhere. */
export function movedToken(headers: HeadersInput, known: readonly string[]): Mistake | undefined {
  for (const [name, value] of headerLines(headers)) {
    if (known.includes(name.toLowerCase()) || value.length > 8_192 || !TOKEN.test(value.trim())) continue;
    if (name.toLowerCase() === "dpop") return MISTAKES.dpopHeader;
    return withDetail(MISTAKES.moved, `It is in ${/^[\w-]{1,60}$/.test(name) ? name : "another header"}.`);
  }
  return undefined;
}
