import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import { HookproofError } from "../errors.js";
import { rememberLast } from "../primitives/remember-last.js";
import type { HeaderPair } from "../protocol/headers.js";
import { publicAddresses } from "./address-policy.js";
import { limitAhead, proxyFailed, refusedStatus } from "./answer.js";
import { tooMuchAhead, watchBytesAhead } from "./bytes-ahead-node.js";
import { guardedLookup, type Resolve } from "./guarded-lookup-node.js";
import { keptAgents, noteKeepAlive } from "./kept-agents-node.js";
import { isAuthenticated, isEncrypted, noteConnection } from "./own-connection-node.js";
import type { Transport, TransportOptions, TransportRequest, TransportResponse } from "./transport.js";
import { aborted, isConnectionLost, nodeCode, timedOut, transportError } from "./transport-errors-node.js";
import { boundTunnels, endTunnel } from "./tunnels-node.js";
import { asUnsent } from "./unsent.js";

/** Whether header lines are sent as they are, one name standing twice included. */
export const KEEPS_HEADER_LINES: boolean = true;

/**
 * A transport over `node:http` and `node:https` that keeps connections alive. An answer counts only if it came over
 * the host's own connection: for an `https:` URL whatever a proxy says instead of opening a tunnel is PROXY_FAILED.
 *
 * @param resolve the look-up beneath the address guard
 */
export function createTransport(options: TransportOptions = {}, resolve?: Resolve): Transport {
  const { connectTimeoutMs = 5_000, allowedCidrs, agent } = options;
  const policy = options.allowPrivateNetwork === false ? publicAddresses(allowedCidrs) : undefined;
  if (policy && agent)
    throw new TypeError("agent cannot be combined with allowPrivateNetwork: false, as it connects by itself");
  const connect = policy ? { lookup: guardedLookup({ allowedCidrs, resolve }) } : {};
  const pools = agent ? { "http:": agent, "https:": agent } : keptAgents(connect);
  const unkept = agent ? pools : unkeptAgents(connect);
  const proxied = agent !== undefined && "proxy" in agent;
  if (agent) boundTunnels(agent);
  const locate = rememberLast(targetOf); // a sender has only one

  return async (request) => {
    await nextTurn();
    if (request.signal?.aborted) throw asUnsent(aborted());
    const { protocol, host, port, path, authority } = locate(request.url);
    policy?.checkHost(host);
    const send = protocol === "https:" ? httpsRequest : httpRequest;
    const headers = headerLines(request, authority);
    const { method } = request;
    const startedAt = performance.now();
    const exchange = (pool: object, timeoutMs: number, sentBefore = false) => {
      // Few options, and without a spread: Node copies them several times, which is a tenth of a request's cost.
      const options = { host, port, path, method, headers, agent: pool as HttpAgent };
      // An agent of the caller's may want to know.
      const req = send(agent ? { ...options, protocol } : options);
      return runExchange(req, request, {
        host,
        connectTimeoutMs,
        timeoutMs,
        agent: pool,
        proxied,
        sentBefore,
        overTls: protocol === "https:",
      });
    };
    const outcome = await exchange(pools[protocol], request.timeoutMs);
    if (!("stale" in outcome)) return outcome;
    // A kept connection was closed under the request before anything came back: once more, on a new one.
    const left = request.timeoutMs - (performance.now() - startedAt);
    const fresh = await exchange(unkept[protocol], Math.max(1, Math.ceil(left)), true);
    if ("stale" in fresh) throw fresh.stale;
    return { ...fresh, resent: true };
  };
}

function unkeptAgents(options: AgentOptions) {
  return { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };
}

let turn: Promise<void> | undefined;

/**
 * Requests that follow on answers of one turn of the event loop are written in the next turn, one after the other.
 * Written between the reads, each would wake a receiver that had just gone to sleep (bench/send.bench.mjs).
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

interface Target {
  readonly protocol: "http:" | "https:";
  readonly host: string;
  readonly port: string;
  readonly path: string;
  /** Host and port as the `Host` header has them. */
  readonly authority: string;
}

function targetOf(url: string): Target {
  const { protocol, hostname, port, pathname, search, host } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") throw new TypeError("url must be http or https");
  return {
    protocol,
    host: hostname.replace(/^\[|\]$/g, ""),
    port,
    path: pathname + search,
    authority: host,
  };
}

/** The lines as a flat list, which Node writes as they are and without merging. */
function headerLines(request: TransportRequest, host: string): string[] {
  const lines = ["Host", host];
  for (const [name, value] of request.headers) lines.push(name, value);
  if (request.body) lines.push("Content-Length", String(request.body.length));
  return lines;
}

interface ExchangeBounds {
  /** Of the URL, without brackets. */
  readonly host: string;
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  readonly agent: object;
  /** The agent goes through a proxy. */
  readonly proxied: boolean;
  /** An earlier copy of the request may have reached the host. */
  readonly sentBefore: boolean;
  /** By the parsed URL: its text may begin with blanks or capitals. */
  readonly overTls: boolean;
}

function runExchange(
  req: ClientRequest,
  request: TransportRequest,
  { host, connectTimeoutMs, timeoutMs, agent, proxied, sentBefore, overTls }: ExchangeBounds,
): Promise<TransportResponse | { stale: HookproofError }> {
  const { url } = request;
  return new Promise((resolve, reject) => {
    let connectTimer: NodeJS.Timeout | undefined;
    let unwatch: (() => void) | undefined;
    /** Something came back: the request has arrived, and is not to be sent again. */
    let answered = false;
    /** Whether a connection to the host itself stands, or is under way, as far as the agent says. */
    let isOwn = req.reusedSocket || !proxied;
    /** Whether something of the request may have reached the host. */
    let isSent = req.reusedSocket || sentBefore;
    const totalTimer = setTimeout(() => fail(timedOut("complete answer", request.timeoutMs)), timeoutMs);
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
      if (req.reusedSocket && !answered && isConnectionLost(error)) resolve({ stale: mapped });
      else reject(isSent ? mapped : asUnsent(mapped));
    }
    function explained(error: Error): HookproofError {
      // Until a tunnel stands it is the proxy that is silent, floods or hangs up, whatever it shows as.
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
      // Nothing is written yet. What cannot be written to is a proxy's refusal, which is still to be read.
      if (!isOwn && socket.writable) return fail(proxyFailed(url, "gave a connection without TLS"));
      // Through a tunnel, only the handshake is still to come.
      if (!socket.connecting && !("secureConnecting" in socket && socket.secureConnecting)) {
        isSent ||= isOwn;
        return;
      }
      connectTimer = setTimeout(() => fail(timedOut("connection", connectTimeoutMs)), connectTimeoutMs);
      const ready = "encrypted" in socket ? "secureConnect" : "connect";
      socket.once(ready, () => {
        clearTimeout(connectTimer);
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
      const headers = pairs(res.rawHeaders);
      noteKeepAlive(socket, headers);
      const authenticated = isAuthenticated(socket, agent, host);
      readUpTo(res, request.maxResponseBytes, fail, (body, truncated) => {
        settle();
        resolve({ status, headers, body, truncated, authenticated });
      });
    });
    req.end(request.body);
  });
}

/** Whether an error says by itself whose doing it is: an abort, an address that was refused, a proxy's answer. */
function isDecided(error: Error): boolean {
  return error instanceof HookproofError && error.code !== "TIMED_OUT" && error.code !== "RESPONSE_INVALID";
}

function readUpTo(
  res: IncomingMessage,
  limit: number,
  fail: (error: Error) => void,
  done: (body: Uint8Array, truncated: boolean) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let finished = false;
  const finish = (truncated: boolean) => {
    if (finished) return;
    finished = true;
    const [only] = chunks;
    const whole = only && chunks.length === 1 ? only : Buffer.concat(chunks);
    done(truncated ? whole.subarray(0, limit) : whole, truncated);
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
    if (!finished) fail(error);
  });
}

function pairs(raw: readonly string[]): HeaderPair[] {
  const headers: HeaderPair[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) headers.push([raw[i] as string, raw[i + 1] as string]);
  return headers;
}
