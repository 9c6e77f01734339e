import type { KeyResolver } from "../jwt/key-resolver.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { keySetFetcher, type RemoteKeysOptions } from "./fetch-key-set.js";
import type { VerificationKeys } from "./verification-keys.js";

const REST_AFTER_UNKNOWN_KID_MS = 30_000;
const REST_AFTER_FAILURE_MS = 10_000;
const STALE_FOR_MS = 10 * 60_000;

interface Held {
  keys: VerificationKeys;
  freshUntil: number;
}

/**
 * A resolver over a key set that is fetched from its host and kept for as long as the host says, within 60 to
 * 600 s (specification 5.2, JWT method, step 3). HTTPS only, no redirects, 5 s, 64 KiB, 50 keys; private and
 * reserved addresses are refused at connect time. An unknown kid fetches again, at most once in 30 s; after a
 * failure there are 10 s of rest, and the last good set serves for 10 minutes more.
 *
 * @throws {HookproofError} KEY_SET_URL_REFUSED
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
  let restUntil = 0;
  let lastFailure: { code: "KEY_SET_UNAVAILABLE" | "KEY_SET_INVALID"; detail: string } | undefined;
  let inFlight: Promise<void> | undefined;

  /** One fetch at a time; the rest it demands afterwards depends on how it ended and on what caused it. */
  function refresh(forUnknownKid: boolean): Promise<void> {
    inFlight ??= fetchKeySet().then((fetched) => {
      const now = clock.now();
      if (fetched.ok) held = { keys: fetched.keys, freshUntil: now + fetched.freshForMs };
      lastFailure = fetched.ok ? undefined : fetched;
      if (forUnknownKid) restUntil = Math.max(restUntil, now + REST_AFTER_UNKNOWN_KID_MS);
      if (!fetched.ok) restUntil = Math.max(restUntil, now + REST_AFTER_FAILURE_MS);
      inFlight = undefined;
    });
    return inFlight;
  }

  function usable(): VerificationKeys | undefined {
    return held && clock.now() < held.freshUntil + STALE_FOR_MS ? held.keys : undefined;
  }

  return {
    async resolve(kid, alg) {
      const isFresh = held !== undefined && clock.now() < held.freshUntil;
      if (!isFresh && (inFlight || clock.now() >= restUntil)) await refresh(false);
      const found = await usable()?.find(kid, alg);
      if (found?.ok) return found;
      // The set may be older than the key: fetch again, unless this very call just did.
      const mayAsk = isFresh && (inFlight !== undefined || clock.now() >= restUntil);
      if (found && !mayAsk) return found;
      if (mayAsk) await refresh(true);
      return (
        (await usable()?.find(kid, alg)) ?? {
          ok: false,
          code: lastFailure?.code ?? "KEY_SET_UNAVAILABLE",
          detail:
            lastFailure?.detail ?? "the key set could not be fetched before, and is not asked again yet",
        }
      );
    },
  };
}
