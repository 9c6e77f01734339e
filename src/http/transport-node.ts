import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { setImmediate } from "node:timers";
import type { HookproofError } from "../errors.js";
import type { HeaderPair } from "../protocol/headers.js";
import { publicAddresses } from "./address-policy.js";
import { guardedLookup } from "./guarded-lookup-node.js";
import type { Transport, TransportOptions, TransportRequest, TransportResponse } from "./transport.js";
import { aborted, isConnectionLost, timedOut, transportError } from "./transport-errors-node.js";

/** An idle connection is closed after this long, or earlier if the server's `Keep-Alive` says so. */
const IDLE_MS = 30_000;
const MAX_IDLE_CONNECTIONS = 64;

/** Whether header lines are sent as they are, one name standing twice included. */
export const KEEPS_HEADER_LINES: boolean = true;

/** A transport over `node:http` and `node:https` that keeps connections alive. */
export function createTransport(options: TransportOptions = {}): Transport {
  const { connectTimeoutMs = 5_000, allowedCidrs, agent } = options;
  const policy = options.allowPrivateNetwork === false ? publicAddresses(allowedCidrs) : undefined;
  if (policy && agent)
    throw new TypeError("agent cannot be combined with allowPrivateNetwork: false, as it connects by itself");
  const connect = policy ? { lookup: guardedLookup({ allowedCidrs }) } : {};
  const kept = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE_CONNECTIONS, ...connect };
  const pools = {
    "http:": agent ?? new HttpAgent(kept),
    "https:": agent ?? new HttpsAgent(kept),
  };
  const locate = locator();

  return async (request) => {
    await nextTurn();
    if (request.signal?.aborted) throw aborted();
    const target = locate(request.url);
    policy?.checkHost(target.hostname);
    const send = target.protocol === "https:" ? httpsRequest : httpRequest;
    const base = {
      ...target,
      method: request.method,
      headers: headerLines(request, target.host),
      ...connect,
    };
    const endsAt = performance.now() + request.timeoutMs;
    const exchange = (pool: unknown) =>
      runExchange(send({ ...base, agent: pool as HttpAgent }), request, { connectTimeoutMs, endsAt });
    const outcome = await exchange(pools[target.protocol]);
    if (!("stale" in outcome)) return outcome;
    // A kept connection was closed under the request before anything came back: once more, on a new one.
    const fresh = await exchange(agent ?? false);
    if ("stale" in fresh) throw fresh.stale;
    return { ...fresh, resent: true };
  };
}

/**
 * Requests that follow on answers of one turn of the event loop are written in the next turn, one after the other.
 * Written between the reads, each would wake a receiver that had just gone to sleep (bench/send.bench.mjs).
 */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

type Target = Required<Pick<RequestOptions, "port" | "path">> & {
  protocol: "http:" | "https:";
  hostname: string;
  host: string;
};

/** Takes a URL apart; the last one is remembered, as a sender has only one. */
function locator(): (url: string) => Target {
  let last: { url: string; target: Target } | undefined;
  return (url) => {
    if (last?.url === url) return last.target;
    const { protocol, hostname, port, pathname, search, host } = new URL(url);
    if (protocol !== "http:" && protocol !== "https:") throw new TypeError("url must be http or https");
    const target: Target = {
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port,
      path: pathname + search,
      host,
    };
    last = { url, target };
    return target;
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
  { connectTimeoutMs, endsAt }: { connectTimeoutMs: number; endsAt: number },
): Promise<TransportResponse | { stale: HookproofError }> {
  return new Promise((resolve, reject) => {
    let connectTimer: NodeJS.Timeout | undefined;
    let answered = false;
    const totalTimer = setTimeout(
      () => fail(timedOut("complete answer", request.timeoutMs)),
      endsAt - performance.now(),
    );
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
    req.on("socket", (socket) => {
      if (!socket.connecting) return;
      connectTimer = setTimeout(() => fail(timedOut("connection", connectTimeoutMs)), connectTimeoutMs);
      const ready = "encrypted" in socket ? "secureConnect" : "connect";
      socket.once(ready, () => clearTimeout(connectTimer));
    });
    req.on("response", (res) => {
      answered = true;
      readUpTo(res, request.maxResponseBytes, fail, (body, truncated) => {
        settle();
        resolve({ status: res.statusCode ?? 0, headers: pairs(res.rawHeaders), body, truncated });
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
