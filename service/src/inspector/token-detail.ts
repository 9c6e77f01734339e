import type { Check } from "hookproof/receiver";
import type { Claim, TokenDetail } from "./contract.js";
import { type Entry, onlyHeader } from "./entry.js";
import { recordOf } from "./entry-line.js";

/** A token as sent, valid or not. */
export interface ReadToken {
  readonly compact: string;
  readonly header: Readonly<Record<string, unknown>> | undefined;
  readonly payload: Readonly<Record<string, unknown>> | undefined;
}

/** Takes the token out of an `Authorization` value; undefined where there is none. */
export function readToken(authorization: string): ReadToken | undefined {
  const compact = /^bearer +(\S+)/i.exec(authorization.trim())?.[1] ?? "";
  const [header, payload, ...rest] = compact.split(".");
  if (rest.length !== 1) return undefined;
  return { compact, header: decoded(header), payload: decoded(payload) };
}

/** The claims that a listener checks; the check of each has the same name. */
const REQUIRED = ["exp", "nbf", "sub", "aud", "jti", "htm", "htb_s256"] as const;

/** The token of a request, decoded, and each claim beside what it is compared with. */
export function tokenDetail({ headers, checks, demanded }: Entry): TokenDetail | undefined {
  const token = readToken(onlyHeader(headers, "Authorization") ?? "");
  if (!token) return undefined;
  const required = demanded?.auth === "jwt" ? demanded.claims : {};
  const isKeyFound = checks.some(({ step, ok }) => step === "key" && ok);
  const claims = token.payload ?? {};
  const names = [
    ...REQUIRED.filter((name) => name !== "nbf" || Object.hasOwn(claims, name)),
    ...Object.keys(claims).filter((name) => !(REQUIRED as readonly string[]).includes(name)),
  ];
  return {
    compact: token.compact,
    ...(token.header ? { header: pretty(token.header) } : {}),
    ...(token.payload ? { payload: pretty(token.payload) } : {}),
    claims: names.map((name) => claimOf(name, claims, { checks, required })),
    ...(isKeyFound && demanded?.auth === "jwt" && demanded.key ? { key: demanded.key } : {}),
  };
}

function claimOf(
  name: string,
  claims: Readonly<Record<string, unknown>>,
  { checks, required }: { checks: readonly Check[]; required: Readonly<Record<string, string>> },
): Claim {
  const check = checks.find(({ step }) => step === name);
  const wanted = Object.hasOwn(required, name) ? required[name] : check?.wanted;
  const isRequired = (REQUIRED as readonly string[]).includes(name);
  const state = check ? (check.ok ? "passed" : "failed") : isRequired ? "not-reached" : "not-checked";
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

function pretty(value: unknown): string {
  try {
    return JSON.stringify(value, undefined, 2);
  } catch {
    // Parsing a value this deep works, writing it overflows the stack.
    return "a value too deep to show";
  }
}
