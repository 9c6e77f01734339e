import { createTransport, KEEPS_HEADER_LINES } from "#transport";
import { HookproofError } from "../errors.js";
import type { ConnectionAgent, Transport } from "../http/transport.js";
import type { SigningKey } from "../jwt/key.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { listenerUrl, parseBaseUrl, parseListenerUrl } from "../protocol/listener-url.js";
import { inOrder } from "../sender/send-many.js";
import { HMAC_BATTERY, JWT_BATTERY, type ProbeSelection, selectRecipes } from "./battery.js";
import type { Craft, Scene } from "./craft.js";
import { hmacCrafts } from "./hmac-craft.js";
import { jwtCrafts } from "./jwt-craft.js";
import type { Recipe } from "./recipe.js";
import { type ProbeResult, runProbe, type Surroundings } from "./run-probe.js";

/** A listener that is probed, with what a correct sender would have. */
export interface ProbeTarget {
  /** The listener's URL. Plain HTTP is for loopback. */
  readonly url: string;
  readonly auth:
    | { readonly method: "hmac"; readonly secret: string }
    | ({
        readonly method: "jwt";
        /** The claim `sub`; by default the URL up to `/api/v1/webhooks/incoming/`. */
        readonly baseUrl?: string | undefined;
      } & SigningKey);
}

/** Options of `runProbes`. */
export interface RunProbesOptions extends ProbeSelection {
  /** Run the probes for which a correct listener runs its automation; false by default, and they are skipped. */
  readonly allowTrigger?: boolean | undefined;
  /** How many probes are under way at once; 4 by default. */
  readonly concurrency?: number | undefined;
  /** End after the first failure. */
  readonly bail?: boolean | undefined;
  /** For one request; 10,000 ms by default. */
  readonly timeoutMs?: number | undefined;
  /** Sends the requests instead of the library's own transport; header lines as they are, one name perhaps twice. */
  readonly transport?: Transport | undefined;
  /** Node only: an agent for a proxy, a CA of your own or client certificates. */
  readonly agent?: ConnectionAgent | undefined;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends the battery of probes to a listener and yields each result, in the order of `selectProbes`. A listener
 * that fails a probe may have run its automation for it.
 *
 * @throws {HookproofError} LISTENER_URL_INVALID, TLS_REQUIRED, SECRET_INVALID, KEY_UNFIT, BASE_URL_MISMATCH,
 * ABORTED; CONNECTION_FAILED, TLS_FAILED or TIMED_OUT where no probe has had an answer yet
 * @throws {RangeError} for a pattern that fits no probe, or a concurrency below 1
 *
 * @example
 * ```ts
 * import { runProbes } from "hookproof/probes";
 *
 * const target = {
 *   url: "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local",
 *   auth: { method: "hmac", secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" },
 * } as const;
 * for await (const { id, outcome, fix } of runProbes(target, { only: "timestamp-*" })) {
 *   if (outcome === "fail") console.error(id, fix);
 * }
 * ```
 */
export async function* runProbes(
  target: ProbeTarget,
  options: RunProbesOptions = {},
): AsyncGenerator<ProbeResult, void, undefined> {
  const { auth } = target;
  if (auth?.method === "hmac") {
    yield* runBattery(HMAC_BATTERY, hmacCrafts(auth.secret), target, options);
  } else if (auth?.method === "jwt") {
    yield* runBattery(JWT_BATTERY, await jwtCrafts(auth), target, options);
  } else throw new TypeError("target.auth.method must be hmac or jwt");
}

async function* runBattery<Kit extends Craft>(
  battery: readonly Recipe<Kit>[],
  craftFor: (scene: Scene) => Kit,
  target: ProbeTarget,
  { concurrency = 4, bail = false, ...options }: RunProbesOptions,
): AsyncGenerator<ProbeResult, void, undefined> {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError("concurrency must be a whole number of at least 1");
  const surroundings: Surroundings = {
    ...addressOf(target),
    allowTrigger: options.allowTrigger === true,
    transport: options.transport ?? createTransport({ agent: options.agent }),
    keepsHeaderLines: options.transport !== undefined || KEEPS_HEADER_LINES,
    clock: options.clock ?? systemClock,
    timeoutMs: options.timeoutMs ?? 10_000,
    signal: options.signal,
    progress: { answered: false },
  };
  const recipes = selectRecipes(battery, options);
  const results = inOrder(recipes, { concurrency, signal: options.signal }, (recipe) =>
    runProbe(recipe, craftFor, surroundings),
  );
  for await (const result of results) {
    yield result;
    if (bail && result.outcome === "fail") return;
  }
  if (options.signal?.aborted) throw new HookproofError("ABORTED", "The caller aborted the probes.");
}

function addressOf({ url, auth }: ProbeTarget): Pick<Scene, "url" | "baseUrl"> {
  const listener = parseListenerUrl(url);
  const given = auth.method === "jwt" && auth.baseUrl !== undefined ? parseBaseUrl(auth.baseUrl) : undefined;
  if (given !== undefined && listenerUrl(given, listener.listenerId) !== listener.href)
    throw new HookproofError(
      "BASE_URL_MISMATCH",
      `${listener.href} is not a listener under the base URL ${given}.`,
    );
  return { url: listener.href, baseUrl: listener.baseUrl };
}
