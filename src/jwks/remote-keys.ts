import type { KeyResolver, ResolvedKey } from "../jwt/key-resolver.js";
import { type Clock, systemClock, timeOf } from "../primitives/clock.js";
import { type FetchedKeys, keySetFetcher, type RemoteKeysOptions } from "./fetch-key-set.js";
import type { VerificationKeys } from "./verification-keys.js";

const REST_AFTER_UNKNOWN_KID_MS = 30_000;
const REST_AFTER_FAILURE_MS = 10_000;
const STALE_FOR_MS = 10 * 60_000;

interface Held {
  keys: VerificationKeys;
  fetchedAt: number;
  freshUntil: number;
}

/**
 * A resolver over a key set that is fetched from its host and kept for as long as the host says, within 60 to
 * 600 s (specification 5.2, JWT method, step 3). HTTPS only, no redirects, 5 s, 64 KiB, 50 keys. Private and
 * reserved addresses are refused: on Node whatever a name leads to, at connect time; on other runtimes those in
 * the URL itself, so give `allowedHosts` there. An unknown kid fetches again, at most once in 30 s; after a
 * failure there are 10 s of rest, and the last good set serves for 10 minutes more. Nothing it meets makes it
 * throw: whatever goes wrong is a verdict.
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
  const { clock = systemClock } = options;
  const fetchKeySet = keySetFetcher(url, options);
  let held: Held | undefined;
  let rest = { from: 0, until: 0 };
  let lastFailure: Extract<FetchedKeys, { ok: false }> | undefined;
  let inFlight: Promise<void> | undefined;

  /** One fetch at a time; the rest it demands afterwards depends on how it ended and on what caused it. */
  function refresh(forUnknownKid: boolean): Promise<void> {
    inFlight ??= fetchKeySet()
      .then((fetched) => put(fetched, forUnknownKid))
      .finally(() => {
        inFlight = undefined;
      });
    return inFlight;
  }

  function put(fetched: FetchedKeys, forUnknownKid: boolean): void {
    const now = timeOf(clock);
    if (fetched.ok) held = { keys: fetched.keys, fetchedAt: now, freshUntil: now + fetched.freshForMs };
    lastFailure = fetched.ok ? undefined : fetched;
    if (forUnknownKid) restFor(REST_AFTER_UNKNOWN_KID_MS, now);
    if (!fetched.ok) restFor(REST_AFTER_FAILURE_MS, now);
  }

  function restFor(ms: number, now: number): void {
    rest = { from: now, until: Math.max(rest.until, now + ms) };
  }

  /** A clock that was put back ends the rest, and the life of what was fetched in its future. */
  function mayFetch(): boolean {
    const now = timeOf(clock);
    return inFlight !== undefined || now < rest.from || now >= rest.until;
  }

  function heldFor(extraMs: number): VerificationKeys | undefined {
    const now = timeOf(clock);
    return held && held.fetchedAt <= now && now < held.freshUntil + extraMs ? held.keys : undefined;
  }

  return {
    async resolve(kid, alg) {
      try {
        return await find(kid, alg);
      } catch {
        // Only the caller's clock can throw here.
        return { ok: false, code: "KEY_SET_UNAVAILABLE", detail: "the clock failed" };
      }
    },
  };

  async function find(...[kid, alg]: Parameters<KeyResolver["resolve"]>): Promise<ResolvedKey> {
    const wasFresh = heldFor(0) !== undefined;
    if (!wasFresh && mayFetch()) await refresh(false);
    const found = await heldFor(STALE_FOR_MS)?.find(kid, alg);
    if (found?.ok) return found;
    // The set may be older than the key: fetch again, unless this very call just did.
    if (wasFresh && mayFetch()) await refresh(true);
    else if (found) return found;
    return (await heldFor(STALE_FOR_MS)?.find(kid, alg)) ?? lastFailure ?? NOT_ASKED_AGAIN;
  }
}

const NOT_ASKED_AGAIN = {
  ok: false,
  code: "KEY_SET_UNAVAILABLE",
  detail: "the key set could not be fetched before, and is not asked for again yet",
} as const;
