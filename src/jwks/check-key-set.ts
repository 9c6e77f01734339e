import { HookproofError } from "../errors.js";
import type { TransportResponse } from "../http/transport.js";
import { shown } from "../protocol/check.js";
import { parseJson } from "../protocol/json.js";
import { keySetRequest, MAX_KEY_SET_BYTES, type RemoteKeysOptions } from "./fetch-key-set.js";
import { checkDocument, type KeySetCheck, verdict } from "./key-set-rules.js";

/** What a check of a key set found. */
export interface KeySetReport {
  /** No rule failed. */
  readonly ok: boolean;
  readonly checks: readonly KeySetCheck[];
}

/** Options of `checkKeySet`. */
export interface CheckKeySetOptions extends RemoteKeysOptions {
  /** A token that a listener should find the key for; its signature is checked, its claims are not. */
  readonly token?: string | undefined;
}

const SLOW_MS = 2_000;

/**
 * Holds a key set against every rule of the service (specification 5.2, JWT method), from outside: give the URL
 * a listener would fetch, or a document. The set is fetched as a listener fetches it; nothing is thrown for what
 * is found.
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
  const checks: KeySetCheck[] = [];
  const document = typeof source === "string" ? await fetched(source, options, checks) : { value: source };
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
  const reason = parsed.ok ? "" : parsed.reason === "not-utf8" ? "not UTF-8" : "not JSON";
  checks.push(
    verdict("json", parsed.ok, parsed.ok ? `${response.body.length} bytes` : `the body is ${reason}`),
  );
  return parsed.ok ? { value: parsed.value } : undefined;
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
