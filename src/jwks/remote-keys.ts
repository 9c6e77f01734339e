import { type Clock, systemClock, timeOf } from "../core/clock.js";
import type { KeyResolver, ResolvedKey } from "../jwt/verify.js";
import { type FetchedKeys, keySetFetcher, type RemoteKeysOptions } from "./fetch-key-set.js";
import type { VerificationKeys } from "./verification-keys.js";

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
  options: RemoteKeysOptions & { clock?: Clock | undefined } = {},
): KeyResolver {
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
