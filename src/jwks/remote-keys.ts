// Fetches a key set from its host and keeps it for as long as it may.
import { createTransport } from "#transport";
import { isLoopbackHost } from "../core/address.js";
import { concatBytes } from "../core/bytes.js";
import { type Clock, systemClock, timeOf, within } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import type { HeaderPair } from "../core/headers.js";
import { parseJson } from "../core/json.js";
import { checkOptions, type OptionNames } from "../core/options.js";
import { wholeUrl } from "../core/target-url.js";
import { publicAddresses, type Transport, type TransportResponse } from "../http/transport.js";
import type { KeyResolver, ResolvedKey } from "../jwt/verify.js";
import { whyNoJson } from "./key-set-shape.js";
import { type KeyRules, type VerificationKeys, verificationKeys } from "./verification-keys.js";

const PAUSE_AFTER_UNKNOWN_KID_MS = 30_000;
const PAUSE_AFTER_FAILURE_MS = 10_000;
/** How long a set is still used after its freshness ended, if no newer one can be fetched. */
const STALE_FOR_MS = 10 * 60_000;

interface CachedKeys {
  keys: VerificationKeys;
  fetchedAt: number;
  freshUntil: number;
}

/**
 * A resolver that fetches a key set from its host and keeps it for as long as the host says, at least 60 s and at
 * most 600 s (specification 5.2, JWT method, step 3).
 *
 * - HTTPS only, no redirects, at most 5 s, 64 KiB and 50 keys.
 * - Private and reserved addresses are refused. Node checks what the host name resolves to; other runtimes see only
 *   the URL, so set `allowedHosts` there.
 * - An unknown kid causes a new fetch, at most once in 30 s. After a failure there is no fetch for 10 s, and the last
 *   good set is used for 10 minutes more.
 * - The resolver itself never rejects: a failure is a result with `ok: false`.
 *
 * @throws {HookproofError} KEY_SET_URL_REFUSED, CIDR_INVALID
 *
 * @example
 * ```ts
 * import { remoteKeys } from "hookproof/jwks";
 *
 * const keys = remoteKeys("https://keys.example.com/.well-known/jwks.json");
 * ```
 */
export function remoteKeys(
  url: string,
  options: RemoteKeysOptions & {
    /** The clock by which a set is fresh; the system's by default. */
    clock?: Clock | undefined;
  } = {},
): KeyResolver {
  checkOptions("remoteKeys", options, REMOTE_KEYS_OPTIONS);
  return new RemoteKeys(keySetFetcher(url, options), options.clock ?? systemClock);
}

class RemoteKeys implements KeyResolver {
  readonly #fetch: () => Promise<FetchedKeys>;
  readonly #clock: Clock;
  #cached: CachedKeys | undefined;
  #pause = { from: 0, until: 0 };
  #lastFailure: Extract<FetchedKeys, { ok: false }> | undefined;
  #inFlight: Promise<void> | undefined;

  constructor(fetch: () => Promise<FetchedKeys>, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  async resolve(...[kid, alg]: Parameters<KeyResolver["resolve"]>): Promise<ResolvedKey> {
    try {
      return await this.#find(kid, alg);
    } catch {
      // Only the caller's clock can throw here.
      return { ok: false, code: "KEY_SET_UNAVAILABLE", detail: "the clock failed" };
    }
  }

  async #find(...[kid, alg]: Parameters<KeyResolver["resolve"]>): Promise<ResolvedKey> {
    const wasFresh = this.#usableKeys(0) !== undefined;
    if (!wasFresh && this.#mayFetch()) await this.#refresh(false);
    const found = await this.#usableKeys(STALE_FOR_MS)?.find(kid, alg);
    if (found?.ok) return found;
    // The key may be newer than the set: fetch again, unless this call has just done so.
    if (wasFresh && this.#mayFetch()) await this.#refresh(true);
    return (await this.#usableKeys(STALE_FOR_MS)?.find(kid, alg)) ?? this.#lastFailure ?? PAUSED;
  }

  /** Fetches the set; calls at the same time share one fetch. */
  #refresh(forUnknownKid: boolean): Promise<void> {
    this.#inFlight ??= this.#fetch()
      .then((fetched) => this.#store(fetched, forUnknownKid))
      .finally(() => {
        this.#inFlight = undefined;
      });
    return this.#inFlight;
  }

  #store(fetched: FetchedKeys, forUnknownKid: boolean): void {
    const now = timeOf(this.#clock);
    if (fetched.ok)
      this.#cached = { keys: fetched.keys, fetchedAt: now, freshUntil: now + fetched.freshForMs };
    this.#lastFailure = fetched.ok ? undefined : fetched;
    if (forUnknownKid) this.#pauseFor(PAUSE_AFTER_UNKNOWN_KID_MS, now);
    if (!fetched.ok) this.#pauseFor(PAUSE_AFTER_FAILURE_MS, now);
  }

  #pauseFor(ms: number, now: number): void {
    this.#pause = { from: now, until: Math.max(this.#pause.until, now + ms) };
  }

  /** A clock that was set back ends the pause. */
  #mayFetch(): boolean {
    const now = timeOf(this.#clock);
    return now < this.#pause.from || now >= this.#pause.until;
  }

  /** The cached keys, up to `staleForMs` after their freshness ended; none if the clock was set back before their fetch. */
  #usableKeys(staleForMs: number): VerificationKeys | undefined {
    const now = timeOf(this.#clock);
    const cached = this.#cached;
    return cached && cached.fetchedAt <= now && now < cached.freshUntil + staleForMs
      ? cached.keys
      : undefined;
  }
}

const PAUSED = {
  ok: false,
  code: "KEY_SET_UNAVAILABLE",
  detail: "the key set could not be fetched before, and is not asked for again yet",
} as const;

/** The time limit of a fetch, from the DNS lookup to the last byte. */
const FETCH_TIMEOUT_MS = 5_000;

/** How much longer a transport of the caller may take, which may not keep to its time limit. */
const EXTRA_TIME_MS = 250;

/** A larger key set is refused. */
export const MAX_KEY_SET_BYTES = 65_536;

const MIN_FRESH_SECONDS = 60;

const MAX_FRESH_SECONDS = 600;

const DEFAULT_FRESH_SECONDS = 300;

/** Which URLs a key set may be fetched from. */
export interface KeySetUrlRules {
  /** Accept an `http://` URL on loopback, for development. */
  readonly allowInsecureLoopback?: boolean | undefined;
  /** Accept private, loopback and reserved addresses; they are refused by default. */
  readonly allowPrivateNetwork?: boolean | undefined;
  /** Private ranges that are accepted, such as `["10.1.0.0/16"]`. */
  readonly allowedCidrs?: readonly string[] | undefined;
  /**
   * The only hosts a key set may come from, such as `["keys.example.com"]`. Set it if others supply the URL and the
   * runtime is not Node: only Node shows which address a host name resolves to.
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** Options of `remoteKeys`. */
export interface RemoteKeysOptions extends KeyRules, KeySetUrlRules {
  /** Your own transport, for a proxy or your own CA. It then has to refuse private addresses itself. */
  readonly transport?: Transport | undefined;
}

export const REMOTE_KEYS_OPTIONS: OptionNames<RemoteKeysOptions & { clock?: Clock }> = {
  allowInsecureLoopback: "boolean",
  allowPrivateNetwork: "boolean",
  allowedCidrs: "texts",
  allowedHosts: "texts",
  lenient: "boolean",
  transport: "function",
  clock: ".now",
};

/** The result of a fetch: the keys and how long they are fresh, or why there are none. */
type FetchedKeys =
  | { readonly ok: true; readonly keys: VerificationKeys; readonly freshForMs: number }
  | { readonly ok: false; readonly code: "KEY_SET_UNAVAILABLE" | "KEY_SET_INVALID"; readonly detail: string };

/** A function that fetches a key set within all limits. It never throws: a failure is a result. */
function keySetFetcher(url: string, options: RemoteKeysOptions): () => Promise<FetchedKeys> {
  const get = keySetRequest(url, options);
  return async () => {
    try {
      return readKeySet(await get(), options);
    } catch (error) {
      return unavailable(error instanceof HookproofError ? error.message : "the transport failed");
    }
  };
}

/**
 * A function that requests the document of a key set and resolves to the response, whatever its status.
 *
 * @throws {HookproofError} KEY_SET_URL_REFUSED, CIDR_INVALID
 */
export function keySetRequest(url: string, options: RemoteKeysOptions): () => Promise<TransportResponse> {
  const { transport: own, allowedCidrs } = options;
  const href = checkKeySetUrl(url, own ? { allowPrivateNetwork: true, ...options } : options);
  const allowPrivateNetwork = options.allowPrivateNetwork ?? href.startsWith("http:");
  const transport = own ?? createTransport({ allowPrivateNetwork, allowedCidrs });
  const request = {
    method: "GET",
    url: href,
    headers: [
      ["Accept", "application/jwk-set+json, application/json"],
      ["Accept-Encoding", "gzip"],
    ] as const,
    timeoutMs: FETCH_TIMEOUT_MS,
    maxResponseBytes: MAX_KEY_SET_BYTES,
  };
  return () => inTime(transport, request);
}

/** The caller's own transport may ignore its time limit, or throw before it returns a promise. */
async function inTime(transport: Transport, request: Parameters<Transport>[0]): Promise<TransportResponse> {
  const late = () => new HookproofError("TIMED_OUT", `No complete answer within ${FETCH_TIMEOUT_MS} ms.`);
  const read = async () => {
    const response = await transport(request);
    if (response.bodyError) throw response.bodyError;
    return unzipped(response, request.maxResponseBytes);
  };
  return within(read(), FETCH_TIMEOUT_MS + EXTRA_TIME_MS, late);
}

/** An answer whose body is gzip, by its first bytes, which no JSON has; `fetch` has unzipped it and kept the header. */
async function unzipped(response: TransportResponse, limit: number): Promise<TransportResponse> {
  const [first, second] = response.body;
  if (first !== 0x1f || second !== 0x8b || response.truncated) return response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const stream = new Blob([new Uint8Array(response.body)]).stream();
  const reader = stream.pipeThrough(new DecompressionStream("gzip")).getReader();
  try {
    for (let read = await reader.read(); read.value && length <= limit; read = await reader.read()) {
      chunks.push(read.value);
      length += read.value.length;
    }
  } catch {
    return response; // read as it is, which is no JSON
  }
  void reader.cancel().catch(() => {});
  return { ...response, body: concatBytes(chunks).subarray(0, limit), truncated: length > limit };
}

function readKeySet(response: TransportResponse, rules: KeyRules): FetchedKeys {
  if (response.status !== 200) return unavailable(`the host answered ${response.status}`);
  if (response.truncated || response.body.length > MAX_KEY_SET_BYTES)
    return invalid(`more than ${MAX_KEY_SET_BYTES} bytes`);
  const parsed = parseJson(response.body);
  const keys = parsed.ok ? verificationKeys(parsed.value, rules) : `a body that is ${whyNoJson(response)}`;
  return typeof keys === "string"
    ? invalid(keys)
    : { ok: true, keys, freshForMs: freshSeconds(response.headers) * 1000 };
}

/**
 * How long a key set is fresh, in seconds: the `max-age` of its `Cache-Control` minus its `Age`, at least 60 and at
 * most 600. So a host can neither cause a fetch for every token nor keep a withdrawn key in use.
 */
export function freshSeconds(headers: readonly HeaderPair[]): number {
  const named = cacheDirectives(headers);
  if (named.some(({ name }) => name === "no-store" || name === "no-cache")) return MIN_FRESH_SECONDS;
  const maxAge = named.find(({ name }) => name === "max-age");
  const lifetime = maxAge ? wholeSeconds(maxAge.value) : DEFAULT_FRESH_SECONDS;
  const fresh = lifetime - wholeSeconds(valuesOf(headers, "age")[0]);
  return Math.min(MAX_FRESH_SECONDS, Math.max(MIN_FRESH_SECONDS, fresh));
}

/** The directives of `Cache-Control`, in lower case. */
export function cacheDirectives(headers: readonly HeaderPair[]): { name: string; value: string }[] {
  return valuesOf(headers, "cache-control")
    .flatMap((value) => value.toLowerCase().split(","))
    .map(nameAndValue);
}

/** The name and the value of a directive. No regular expression: one that skips blanks is quadratic in their number. */
function nameAndValue(directive: string): { name: string; value: string } {
  const at = directive.indexOf("=");
  if (at < 0) return { name: directive.trim(), value: "" };
  return { name: directive.slice(0, at).trim(), value: directive.slice(at + 1) };
}

/** The seconds of a header's value; 0 for a value that is not a number. */
export function wholeSeconds(text: string | undefined): number {
  const digits = /^"?([0-9]+)"?$/.exec(text?.trim() ?? "")?.[1];
  return digits === undefined ? 0 : Number(digits);
}

function valuesOf(headers: readonly HeaderPair[], wanted: string): string[] {
  return headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
}

function unavailable(detail: string): FetchedKeys {
  return { ok: false, code: "KEY_SET_UNAVAILABLE", detail };
}

function invalid(what: string): FetchedKeys {
  return { ok: false, code: "KEY_SET_INVALID", detail: `the key set has ${what}` };
}

/** The URL of a key set in canonical form; throws KEY_SET_URL_REFUSED for one that must not be fetched. */
function checkKeySetUrl(text: string, rules: KeySetUrlRules): string {
  const url = wholeUrl(String(text), refused);
  const { allowedHosts } = rules;
  if (allowedHosts && !allowedHosts.some((host) => host.toLowerCase() === url.hostname))
    throw refused("has a host that is not in allowedHosts");
  checkScheme(url, rules.allowInsecureLoopback ?? false);
  checkAddress(url, rules);
  return url.href;
}

function checkScheme(url: URL, allowInsecureLoopback: boolean): void {
  if (url.protocol === "https:") return;
  if (url.protocol !== "http:") throw refused("must start with https://");
  if (!allowInsecureLoopback || !isLoopbackHost(url.hostname))
    throw refused("must start with https://; plain http is for loopback, and only where it is allowed");
}

/** Checks an address in the URL itself; what a host name resolves to is checked when it is connected to. */
function checkAddress({ hostname, protocol }: URL, rules: KeySetUrlRules): void {
  const policy = publicAddresses(rules.allowedCidrs);
  if (rules.allowPrivateNetwork ?? protocol === "http:") return;
  try {
    policy.checkHost(hostname);
  } catch {
    throw refused("leads to a private or reserved address, and those are not allowed here");
  }
}

function refused(reason: string): HookproofError {
  return new HookproofError("KEY_SET_URL_REFUSED", `The key set's URL ${reason}.`);
}
