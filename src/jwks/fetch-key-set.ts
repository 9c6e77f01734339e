import { createTransport } from "#transport";
import { HookproofError } from "../errors.js";
import type { Transport, TransportOptions, TransportResponse } from "../http/transport.js";
import { isLoopbackHost } from "../primitives/address.js";
import { parseJson } from "../protocol/json.js";
import { type KeyRules, type VerificationKeys, verificationKeys } from "./verification-keys.js";

const FETCH_TIMEOUT_MS = 5_000;
const MAX_KEY_SET_BYTES = 65_536;
const MIN_FRESH_SECONDS = 60;
const MAX_FRESH_SECONDS = 600;

/** Options of `remoteKeys`. */
export interface RemoteKeysOptions
  extends KeyRules,
    Pick<TransportOptions, "allowPrivateNetwork" | "allowedCidrs"> {
  /** Accept a plain `http://` URL on loopback, for development. */
  readonly allowInsecureLoopback?: boolean | undefined;
  /** A transport of your own; the address rules are then its affair. */
  readonly transport?: Transport | undefined;
}

/** What a fetch brought: the keys and how long they are fresh, or why there are none. */
export type FetchedKeys =
  | { readonly ok: true; readonly keys: VerificationKeys; readonly freshForMs: number }
  | { readonly ok: false; readonly code: "KEY_SET_UNAVAILABLE" | "KEY_SET_INVALID"; readonly detail: string };

/** A function that fetches one key set under every limit; whatever goes wrong is an answer, not a throw. */
export function keySetFetcher(url: string, options: RemoteKeysOptions): () => Promise<FetchedKeys> {
  const href = checkUrl(url, options.allowInsecureLoopback ?? false);
  const insecure = href.startsWith("http:");
  const transport =
    options.transport ??
    createTransport({
      allowPrivateNetwork: options.allowPrivateNetwork ?? insecure,
      allowedCidrs: options.allowedCidrs,
    });

  return async () => {
    try {
      return readKeySet(
        await transport({
          method: "GET",
          url: href,
          headers: [["Accept", "application/jwk-set+json, application/json"]],
          timeoutMs: FETCH_TIMEOUT_MS,
          maxResponseBytes: MAX_KEY_SET_BYTES,
        }),
        options,
      );
    } catch (error) {
      return unavailable(error instanceof HookproofError ? error.message : "the transport failed");
    }
  };
}

function readKeySet(response: TransportResponse, rules: KeyRules): FetchedKeys {
  if (response.status !== 200) return unavailable(`the host answered ${response.status}`);
  if (response.truncated) return invalid(`more than ${MAX_KEY_SET_BYTES} bytes`);
  const parsed = parseJson(response.body);
  const keys = parsed.ok ? verificationKeys(parsed.value, rules) : "a body that is not JSON";
  return typeof keys === "string"
    ? invalid(keys)
    : { ok: true, keys, freshForMs: freshSeconds(response) * 1000 };
}

function checkUrl(text: string, allowInsecureLoopback: boolean): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refused("is not an absolute URL");
  }
  if (url.username !== "" || url.password !== "") throw refused("must not carry credentials");
  if (url.protocol === "https:") return url.href;
  if (url.protocol !== "http:") throw refused("must start with https://");
  if (allowInsecureLoopback && isLoopbackHost(url.hostname)) return url.href;
  throw refused("must start with https://; plain http is for loopback, and only where it is allowed");
}

function refused(reason: string): HookproofError {
  return new HookproofError("KEY_SET_URL_REFUSED", `The key set's URL ${reason}.`);
}

function freshSeconds(response: TransportResponse): number {
  const control = response.headers
    .filter(([name]) => name.toLowerCase() === "cache-control")
    .map(([, value]) => value)
    .join(",");
  if (/\bno-(?:store|cache)\b/i.test(control)) return MIN_FRESH_SECONDS;
  const maxAge = /\bmax-age\s*=\s*"?([0-9]{1,9})/i.exec(control)?.[1];
  return Math.min(
    MAX_FRESH_SECONDS,
    Math.max(MIN_FRESH_SECONDS, maxAge === undefined ? 300 : Number(maxAge)),
  );
}

function unavailable(detail: string): FetchedKeys {
  return { ok: false, code: "KEY_SET_UNAVAILABLE", detail };
}

function invalid(what: string): FetchedKeys {
  return { ok: false, code: "KEY_SET_INVALID", detail: `the key set has ${what}` };
}
