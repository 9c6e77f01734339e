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
import type { HookproofError } from "../errors.js";
import { rememberLast } from "../primitives/remember-last.js";
import type { HeaderPair } from "../protocol/headers.js";
import { publicAddresses } from "./address-policy.js";
import { guardedLookup } from "./guarded-lookup-node.js";
import { keptAgents, noteKeepAlive } from "./kept-agents-node.js";
import type { Transport, TransportOptions, TransportRequest, TransportResponse } from "./transport.js";
import { aborted, isConnectionLost, timedOut, transportError } from "./transport-errors-node.js";

/** Whether header lines are sent as they are, one name standing twice included. */
export const KEEPS_HEADER_LINES: boolean = true;

/** A transport over `node:http` and `node:https` that keeps connections alive. */
export function createTransport(options: TransportOptions = {}): Transport {
  const { connectTimeoutMs = 5_000, allowedCidrs, agent } = options;
  const policy = options.allowPrivateNetwork === false ? publicAddresses(allowedCidrs) : undefined;
  if (policy && agent)
    throw new TypeError("agent cannot be combined with allowPrivateNetwork: false, as it connects by itself");
  const connect = policy ? { lookup: guardedLookup({ allowedCidrs }) } : {};
  const pools = agent ? { "http:": agent, "https:": agent } : keptAgents(connect);
  const unkept = agent ? pools : unkeptAgents(connect);
  const locate = rememberLast(targetOf); // a sender has only one

  return async (request) => {
    await nextTurn();
    if (request.signal?.aborted) throw aborted();
    const { protocol, host, port, path, authority } = locate(request.url);
    policy?.checkHost(host);
    const send = protocol === "https:" ? httpsRequest : httpRequest;
    const headers = headerLines(request, authority);
    const { method } = request;
    const startedAt = performance.now();
    const exchange = (pool: unknown, timeoutMs: number) => {
      // Few options, and without a spread: Node copies them several times, which is a tenth of a request's cost.
      const options = { host, port, path, method, headers, agent: pool as HttpAgent };
      // An agent of the caller's may want to know.
      const req = send(agent ? { ...options, protocol } : options);
      return runExchange(req, request, { connectTimeoutMs, timeoutMs });
    };
    const outcome = await exchange(pools[protocol], request.timeoutMs);
    if (!("stale" in outcome)) return outcome;
    // A kept connection was closed under the request before anything came back: once more, on a new one.
    const left = request.timeoutMs - (performance.now() - startedAt);
    const fresh = await exchange(unkept[protocol], Math.max(1, Math.ceil(left)));
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

function runExchange(
  req: ClientRequest,
  request: TransportRequest,
  { connectTimeoutMs, timeoutMs }: { connectTimeoutMs: number; timeoutMs: number },
): Promise<TransportResponse | { stale: HookproofError }> {
  return new Promise((resolve, reject) => {
    let connectTimer: NodeJS.Timeout | undefined;
    let answered = false;
    const totalTimer = setTimeout(() => fail(timedOut("complete answer", request.timeoutMs)), timeoutMs);
    const onAbort = () => fail(aborted());

    function settle(): void {
      clearTimeout(totalTimer);
      clearTimeout(connectTimer);
      request.signal?.removeEventListener("abort", onAbort);
    }
    function fail(error: Error): void {
      settle();
      req.destroy();
      const mapped = transportError(error, request.url);
      if (req.reusedSocket && !answered && isConnectionLost(error)) resolve({ stale: mapped });
      else reject(mapped);
    }

    request.signal?.addEventListener("abort", onAbort, { once: true });
    req.on("error", fail);
    const onSocket = (socket: Socket) => {
      if (!socket.connecting) return;
      connectTimer = setTimeout(() => fail(timedOut("connection", connectTimeoutMs)), connectTimeoutMs);
      const ready = "encrypted" in socket ? "secureConnect" : "connect";
      socket.once(ready, () => clearTimeout(connectTimer));
    };

    if (!req.reusedSocket) req.on("socket", onSocket);
    req.on("response", (res) => {
      answered = true;
      const headers = pairs(res.rawHeaders);
      noteKeepAlive(res.socket, headers);
      readUpTo(res, request.maxResponseBytes, fail, (body, truncated) => {
        settle();
        resolve({ status: res.statusCode ?? 0, headers, body, truncated });
      });
    });
    req.end(request.body);
  });
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
