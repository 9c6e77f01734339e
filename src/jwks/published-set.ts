// Fetches what a host shows, and compares it with what it should show.
import { HookproofError } from "../core/errors.js";
import type { HeaderPair } from "../core/headers.js";
import { parseJson } from "../core/json.js";
import { shown } from "../core/shown.js";
import type { TransportResponse } from "../http/transport.js";
import type { JWK } from "../jwt/key.js";
import type { Jwks } from "./key-set.js";
import { whyNoJson } from "./key-set-shape.js";
import {
  cacheDirectives,
  keySetRequest,
  MAX_KEY_SET_BYTES,
  type RemoteKeysOptions,
  wholeSeconds,
} from "./remote-keys.js";
import { isKey, verificationKeys } from "./verification-keys.js";

/** Assumed of a host that does not say how long its answer may be kept: the longest that `remoteKeys` keeps a set. */
const UNSAID_SECONDS = 600;
/** A host that says more is taken to mean this: a year. */
const MAX_SECONDS = 31_536_000;

/** What the host of a key set shows: the keys, and how long others may keep them; or why there are none. */
type PublishedSet =
  | { readonly ok: true; readonly keys: readonly JWK[]; readonly keptForSeconds: number }
  | { readonly ok: false; readonly detail: string };

/**
 * A function that fetches a key set as listeners do, within the limits of `remoteKeys`. It never throws.
 *
 * @throws {HookproofError} KEY_SET_URL_REFUSED, CIDR_INVALID
 */
export function publishedSetFetcher(url: string, options: RemoteKeysOptions): () => Promise<PublishedSet> {
  const get = keySetRequest(url, options);
  return async () => {
    try {
      return readPublished(await get());
    } catch (error) {
      return {
        ok: false,
        detail: error instanceof HookproofError ? error.message : "The transport failed.",
      };
    }
  };
}

function readPublished(response: TransportResponse): PublishedSet {
  const { status, headers, body, truncated } = response;
  if (status !== 200) return { ok: false, detail: `The host answered ${status}.` };
  if (truncated || body.length > MAX_KEY_SET_BYTES)
    return { ok: false, detail: `The host shows more than ${MAX_KEY_SET_BYTES} bytes.` };
  const parsed = parseJson(body);
  const fault = parsed.ok ? verificationKeys(parsed.value, {}) : `a body that is ${whyNoJson(response)}`;
  if (!parsed.ok || typeof fault === "string") return { ok: false, detail: `The host shows ${fault}.` };
  const { keys } = parsed.value as { keys: readonly unknown[] };
  // Listeners pass over what is no key; here it says that the set is another one.
  if (!keys.every(isKey)) return { ok: false, detail: "The host shows a key that is no object." };
  return { ok: true, keys, keptForSeconds: keptForSeconds(headers) };
}

/**
 * How long anybody may keep an answer, in seconds. Unlike the time that `remoteKeys` keeps to, it is neither capped at
 * 10 minutes nor shortened by `Age`: caches between the host and a listener count, and so do listeners of others.
 */
function keptForSeconds(headers: readonly HeaderPair[]): number {
  const directives = cacheDirectives(headers);
  if (directives.some(({ name }) => name === "no-store")) return 0;
  const named = (wanted: string) =>
    directives.filter(({ name }) => name === wanted).map(({ value }) => wholeSeconds(value));
  const ages = [...named("max-age"), ...named("s-maxage")];
  const stale = [...named("stale-while-revalidate"), ...named("stale-if-error")];
  const kept = (ages.length > 0 ? Math.max(...ages) : UNSAID_SECONDS) + Math.max(0, ...stale);
  return Math.min(MAX_SECONDS, kept);
}

/** How a published set differs from the one that should be there, in words; `undefined` if they are the same. */
export function differenceOf(published: readonly JWK[], wanted: Jwks): string | undefined {
  const byKid = (keys: readonly JWK[]) => new Map(keys.map((key) => [kidOf(key), textOf(key)]));
  const [atHost, own] = [byKid(published), byKid(wanted.keys)];
  const missing = [...own.keys()].filter((kid) => !atHost.has(kid));
  if (missing.length > 0) return `lacks ${listOfKids(missing)}`;
  const other = [...own].filter(([kid, text]) => atHost.get(kid) !== text).map(([kid]) => kid);
  if (other.length > 0) return `has another key under ${listOfKids(other)}`;
  const extra = [...atHost.keys()].filter((kid) => !own.has(kid));
  if (extra.length > 0) return `still has ${listOfKids(extra)}`;
  return published.length === wanted.keys.length ? undefined : "has a key twice";
}

/** The kid of a key, which a host may show as any value. */
function kidOf({ kid }: JWK): string {
  return typeof kid === "string" ? kid : shown(kid);
}

function listOfKids(kids: readonly string[]): string {
  const [first = "", ...others] = kids.map((kid) => JSON.stringify(kid.slice(0, 80)));
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** A key's members in one order; nothing for one that is nested too deeply to be written, which no key is. */
function textOf(key: JWK): string {
  try {
    return JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)));
  } catch {
    return "";
  }
}
