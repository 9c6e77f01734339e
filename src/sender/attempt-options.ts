// Checks how a listener is reached, and prepares attempts at it.
import { createTransport } from "#transport";
import { type Clock, MAX_TIMER_MS } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import type { OptionNames } from "../core/options.js";
import type { Transport, TransportOptions } from "../http/transport.js";
import type { Scheme, Signer } from "../schemes/scheme.js";
import { type Attempt, createAttempt } from "./attempt.js";
import type { Observer } from "./observe.js";
import { extraHeaders, targetUrl } from "./sign-request.js";

/** How a listener is reached, and how requests to it are signed. */
export interface AttemptOptions extends TransportOptions {
  /**
   * The listener's URL, `{base_url}/api/v1/webhooks/incoming/{listener_id}`; any URL for a signer of another scheme.
   * HTTPS, or HTTP on loopback.
   */
  url: string;
  /** `hmacSigner(...)` or `jwtSigner(...)`, or the signer of another scheme. */
  signer: Signer;
  /** How long one attempt may take; 10,000 ms by default. */
  attemptTimeoutMs?: number | undefined;
  /** An HTTP transport of your own instead of the library's. */
  transport?: Transport | undefined;
  /** Headers to send along; the protocol's own cannot be set. */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * For development: hosts to which plain HTTP is allowed besides loopback, such as `["app", "*.localhost"]`. Anyone who is on
   * the way to them can read the events and, for five minutes, send them elsewhere. Only names that no public DNS has: of
   * one part, as containers have them, and under `.localhost`, `.internal`, `.local` and `.test`.
   */
  plainHttpHosts?: readonly string[] | undefined;
}

/** The names of `AttemptOptions`. */
export const ATTEMPT_OPTIONS: OptionNames<AttemptOptions> = {
  url: 1,
  signer: 1,
  attemptTimeoutMs: "number",
  transport: "function",
  headers: "object",
  plainHttpHosts: "texts",
  allowPrivateNetwork: "boolean",
  allowedCidrs: "texts",
  agent: "object",
  connectTimeoutMs: "number",
};

/** A listener's URL, with the function that makes an attempt at it. */
export interface Attempts {
  readonly url: string;
  readonly scheme: Scheme;
  readonly attempt: Attempt;
  readonly attemptTimeoutMs: number;
}

/** Checks the options and prepares attempts at one listener. Nothing is connected to yet. */
export function prepareAttempts(
  options: AttemptOptions,
  { clock, observe }: { clock: Clock; observe: Observer | undefined },
): Attempts {
  const { signer, attemptTimeoutMs = 10_000 } = options;
  if (typeof signer?.sign !== "function" || typeof signer.scheme?.classify !== "function")
    throw new TypeError("signer must be hmacSigner(...), jwtSigner(...) or the signer of another scheme");
  const { scheme } = signer;
  const url = targetUrl(scheme, options.url, options.plainHttpHosts);
  if (!(attemptTimeoutMs > 0 && attemptTimeoutMs <= MAX_TIMER_MS))
    throw new RangeError(`attemptTimeoutMs must be above 0 and at most ${MAX_TIMER_MS}`);
  const attempt = createAttempt({
    url,
    scheme,
    signer,
    transport: transportOf(options),
    clock,
    headers: extraHeaders(scheme, options.headers),
    observe,
  });
  for (const message of signer.warnings ?? []) observe?.({ type: "warning", url, message });
  return { url, scheme, attempt, attemptTimeoutMs };
}

/** The caller's transport, or ours. An option that only ours can obey is refused, and not ignored. */
function transportOf(options: AttemptOptions): Transport {
  if (!options.transport) return createTransport(options);
  for (const name of ["allowPrivateNetwork", "allowedCidrs", "connectTimeoutMs", "agent"] as const) {
    if (options[name] !== undefined)
      throw new TypeError(`${name} cannot be combined with transport, which connects by itself`);
  }
  return timely(options.transport);
}

/** What a transport may take beyond its time limit, which it should heed itself. */
const EXTRA_TIME_MS = 2_000;

/** What it may take to end after the signal: one that heeds it says how far it had come. */
const END_MS = 250;

/** A caller's own transport may ignore its time limit and the signal: a delivery must not wait for it without end. */
function timely(transport: Transport): Transport {
  return async (request) => {
    const { timeoutMs, signal } = request;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        const endIn = (ms: number) => {
          clearTimeout(timer);
          timer = setTimeout(() => {
            const late = signal?.aborted
              ? new HookproofError("ABORTED", "Interrupted; the transport did not end.")
              : new HookproofError("TIMED_OUT", `No complete answer within ${Math.ceil(timeoutMs)} ms.`);
            reject(late);
          }, ms);
        };
        endIn(Math.min(timeoutMs + EXTRA_TIME_MS, MAX_TIMER_MS));
        if (signal) {
          onAbort = () => endIn(END_MS);
          signal.addEventListener("abort", onAbort, { once: true });
          if (signal.aborted) onAbort();
        }
        Promise.resolve(transport(request)).then(resolve, reject);
      });
    } finally {
      clearTimeout(timer);
      if (onAbort) signal?.removeEventListener("abort", onAbort);
    }
  };
}
