// Checks a key set by every rule of the service.

import { decodeProtectedHeader } from "jose/decode/protected_header";
import { compactVerify } from "jose/jws/compact/verify";
import { HookproofError } from "../core/errors.js";
import { duplicateMember, parseJson } from "../core/json.js";
import { checkOptions } from "../core/options.js";
import { countOf, shown } from "../core/shown.js";
import type { TransportResponse } from "../http/transport.js";
import { algorithmOf, isAlgorithm } from "../jwt/algorithms.js";
import type { JWK } from "../jwt/key.js";
import { KeyChecks, type KeySetCheck, type KeySetRule, plainKid } from "./key-checks.js";
import { MAX_KEY_SET_KEYS, whyNoJson, wordsOfShape } from "./key-set-shape.js";
import {
  keySetRequest,
  MAX_KEY_SET_BYTES,
  REMOTE_KEYS_OPTIONS,
  type RemoteKeysOptions,
} from "./remote-keys.js";
import { type KeyRules, verificationKeys } from "./verification-keys.js";

/** The result of `checkKeySet`. */
export interface KeySetReport {
  /** Whether no rule failed. */
  readonly ok: boolean;
  /** The rules that were checked, in order. */
  readonly checks: readonly KeySetCheck[];
}

/** Options of `checkKeySet`. */
interface CheckKeySetOptions extends RemoteKeysOptions {
  /** A token of the sender: its key is looked up in the set and its signature checked, but not its claims. */
  readonly token?: string | undefined;
}

const SLOW_MS = 2_000;

/**
 * Checks a key set by every rule of the service (specification 5.2, JWT method). Give the URL, which is fetched as a
 * listener fetches it, or the document. Does not throw for a faulty set or an unreachable host: see the report.
 *
 * Keys for another purpose (`use` of `enc`, other algorithms and kinds) are noted and not judged; at least one key has
 * to be usable.
 *
 * @example
 * ```ts
 * import { checkKeySet } from "hookproof/jwks";
 *
 * const { ok, checks } = await checkKeySet("https://keys.example.com/.well-known/jwks.json");
 * for (const { rule, outcome, detail } of checks) console.log(outcome, rule, detail);
 * ```
 */
export async function checkKeySet(
  source: string | object,
  options: CheckKeySetOptions = {},
): Promise<KeySetReport> {
  const { clock: _clock, ...fetching } = REMOTE_KEYS_OPTIONS;
  checkOptions("checkKeySet", options, { ...fetching, token: "string" });
  const checks: KeySetCheck[] = [];
  const document = typeof source !== "object" ? await fetched(source, options, checks) : { value: source };
  if (document) await checkDocument(document.value, options, checks);
  return { ok: checks.every(({ outcome }) => outcome !== "fail"), checks };
}

async function fetched(
  url: string,
  options: CheckKeySetOptions,
  checks: KeySetCheck[],
): Promise<{ value: unknown } | undefined> {
  const start = performance.now();
  let response: TransportResponse;
  try {
    const get = keySetRequest(url, options);
    checks.push({
      rule: "https",
      outcome: "pass",
      detail: new URL(url).protocol === "https:" ? "https" : "http, on loopback",
    });
    response = await get();
  } catch (error) {
    const isRefused = error instanceof HookproofError && error.code === "KEY_SET_URL_REFUSED";
    const detail = error instanceof HookproofError ? error.message : "the transport failed";
    checks.push({ rule: isRefused ? "https" : "reachable", outcome: "fail", detail });
    return undefined;
  }
  const tookMs = Math.round(performance.now() - start);
  checks.push(verdict("reachable", response.status === 200, `the host answered ${response.status}`));
  if (response.status !== 200) return undefined;
  const slow = tookMs > SLOW_MS;
  checks.push({
    rule: "time",
    outcome: slow ? "warn" : "pass",
    detail: `${tookMs} ms; listeners wait 5000 ms`,
  });
  checks.push(contentType(response), caching(response));
  if (response.truncated) {
    checks.push({ rule: "json", outcome: "fail", detail: `more than ${MAX_KEY_SET_BYTES} bytes` });
    return undefined;
  }
  const parsed = parseJson(response.body);
  const doubled = parsed.ok ? duplicateMember(new TextDecoder().decode(response.body)) : undefined;
  if (doubled !== undefined) {
    const detail = `the member ${shown(doubled)} stands twice in one object: strict readers refuse it, and others take the first or the last`;
    checks.push({ rule: "json", outcome: "fail", detail });
    return undefined;
  }
  if (parsed.ok && depthOf(parsed.value) > MAX_DEPTH) {
    const detail = `it is nested deeper than ${MAX_DEPTH} levels: readers of other languages refuse what is nested deeply (Ruby's JSON beyond 100 levels, Python's at 1,000)`;
    checks.push({ rule: "json", outcome: "fail", detail });
    return undefined;
  }
  const detail = parsed.ok ? countOf(response.body.length, "byte") : `the body is ${whyNoJson(response)}`;
  checks.push(verdict("json", parsed.ok, detail));
  return parsed.ok ? { value: parsed.value } : undefined;
}

/** So deep a set of keys may be nested: as System.Text.Json of .NET reads by its documentation, and less than all that were tried. */
const MAX_DEPTH = 64;

/** How many levels a JSON value has, counted without recursion and no further than one more than may be. */
function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
    if (level.length === 0) return depth;
  }
  return MAX_DEPTH + 1;
}

function contentType(response: TransportResponse): KeySetCheck {
  const value = headerOf(response, "content-type");
  const isJson = /^application\/(?:jwk-set\+)?json\s*(?:;|$)/i.test(value ?? "");
  return {
    rule: "content-type",
    outcome: isJson ? "pass" : "warn",
    detail: value === undefined ? "none; application/jwk-set+json is meant for it" : shown(value),
  };
}

function caching(response: TransportResponse): KeySetCheck {
  const value = headerOf(response, "cache-control");
  if (value === undefined)
    return {
      rule: "caching",
      outcome: "warn",
      detail: "no Cache-Control: each listener decides for itself how long it keeps the set",
    };
  const maxAge = /(?:^|[\s,])max-age\s*=\s*"?([0-9]+)/i.exec(value)?.[1];
  const fits =
    maxAge !== undefined &&
    Number(maxAge) >= 60 &&
    Number(maxAge) <= 600 &&
    !/no-store|no-cache/i.test(value);
  return {
    rule: "caching",
    outcome: fits ? "pass" : "warn",
    detail: fits ? shown(value) : `${shown(value)}; a max-age of 60 to 600 s is what listeners keep to`,
  };
}

function headerOf({ headers }: TransportResponse, wanted: string): string | undefined {
  const values = headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(", ");
}

/** Checks the document, and adds the results to `checks`. */
async function checkDocument(
  document: unknown,
  options: KeyRules & { readonly token?: string | undefined },
  checks: KeySetCheck[],
): Promise<void> {
  const list = (document as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_KEY_SET_KEYS) {
    const detail = Array.isArray(list)
      ? `${countOf(list.length, "key")}; 1 to ${MAX_KEY_SET_KEYS} are allowed`
      : `there is no list of keys${wordsOfShape(document)}`;
    checks.push({ rule: "keys", outcome: "fail", detail });
    return;
  }
  checks.push({ rule: "keys", outcome: "pass", detail: countOf(list.length, "key") });
  const keys = new KeyChecks(list, checks);
  keys.checkPurpose();
  keys.checkKids();
  keys.checkMembers();
  await keys.checkStrength();
  checks.push(await checkUsable(keys.forSignatures, document, options));
  if (options.token !== undefined) checks.push(await checkToken(options.token.trim(), document, options));
}

/** Whether a listener would find any key at all. */
async function checkUsable(
  keys: readonly { readonly jwk: JWK }[],
  document: unknown,
  rules: KeyRules,
): Promise<KeySetCheck> {
  const found = verificationKeys(document, rules);
  if (typeof found === "string")
    return verdict("usable", false, `no key can verify a token: the key set has ${found}`);
  let count = 0;
  for (const { jwk } of keys) {
    const alg = isAlgorithm(jwk.alg) ? jwk.alg : algorithmOf(jwk);
    if (alg !== undefined && typeof jwk.kid === "string" && (await found.find(jwk.kid, alg)).ok) count += 1;
  }
  const detail = count === 0 ? "no key can verify a token" : `${countOf(count, "key")} can verify a token`;
  return verdict("usable", count > 0, detail);
}

async function checkToken(token: string, document: unknown, options: KeyRules): Promise<KeySetCheck> {
  const failed = (detail: string) => verdict("token", false, detail);
  let header: { kid?: unknown; alg?: unknown };
  try {
    header = decodeProtectedHeader(token);
  } catch {
    return failed("the token is not a JWT in compact form");
  }
  const { kid, alg } = header;
  if (typeof kid !== "string" || !isAlgorithm(alg))
    return failed(`the token's header has kid ${shown(kid)} and alg ${shown(alg)}`);
  const keys = verificationKeys(document, options);
  if (typeof keys === "string") return failed(`the key set has ${keys}`);
  const found = await keys.find(kid, alg);
  if (!found.ok) return failed(`the key set has ${found.detail}${alikeIn(document, kid)}`);
  try {
    await compactVerify(token, found.key, { algorithms: [alg] });
    return verdict(
      "token",
      true,
      `the key ${shown(kid)} verifies the token's signature; its claims were not looked at`,
    );
  } catch {
    return failed(`the key ${shown(kid)} does not verify the token's signature`);
  }
}

/** The kid in the set that was meant, if it differs by case or type only. */
function alikeIn(document: unknown, kid: string): string {
  const { keys } = document as { keys: readonly (JWK | null)[] };
  const other = keys.find((jwk) => jwk?.kid !== kid && plainKid(jwk?.kid) === plainKid(kid));
  return other ? `, but ${shown(other.kid)}: kids are compared with case and type` : "";
}

function verdict(rule: KeySetRule, ok: boolean, detail: string): KeySetCheck {
  return { rule, outcome: ok ? "pass" : "fail", detail };
}
