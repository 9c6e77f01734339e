// Lists the probes, selects among them and runs them in order.
import { createTransport, KEEPS_HEADER_LINES } from "#transport";
import { type Clock, steadySleep, systemClock } from "../../core/clock.js";
import { HookproofError } from "../../core/errors.js";
import { checkOptions, checkWholeNumber, type OptionNames } from "../../core/options.js";
import type { ConnectionAgent, Transport } from "../../http/transport.js";
import type { SigningKey } from "../../jwt/key.js";
import {
  checkPlainHttpHosts,
  listenerUrl,
  parseBaseUrl,
  parseListenerUrl,
} from "../../schemes/access-governance/listener-url.js";
import { inOrder } from "../../sender/send-many.js";
import { Pace } from "./pace.js";
import type { AuthenticationMethod, Probe, ProbeDefinition } from "./probe.js";
import {
  type HmacKit,
  hmacKits,
  type RequestFacts,
  type RequestKit,
  type TokenKit,
  tokenKits,
} from "./requests.js";
import { type ProbeResult, type ProbeRun, sendProbe } from "./send-probe.js";
import { ACCEPTANCE_PROBES, REPLAY_PROBES } from "./tables/acceptance-probes.js";
import { BODY_PROBES } from "./tables/body-probes.js";
import { CLAIM_PROBES } from "./tables/claim-probes.js";
import { HEADER_PROBES } from "./tables/header-probes.js";
import { ORDER_PROBES } from "./tables/order-probes.js";
import { SIGNATURE_PROBES } from "./tables/signature-probes.js";
import { TOKEN_PROBES } from "./tables/token-probes.js";

const FOR_BOTH: readonly ProbeDefinition[] = [
  ...ACCEPTANCE_PROBES,
  ...REPLAY_PROBES,
  ...HEADER_PROBES,
  ...BODY_PROBES,
  ...ORDER_PROBES,
];
const FOR_TOKENS: readonly ProbeDefinition<TokenKit>[] = [...TOKEN_PROBES, ...CLAIM_PROBES];

/** The test suite for HMAC listeners, in the order in which it is sent. */
export const HMAC_SUITE: readonly ProbeDefinition<HmacKit>[] = [...FOR_BOTH, ...SIGNATURE_PROBES];

/** The test suite for JWT listeners, in the order in which it is sent. */
const JWT_SUITE: readonly ProbeDefinition<TokenKit>[] = [...FOR_BOTH, ...FOR_TOKENS];

/**
 * Every probe, as data: what it sends, what a correct listener answers, and whether it runs the automation. The page
 * docs/probes.md is made from it.
 *
 * @example
 * ```ts
 * import { probes } from "hookproof/probes";
 *
 * const harmless = probes.filter(({ runsAutomation }) => !runsAutomation);
 * ```
 */
export const probes: readonly Probe[] = [
  ...FOR_BOTH.map((probe) => factsOf(probe, ["hmac", "jwt"])),
  ...SIGNATURE_PROBES.map((probe) => factsOf(probe, ["hmac"])),
  ...FOR_TOKENS.map((probe) => factsOf(probe, ["jwt"])),
];

/** Which probes to use, by id; all of them by default. In a pattern `*` stands for any text. */
export interface ProbeFilter {
  /** Use only the probes that fit one of these patterns, such as `timestamp-*`. */
  readonly only?: string | readonly string[] | undefined;
  /** Leave out the probes that fit one of these patterns. */
  readonly skip?: string | readonly string[] | undefined;
}

export const FILTER: OptionNames<ProbeFilter> = { only: 1, skip: 1 };

/**
 * The probes that fit a filter, in the order in which they are sent.
 *
 * @param filter which ones, and the `method` of the listener; without a method the probes of both
 *
 * @throws {RangeError} for a pattern in `only` or `skip` that fits no probe
 *
 * @example
 * ```ts
 * import { selectProbes } from "hookproof/probes";
 *
 * selectProbes({ method: "hmac", only: "timestamp-*" }).length;
 * ```
 */
export function selectProbes(
  filter: ProbeFilter & {
    /** How the listener authenticates requests; probes for both without it. */
    readonly method?: AuthenticationMethod | undefined;
  },
): Probe[] {
  checkOptions("selectProbes", filter, { ...FILTER, method: "string" });
  const { method } = filter;
  return selectFrom(
    method === undefined ? probes : probes.filter(({ methods }) => methods.includes(method)),
    filter,
  );
}

/** The probes of a list that fit a filter, in its order. */
export function selectFrom<Item extends { readonly id: string }>(
  all: readonly Item[],
  { only, skip = [] }: ProbeFilter,
): Item[] {
  for (const [name, patterns] of Object.entries({ only: only === undefined ? [] : only, skip })) {
    if ([patterns].flat().some((pattern) => typeof pattern !== "string"))
      throw new TypeError(`${name} must be a pattern, or a list of them`);
    const unused = [patterns].flat().find((pattern) => !all.some(({ id }) => fits(id, pattern)));
    if (unused !== undefined)
      throw new RangeError(`${name} has a pattern that fits no probe: ${JSON.stringify(unused)}`);
  }
  return all.filter(({ id }) => (only === undefined || fits(id, only)) && !fits(id, skip));
}

/** Whether a text fits one of the patterns, in which `*` stands for any text. */
function fits(text: string, patterns: string | readonly string[]): boolean {
  return [patterns].flat().some((pattern) => fitsOne(text, pattern));
}

function fitsOne(text: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

function factsOf(probe: Omit<Probe, "methods">, methods: readonly AuthenticationMethod[]): Probe {
  const { id, title, section, expected, runsAutomation, listenerChoice, decision, means, fix } = probe;
  const facts = { id, title, methods, section, expected, runsAutomation, listenerChoice, means, fix };
  return decision === undefined ? facts : { ...facts, decision };
}

/** The listener to test, with the secret or key of a correct sender. */
export interface ProbeTarget {
  /** The listener's URL. Plain HTTP is allowed on loopback, and for `plainHttpHosts`. */
  readonly url: string;
  /** Names to which plain HTTP is allowed besides loopback, in development; see `createSender`. */
  readonly plainHttpHosts?: readonly string[] | undefined;
  /** The method of the listener, with its secret, or with a signing key whose public half is in its key set. */
  readonly auth:
    | { readonly method: "hmac"; readonly secret: string }
    | ({
        readonly method: "jwt";
        /** The claim `sub`; by default the URL up to `/api/v1/webhooks/incoming/`. */
        readonly baseUrl?: string | undefined;
      } & SigningKey);
}

/** Options of `runProbes`. */
export interface RunProbesOptions extends ProbeFilter {
  /** Send also the probes for which a correct listener runs its automation; false by default: they are skipped. */
  readonly allowTrigger?: boolean | undefined;
  /** How many probes are sent at the same time; 4 by default. */
  readonly concurrency?: number | undefined;
  /** End after the first failure. */
  readonly bail?: boolean | undefined;
  /** The time limit of one request in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Sends the requests in place of the library's transport. It must send header lines as they are, also a name twice. */
  readonly transport?: Transport | undefined;
  /** Node only: an agent, for a proxy, your own certificate authority or client certificates. */
  readonly agent?: ConnectionAgent | undefined;
  /** How to wait where the listener answers 429 (at most 2 minutes in a run); by the system's clock by default. */
  readonly wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** The clock for timestamps and tokens; the system's by default. */
  readonly clock?: Clock | undefined;
  /** Ends the run with the error ABORTED. */
  readonly signal?: AbortSignal | undefined;
}

/** Refuses options that no run of probes has. */
export function checkRun(
  what: string,
  options: RunProbesOptions,
  more: Readonly<Record<string, "function">> = {},
): void {
  const known = {
    ...FILTER,
    allowTrigger: "boolean",
    concurrency: "number",
    bail: "boolean",
    timeoutMs: "number",
    transport: "function",
    agent: "object",
    wait: "function",
    clock: ".now",
    signal: ".addEventListener",
  } satisfies OptionNames<RunProbesOptions>;
  checkOptions(what, options, { ...known, ...more });
}

/**
 * Sends the test suite to a listener and yields each result, in the order of `selectProbes`. A listener that fails a
 * probe may have run its automation for it.
 *
 * @throws {HookproofError} LISTENER_URL_INVALID, TLS_REQUIRED, SECRET_INVALID, KEY_UNFIT, BASE_URL_MISMATCH,
 * ABORTED; CONNECTION_FAILED, TLS_FAILED or TIMED_OUT if no probe was answered before
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
  checkRun("runProbes", options);
  const { auth } = target;
  if (auth?.method === "hmac") {
    yield* runSuite(HMAC_SUITE, hmacKits(auth.secret), addressOf(target), options);
  } else if (auth?.method === "jwt") {
    yield* runSuite(JWT_SUITE, await tokenKits(auth), addressOf(target), options);
  } else throw new TypeError("target.auth.method must be hmac or jwt");
}

/** Sends the probes of a suite that the options select, and yields their results in its order. */
export async function* runSuite<Kit extends RequestKit>(
  suite: readonly ProbeDefinition<Kit>[],
  kitFor: (facts: RequestFacts) => Kit,
  address: Pick<RequestFacts, "url" | "baseUrl">,
  { concurrency = 4, bail = false, ...options }: RunProbesOptions,
): AsyncGenerator<ProbeResult, void, undefined> {
  checkWholeNumber("concurrency", concurrency);
  const run = runAt(address, options);
  const selected = selectFrom(suite, options);
  const results = inOrder(selected, { concurrency, signal: options.signal }, (probe) =>
    sendProbe(probe, kitFor, run),
  );
  for await (const result of results) {
    yield result;
    if (bail && result.outcome === "fail") return;
  }
  throwIfAborted(options);
}

/** Ends what was interrupted: what came until then is no result of the whole. */
export function throwIfAborted({ signal }: Pick<RunProbesOptions, "signal">): void {
  if (signal?.aborted) throw new HookproofError("ABORTED", "Interrupted: the probes were stopped.");
}

/** What all requests of one run share, from the options. */
export function probeRun(target: ProbeTarget, options: RunProbesOptions): ProbeRun {
  return runAt(addressOf(target), options);
}

function runAt(address: Pick<RequestFacts, "url" | "baseUrl">, options: RunProbesOptions): ProbeRun {
  const { clock = systemClock, signal } = options;
  const wait = steadySleep(options.wait);
  return {
    ...address,
    allowTrigger: options.allowTrigger === true,
    transport: options.transport ?? createTransport({ agent: options.agent }),
    keepsHeaderLines: options.transport !== undefined || KEEPS_HEADER_LINES,
    clock,
    timeoutMs: options.timeoutMs ?? 10_000,
    signal,
    pace: new Pace(clock, (ms) => wait(ms, signal)),
    progress: { answered: false },
  };
}

function addressOf({ url, auth, plainHttpHosts }: ProbeTarget): Pick<RequestFacts, "url" | "baseUrl"> {
  checkPlainHttpHosts(plainHttpHosts);
  const listener = parseListenerUrl(url, plainHttpHosts);
  const given = auth.method === "jwt" && auth.baseUrl !== undefined ? parseBaseUrl(auth.baseUrl) : undefined;
  if (given !== undefined && listenerUrl(given, listener.listenerId) !== listener.href)
    throw new HookproofError(
      "BASE_URL_MISMATCH",
      `${listener.href} is not a listener under the base URL ${given}.`,
    );
  return { url: listener.href, baseUrl: listener.baseUrl };
}
