import { createTransport } from "#transport";
import { HookproofError } from "../errors.js";
import type { Transport, TransportResponse } from "../http/transport.js";
import { parseJson } from "../protocol/json.js";
import { freshSeconds } from "./freshness.js";
import { checkKeySetUrl, type KeySetUrlRules } from "./key-set-url.js";
import { type KeyRules, type VerificationKeys, verificationKeys } from "./verification-keys.js";

/** A fetch of a key set ends after this long, from the name's look-up to the last byte. */
const FETCH_TIMEOUT_MS = 5_000;
/** A transport of somebody else's that ignores its time is not waited for any longer. */
const PATIENCE_MS = 250;
/** A key set is read up to here. */
export const MAX_KEY_SET_BYTES = 65_536;

/** Options of `remoteKeys`. */
export interface RemoteKeysOptions extends KeyRules, KeySetUrlRules {
  /** A transport of your own, for a proxy or a CA of your own; the rules on addresses are then its affair. */
  readonly transport?: Transport | undefined;
}

/** What a fetch brought: the keys and how long they are fresh, or why there are none. */
export type FetchedKeys =
  | { readonly ok: true; readonly keys: VerificationKeys; readonly freshForMs: number }
  | { readonly ok: false; readonly code: "KEY_SET_UNAVAILABLE" | "KEY_SET_INVALID"; readonly detail: string };

/** A function that fetches one key set under every limit; whatever goes wrong is an answer, not a throw. */
export function keySetFetcher(url: string, options: RemoteKeysOptions): () => Promise<FetchedKeys> {
  const get = keySetRequest(url, options);
  return async () => {
    try {
      return readKeySet(await get(), options);
    } catch (error) {
      return unavailable(error instanceof HookproofError ? error.message : "the transport failed");
    }
  };
}

/** A function that asks for a key set's document, and gives the answer whatever it is. */
export function keySetRequest(url: string, options: RemoteKeysOptions): () => Promise<TransportResponse> {
  const { transport: own, allowedCidrs } = options;
  const href = checkKeySetUrl(url, own ? { allowPrivateNetwork: true, ...options } : options);
  const allowPrivateNetwork = options.allowPrivateNetwork ?? href.startsWith("http:");
  const transport = own ?? createTransport({ allowPrivateNetwork, allowedCidrs });
  const request = {
    method: "GET",
    url: href,
    headers: [["Accept", "application/jwk-set+json, application/json"]] as const,
    timeoutMs: FETCH_TIMEOUT_MS,
    maxResponseBytes: MAX_KEY_SET_BYTES,
  };
  return () => inTime(transport, request);
}

function inTime(transport: Transport, request: Parameters<Transport>[0]): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const late = new HookproofError("TIMED_OUT", `No complete answer within ${FETCH_TIMEOUT_MS} ms.`);
    const timer = setTimeout(() => reject(late), FETCH_TIMEOUT_MS + PATIENCE_MS);
    const settled = () => clearTimeout(timer);
    Promise.resolve()
      .then(() => transport(request))
      .then(resolve, reject)
      .finally(settled);
  });
}

function readKeySet(response: TransportResponse, rules: KeyRules): FetchedKeys {
  if (response.status !== 200) return unavailable(`the host answered ${response.status}`);
  if (response.truncated || response.body.length > MAX_KEY_SET_BYTES)
    return invalid(`more than ${MAX_KEY_SET_BYTES} bytes`);
  const parsed = parseJson(response.body);
  const keys = parsed.ok ? verificationKeys(parsed.value, rules) : "a body that is not JSON";
  return typeof keys === "string"
    ? invalid(keys)
    : { ok: true, keys, freshForMs: freshSeconds(response.headers) * 1000 };
}

function unavailable(detail: string): FetchedKeys {
  return { ok: false, code: "KEY_SET_UNAVAILABLE", detail };
}

function invalid(what: string): FetchedKeys {
  return { ok: false, code: "KEY_SET_INVALID", detail: `the key set has ${what}` };
}
