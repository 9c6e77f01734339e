// Sends requests over Node's HTTP within limits.
import type { Agent as HttpAgent } from "node:http";
import { setImmediate } from "node:timers";
import { isLoopbackHost } from "../../core/address.js";
import type { HookproofError } from "../../core/errors.js";
import { checkOptions, type OptionNames } from "../../core/options.js";
import {
  aborted,
  asUnsent,
  missingHeaders,
  publicAddresses,
  type Transport,
  type TransportOptions,
  type TransportRequest,
} from "../transport.js";
import { boundTunnels } from "./bytes-ahead.js";
import { keptAgents, loadedHttp, loadHttp, unkeptAgents } from "./connections.js";
import { isOver, runExchange, type Target } from "./exchange.js";
import { guardedLookup, type Resolve } from "./guarded-lookup.js";
import { timedOut } from "./transport-errors.js";

/** Whether header lines are sent as they are, one name standing twice included. */
export const KEEPS_HEADER_LINES: boolean = true;

/**
 * A transport over `node:http` and `node:https` that keeps connections alive. An answer counts only if it came over
 * the host's own connection: for an `https:` URL every answer of a proxy that opens no tunnel is PROXY_FAILED.
 *
 * @param resolve the look-up beneath the address guard
 */
export function createTransport(options: TransportOptions = {}, resolve?: Resolve): Transport {
  const { connectTimeoutMs = 5_000, allowedCidrs, agent } = options;
  const policy = options.allowPrivateNetwork === false ? publicAddresses(allowedCidrs) : undefined;
  if (policy && agent)
    throw new TypeError("agent cannot be combined with allowPrivateNetwork: false, as it connects by itself");
  const connect = policy ? { lookup: guardedLookup({ allowedCidrs, resolve }) } : {};
  const own = agent && { "http:": agent, "https:": agent };
  let pools: Readonly<Record<"http:" | "https:", object>> | undefined = own;
  const proxied = agent !== undefined && "proxy" in agent;
  if (agent) boundTunnels(agent);
  // A sender has one URL; to read it again for each request is 3 % of what one costs.
  let last: Target | undefined;

  return async (request) => {
    const endsAt = performance.now() + request.timeoutMs;
    const http = loadedHttp() ?? (await loadHttp());
    pools ??= keptAgents(http, connect);
    await nextTurn();
    if (request.signal?.aborted) throw asUnsent(aborted());
    if (last?.url !== request.url) last = targetOf(request.url);
    const target = last;
    const { protocol, host, port, path, authority } = target;
    policy?.checkHost(host);
    const send = http[protocol].request;
    const headers = headerLines(request, authority);
    const { method } = request;
    const exchange = (pool: object, sentBefore = false) => {
      if (isOver(endsAt)) throw tooLate(request, sentBefore);
      const req = send({ protocol, host, port, path, method, headers, agent: pool as HttpAgent });
      return runExchange(req, request, {
        target,
        connectTimeoutMs,
        endsAt,
        agent: pool,
        proxied,
        sentBefore,
      });
    };
    const outcome = await exchange(pools[protocol]);
    if (!("stale" in outcome)) return outcome;
    // A kept connection was closed under the request before anything came back: once more, on a new one.
    const fresh = await exchange((own ?? unkeptAgents(http, connect))[protocol], true);
    if ("stale" in fresh) throw fresh.stale;
    return { ...fresh, resent: true };
  };
}

const NAMES: OptionNames<TransportOptions> = {
  allowPrivateNetwork: "boolean",
  allowedCidrs: "texts",
  agent: "object",
  connectTimeoutMs: "number",
};

/**
 * The library's own transport on Node, for a transport of your own that adds to it, or for other requests under the
 * same rules: limits on time and size, no redirects, and no answer of a proxy is taken for the host's.
 *
 * @throws {TypeError} for `agent` together with `allowPrivateNetwork: false`
 * @throws {HookproofError} CIDR_INVALID
 *
 * @example
 * ```ts
 * import type { Transport } from "hookproof";
 * import { nodeTransport } from "hookproof/node";
 *
 * const send = nodeTransport({ allowPrivateNetwork: false });
 * const timed: Transport = async (request) => {
 *   const startedAt = performance.now();
 *   const response = await send(request);
 *   console.log(response.status, performance.now() - startedAt);
 *   return response; // with `authenticated`, so that the sender may believe its Date
 * };
 * ```
 */
export function nodeTransport(options: TransportOptions = {}): Transport {
  checkOptions("nodeTransport", options, NAMES);
  return createTransport(options);
}

let turn: Promise<void> | undefined;

/**
 * Gathers the requests of one turn of the event loop and starts them together in the next turn: the receiver then
 * wakes once for all of them. Without it, sending over loopback is a third slower (docs/decisions.md, S16).
 */
function nextTurn(): Promise<void> {
  turn ??= new Promise((resolve) =>
    setImmediate(() => {
      turn = undefined;
      resolve();
    }),
  );
  return turn;
}

/** By its URL as it was parsed: the text may begin with blanks or capitals. */
function targetOf(url: string): Target {
  const { protocol, hostname, port, pathname, search, host: authority } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") throw new TypeError("url must be http or https");
  const host = hostname.replace(/^\[|\]$/g, "");
  return { url, protocol, host, isLoopback: isLoopbackHost(host), port, path: pathname + search, authority };
}

/** The lines as a flat list, which Node writes as they are and without merging. */
function headerLines(request: TransportRequest, host: string): string[] {
  const lines = ["Host", host];
  for (const [name, value] of request.headers) lines.push(name, value);
  if (request.body) lines.push("Content-Length", String(request.body.length));
  for (const [name, value] of missingHeaders(request.headers)) lines.push(name, value);
  return lines;
}

/** The error of a request that is not sent, or not once more, as its time is over. */
function tooLate({ timeoutMs }: TransportRequest, sentBefore: boolean): HookproofError {
  const error = timedOut("complete answer", timeoutMs);
  return sentBefore ? error : asUnsent(error);
}
