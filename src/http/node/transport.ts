// Sends requests over Node's HTTP within limits.
import type { ClientRequest, Agent as HttpAgent, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import { isLoopbackHost } from "../../core/address.js";
import { HookproofError } from "../../core/errors.js";
import { headerPairs } from "../../core/headers.js";
import { checkOptions, type OptionNames } from "../../core/options.js";
import {
  asUnsent,
  missingHeaders,
  publicAddresses,
  type Transport,
  type TransportOptions,
  type TransportRequest,
  type TransportResponse,
} from "../transport.js";
import { boundTunnels, endTunnel, tooMuchAhead, watchBytesAhead } from "./bytes-ahead.js";
import {
  isAuthenticated,
  isEncrypted,
  keptAgents,
  loadedHttp,
  loadHttp,
  noteConnection,
  noteKeepAlive,
  unkeptAgents,
} from "./connections.js";
import { guardedLookup, type Resolve } from "./guarded-lookup.js";
import {
  aborted,
  isConnectionLost,
  limitAhead,
  nodeCode,
  proxyFailed,
  refusedStatus,
  timedOut,
  transportError,
} from "./transport-errors.js";

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
  // A sender has one URL; to read it anew for each request is 3 % of what one costs.
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

/** Where a request goes, by its URL as it was parsed: the text may begin with blanks or capitals. */
interface Target {
  readonly url: string;
  readonly protocol: "http:" | "https:";
  /** Without brackets. */
  readonly host: string;
  readonly isLoopback: boolean;
  readonly port: string;
  readonly path: string;
  /** Host and port as the `Host` header has them. */
  readonly authority: string;
}

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

function isOver(endsAt: number): boolean {
  return performance.now() >= endsAt;
}

/** The error of a request that is not sent, or not once more, as its time is over. */
function tooLate({ timeoutMs }: TransportRequest, sentBefore: boolean): HookproofError {
  const error = timedOut("complete answer", timeoutMs);
  return sentBefore ? error : asUnsent(error);
}

interface ExchangeBounds {
  readonly target: Target;
  readonly connectTimeoutMs: number;
  /** When the time is over, by `performance.now()`. */
  readonly endsAt: number;
  readonly agent: object;
  /** The agent goes through a proxy. */
  readonly proxied: boolean;
  /** An earlier copy of the request may have reached the host. */
  readonly sentBefore: boolean;
}

function runExchange(
  req: ClientRequest,
  request: TransportRequest,
  { target, connectTimeoutMs, endsAt, agent, proxied, sentBefore }: ExchangeBounds,
): Promise<TransportResponse | { stale: HookproofError }> {
  const { url } = request;
  const overTls = target.protocol === "https:";
  return new Promise((resolve, reject) => {
    let connectTimer: NodeJS.Timeout | undefined;
    let unwatch: (() => void) | undefined;
    /** Something came back: the request has arrived, and must not be sent again. */
    let answered = false;
    /** Ends the exchange with the answer whose header section is whole, and whose body is not. */
    let endAnswer: ((bodyError: HookproofError) => void) | undefined;
    /** Whether there is a connection to the host itself, or one is being made; what the agent shows decides. */
    let isOwn = req.reusedSocket || !proxied;
    /** Whether something of the request may have reached the host. */
    let isSent = req.reusedSocket || sentBefore;
    const late = () => fail(timedOut("complete answer", request.timeoutMs));
    const totalTimer = setTimeout(late, Math.ceil(endsAt - performance.now()));
    const onAbort = () => fail(aborted());

    function settle(): void {
      clearTimeout(totalTimer);
      clearTimeout(connectTimer);
      unwatch?.();
      request.signal?.removeEventListener("abort", onAbort);
    }
    function fail(error: Error): void {
      settle();
      req.destroy();
      endTunnel(req);
      const mapped = explained(error);
      if (endAnswer) endAnswer(mapped);
      else if (req.reusedSocket && !answered && isConnectionLost(error)) resolve({ stale: mapped });
      else reject(isSent ? mapped : asUnsent(mapped));
    }
    function explained(error: Error): HookproofError {
      // Before the tunnel is open, every failure is the proxy's, whatever it looks like.
      if (!isOwn && !isDecided(error)) return proxyFailed(url, `could not be used (${nodeCode(error)})`);
      return transportError(error, url, proxied);
    }

    function unusable(status: number, socket: Socket): HookproofError | undefined {
      return overTls && !isEncrypted(socket)
        ? proxyFailed(url, `answered ${status}`)
        : refusedStatus(status, url);
    }

    request.signal?.addEventListener("abort", onAbort, { once: true });
    req.on("error", fail);
    const onSocket = (socket: Socket) => {
      isOwn = !overTls || isEncrypted(socket);
      // Nothing is written yet. A connection that cannot be written to has a proxy's refusal, which is read first.
      if (!isOwn && socket.writable) return fail(proxyFailed(url, "gave a connection without TLS"));
      // Through a tunnel, only the TLS handshake is missing.
      if (!socket.connecting && !("secureConnecting" in socket && socket.secureConnecting)) {
        isSent ||= isOwn;
        return;
      }
      connectTimer = setTimeout(() => fail(timedOut("connection", connectTimeoutMs)), connectTimeoutMs);
      const ready = "encrypted" in socket ? "secureConnect" : "connect";
      socket.once(ready, () => {
        clearTimeout(connectTimer);
        // A process that was stopped sees its connection first, and only then that the time is over.
        if (isOver(endsAt)) return late();
        isSent = true;
        noteConnection(socket, agent);
      });
    };

    req.on("socket", (socket) => {
      unwatch = watchBytesAhead(socket, () => fail(tooMuchAhead()));
      if (!req.reusedSocket) onSocket(socket);
    });
    const countAhead = limitAhead();
    req.on("information", ({ rawHeaders }) => {
      answered = true;
      const tooMuch = countAhead(rawHeaders.join("").length);
      if (tooMuch) fail(tooMuch);
    });
    req.on("upgrade", (_res, stream) => {
      const socket = stream as Socket;
      socket.destroy();
      fail(unusable(101, socket) as HookproofError);
    });
    req.on("response", (res) => {
      answered = true;
      unwatch?.();
      const { statusCode: status = 0, socket } = res;
      const refusal = unusable(status, socket);
      if (status === 407) isSent = sentBefore;
      if (refusal) return fail(refusal);
      const headers = headerPairs(res.rawHeaders);
      noteKeepAlive(socket, headers);
      const authenticated = isAuthenticated(socket, agent, target.isLoopback);
      const answer = { status, headers, authenticated };
      const read = readUpTo(res, request.maxResponseBytes, fail, (body, truncated) => {
        settle();
        resolve({ ...answer, body, truncated });
      });
      endAnswer = (bodyError) => resolve({ ...answer, body: read(), truncated: true, bodyError });
    });
    req.end(request.body);
  });
}

/** Whether an error itself shows its cause: an abort, a refused address, a proxy's answer. */
function isDecided(error: Error): boolean {
  return error instanceof HookproofError && error.code !== "TIMED_OUT" && error.code !== "RESPONSE_INVALID";
}

/** Reads a body; gives a function for what came of it so far. */
function readUpTo(
  res: IncomingMessage,
  limit: number,
  fail: (error: Error) => void,
  done: (body: Uint8Array, truncated: boolean) => void,
): () => Uint8Array {
  const chunks: Buffer[] = [];
  let length = 0;
  let finished = false;
  const read = () => {
    const [only] = chunks;
    const whole = only && chunks.length === 1 ? only : Buffer.concat(chunks);
    return length > limit ? whole.subarray(0, limit) : whole;
  };
  const finish = (truncated: boolean) => {
    if (finished) return;
    finished = true;
    done(read(), truncated);
  };
  res.on("data", (chunk: Buffer) => {
    if (finished) return;
    chunks.push(chunk);
    length += chunk.length;
    if (length <= limit) return;
    finish(true);
    res.destroy();
  });
  res.on("end", () => finish(false));
  res.on("error", (error) => {
    if (finished) return;
    finished = true;
    fail(error);
  });
  return read;
}
