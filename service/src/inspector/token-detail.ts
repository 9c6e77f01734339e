// Takes a token apart for the page.
import type { Check } from "hookproof/receiver";
import { isDeeper } from "../api/well-formed.js";
import type { Claim, TokenDetail } from "./contract.js";
import { type Entry, onlyHeader } from "./entry.js";
import { recordOf } from "./entry-line.js";

/** A token as sent, valid or not. */
interface ReadToken {
  readonly compact: string;
  readonly header: Readonly<Record<string, unknown>> | undefined;
  readonly payload: Readonly<Record<string, unknown>> | undefined;
}

/** Takes the token out of an `Authorization` value; undefined where there is none. */
export function readToken(authorization: string): ReadToken | undefined {
  return readCompact(/^bearer +(\S+)/i.exec(authorization.trim())?.[1] ?? "");
}

function readCompact(compact: string): ReadToken | undefined {
  const [header, payload, ...rest] = compact.split(".");
  if (rest.length !== 1) return undefined;
  return { compact, header: decoded(header), payload: decoded(payload) };
}

/** The claims that a listener checks; the check of each has the same name. */
const REQUIRED = ["exp", "nbf", "sub", "aud", "jti", "htm", "htb_s256"] as const;

/** Claims that are checked where a token has them. */
const OPTIONAL: ReadonlySet<string> = new Set(["exp", "nbf"]);

/** The token of a request, decoded, and each claim next to what it is compared with. */
export function tokenDetail(entry: Entry): TokenDetail | undefined {
  const { row, headers, body, checks, demanded } = entry;
  // In another scheme than the service's own the token is the body, if there is one.
  const isBody = row.scheme !== undefined;
  const token = isBody
    ? readCompact(Buffer.from(body).toString("latin1"))
    : readToken(onlyHeader(headers, "Authorization") ?? "");
  if (!token || (isBody && !token.header)) return undefined;
  const all = demanded?.auth === "jwt" ? demanded.claims : {};
  const { htb_s256: _ofAWholeBody, ...others } = all;
  const required = row.isCut ? others : all;
  const isKeyFound = checks.some(({ step, ok }) => step === "key" && ok);
  const claims = token.payload ?? {};
  const checked: readonly string[] =
    demanded?.auth === "scheme" ? checkedClaims(demanded.checks.map(({ step }) => step)) : REQUIRED;
  const isShown = (name: string) =>
    Object.hasOwn(claims, name) || !(name === "nbf" || (isBody && OPTIONAL.has(name)));
  const names = [
    ...checked.filter(isShown),
    ...Object.keys(claims).filter((name) => !checked.includes(name)),
  ];
  return {
    compact: token.compact,
    ...(token.header ? { header: pretty(token.header) } : {}),
    ...(token.payload ? { payload: pretty(token.payload) } : {}),
    claims: names.map((name) => claimOf(name, claims, { checks, required, checked })),
    ...(isKeyFound && demanded?.auth === "jwt" && demanded.key ? { key: demanded.key } : {}),
  };
}

/** The claims that checks of another scheme are about: `iat` is read by two that have other names. */
function checkedClaims(steps: readonly string[]): string[] {
  const claims: readonly string[] = [...REQUIRED, "iss", "events"];
  return [...steps.filter((step) => claims.includes(step)), ...(steps.includes("window") ? ["iat"] : [])];
}

function claimOf(
  name: string,
  claims: Readonly<Record<string, unknown>>,
  {
    checks,
    required,
    checked,
  }: {
    checks: readonly Check[];
    required: Readonly<Record<string, string>>;
    checked: readonly string[];
  },
): Claim {
  const steps = name === "iat" && checked.includes(name) ? ["window", "timestamp"] : [name];
  const check = checks.findLast(({ step }) => steps.includes(step));
  const wanted = Object.hasOwn(required, name) ? required[name] : check?.wanted;
  const state = check
    ? check.ok
      ? "passed"
      : "failed"
    : checked.includes(name)
      ? "not-reached"
      : "not-checked";
  return {
    name,
    ...(Object.hasOwn(claims, name) ? { actual: pretty(claims[name]) } : {}),
    ...(wanted === undefined ? {} : { required: wanted }),
    state,
  };
}

function decoded(segment: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    return recordOf(JSON.parse(Buffer.from(segment ?? "", "base64url").toString("utf8")));
  } catch {
    return undefined;
  }
}

/** Each level makes every line within it longer, and at last the stack overflows. */
const MAX_LEVELS = 32;

function pretty(value: unknown): string {
  return isDeeper(MAX_LEVELS, value) ? "a value too deep to show" : JSON.stringify(value, undefined, 2);
}
