// Sends requests over an undici dispatcher of the caller's.
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { HookproofError } from "../../core/errors.js";
import { type HeaderPair, headerPairs } from "../../core/headers.js";
import {
  aborted,
  asUnsent,
  missingHeaders,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from "../transport.js";
import { type CountingSocket, tooMuchAhead, watchBytesAhead } from "./bytes-ahead.js";
import {
  limitAhead,
  nodeCode,
  proxyFailed,
  refusedStatus,
  timedOut,
  transportError,
} from "./transport-errors.js";

/** A `Dispatcher` of undici 7 or later (`Agent`, `Pool`, `ProxyAgent`, `MockAgent`): the part that is used here. */
export interface UndiciDispatcher {
  /** Sends one request, and calls the handler's methods with what comes back. */
  dispatch(
    options: {
      origin: string;
      path: string;
      method: "GET" | "POST";
      headers: string[];
      body: Uint8Array | null;
      headersTimeout: number;
      bodyTimeout: number;
    },
    handler: object,
  ): boolean;
}

/**
 * A transport over an undici dispatcher of your own: its pool, proxy, CA and client certificates are used. It
 * connects by itself, so give it the address guard where you need one (`connect: { lookup: guardedLookup() }`).
 * undici does not show the connection, so no answer is `authenticated`, and no `Date` corrects a clock.
 *
 * @throws {TypeError} for something that is not a dispatcher
 *
 * @example
 * ```ts
 * import { createSender, hmacSigner } from "hookproof";
 * import { type UndiciDispatcher, undiciTransport } from "hookproof/node";
 *
 * const senderOver = (dispatcher: UndiciDispatcher) =>
 *   createSender({
 *     url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
 *     signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }),
 *     transport: undiciTransport(dispatcher), // new Agent({ connections: 50 }), for example
 *   });
 * ```
 */
export function undiciTransport(dispatcher: UndiciDispatcher): Transport {
  if (typeof dispatcher?.dispatch !== "function")
    throw new TypeError("dispatcher must be an undici Dispatcher");
  watchConnections(dispatcher);
  const { name } = dispatcher.constructor;
  // EnvHttpProxyAgent does not show for which URLs it has a proxy.
  const proxied = name === "EnvHttpProxyAgent" ? "perhaps" : /Proxy/.test(name) && "always";
  // A sender has one URL.
  let last = { url: "", origin: "", path: "" };
  return (request) =>
    new Promise((resolve, reject) => {
      if (request.signal?.aborted) throw asUnsent(aborted());
      if (last.url !== request.url) last = targetOf(request.url);
      const { origin, path } = last;
      const exchange = new Exchange(request, resolve, reject, proxied);
      const options = {
        origin,
        path,
        method: request.method as "GET" | "POST",
        headers: flatLines(request.headers),
        body: request.body ?? null,
        // The whole exchange has a time limit; undici's own limits would only end it earlier.
        headersTimeout: 0,
        bodyTimeout: 0,
      };
      try {
        dispatcher.dispatch(options, exchange);
      } catch (error) {
        exchange.fail(error as Error);
      }
    });
}

function targetOf(url: string) {
  const { origin, pathname, search } = new URL(url);
  return { url, origin, path: pathname + search };
}

/** All header lines as a flat list, which undici writes as they are. */
function flatLines(headers: readonly HeaderPair[]): string[] {
  const lines: string[] = [];
  for (const [name, value] of headers) lines.push(name, value);
  for (const [name, value] of missingHeaders(headers)) lines.push(name, value);
  return lines;
}

/** What undici gives a handler to steer its request with. */
interface Controller {
  abort(reason: Error): void;
  readonly rawHeaders?: unknown;
}

/** Whether a dispatcher's connections go through a proxy. */
type Proxied = false | "perhaps" | "always";

/** What a failure to connect shows as; before a tunnel stands it is the proxy's, and not the host's. */
const OF_CONNECTIONS = new Set(["CONNECTION_FAILED", "CONNECTION_LOST", "RESPONSE_INVALID", "TIMED_OUT"]);
/** undici's errors that its own caller brought about. */
const CALLERS = new Set(["UND_ERR_CLOSED", "UND_ERR_DESTROYED", "UND_ERR_INVALID_ARG"]);

/**
 * One exchange, as undici's handler of a request: the answer up to its limit of bytes, a time limit for all of it,
 * and the caller's signal.
 */
class Exchange {
  readonly #request: TransportRequest;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #proxied: Proxied;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.fail(aborted());
  readonly #chunks: Uint8Array[] = [];
  readonly #countAhead = limitAhead();
  #length = 0;
  #status = 0;
  #headers: readonly HeaderPair[] = [];
  #controller: Controller | undefined;
  /** undici starts a request just before it writes the first byte. */
  #isSent = false;
  /** Why the exchange ended, if its request may not have begun. */
  #left: Error | undefined;
  #unwatch: (() => void) | undefined;
  #ended = false;

  constructor(
    request: TransportRequest,
    resolve: (response: TransportResponse) => void,
    reject: (error: Error) => void,
    proxied: Proxied,
  ) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#proxied = proxied;
    const late = () => this.fail(timedOut("complete answer", request.timeoutMs));
    this.#timer = setTimeout(late, request.timeoutMs);
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.#isSent = true;
    if (this.#left) {
      controller.abort(this.#left);
      return;
    }
    takeConnection((socket) => {
      this.#unwatch?.();
      if (!this.#ended) this.#unwatch = watchBytesAhead(socket, () => this.fail(tooMuchAhead()));
    });
  }

  onResponseStart(
    { rawHeaders }: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // An interceptor that answers by itself may have no raw ones.
    const isRaw = Array.isArray(rawHeaders) && rawHeaders.length > 0;
    const lines = isRaw ? headerPairs(rawHeaders.map(latin1)) : merged(headers);
    const isAhead = status < 200 && status !== 101;
    const refusal = isAhead
      ? this.#countAhead(lines.flat().join("").length)
      : refusedStatus(status, this.#request.url);
    if (status === 407) this.#isSent = false;
    if (refusal) this.fail(refusal);
    if (isAhead || refusal) return;
    this.#unwatch?.();
    this.#status = status;
    this.#headers = lines;
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    if (this.#ended) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length <= this.#request.maxResponseBytes) return;
    this.#finish(true);
    this.#leave(aborted()); // and with it the connection
  }

  onResponseEnd(): void {
    this.#finish(false);
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.fail(error);
  }

  fail(error: Error): void {
    if (this.#ended) return;
    this.#settle();
    const mapped = this.#explained(error);
    if (this.#status !== 0) this.#resolve({ ...this.#answer(true), bodyError: mapped });
    else this.#reject(this.#isSent ? mapped : asUnsent(mapped));
    this.#leave(error);
  }

  #explained(error: Error): HookproofError {
    const { url } = this.#request;
    const ours = transportError(error, url, this.#proxied !== false);
    const isProxys =
      this.#proxied === "always" &&
      !this.#isSent &&
      OF_CONNECTIONS.has(ours.code) &&
      !CALLERS.has(nodeCode(error));
    return isProxys ? proxyFailed(url, `could not be used (${nodeCode(error)})`) : ours;
  }

  #finish(truncated: boolean): void {
    if (this.#ended) return;
    this.#settle();
    this.#resolve(this.#answer(truncated));
  }

  #answer(truncated: boolean): TransportResponse {
    const body = Buffer.concat(this.#chunks).subarray(0, this.#request.maxResponseBytes);
    return { status: this.#status, headers: this.#headers, body, truncated };
  }

  #settle(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#unwatch?.();
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }

  #leave(reason: Error): void {
    this.#left = reason;
    this.#controller?.abort(reason);
  }
}

function latin1(part: string | Buffer): string {
  return typeof part === "string" ? part : part.toString("latin1");
}

function merged(headers: Record<string, string | string[] | undefined>): HeaderPair[] {
  return Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value): HeaderPair => [name, value]),
  );
}

/** The message on undici's diagnostics channel when it writes a request's headers. */
interface Sent {
  readonly request: {
    readonly method: string;
    readonly origin: unknown;
    readonly completed: boolean;
    readonly aborted: boolean;
  };
  readonly socket: Socket & { readonly alpnProtocol?: unknown };
}

/** Takes the connection of the request that undici is writing in this turn of the event loop. */
let starting: ((socket: CountingSocket) => void) | undefined;
const proxies = new Set<string>();
let listens = false;
/** Cheaper than `queueMicrotask`, which makes a resource for each call. */
const settled = Promise.resolve();

/**
 * undici shows a connection in its diagnostics only: between the start of a request and the end of that turn, the
 * request that is written is the one that started.
 */
function takeConnection(onSocket: (socket: CountingSocket) => void): void {
  starting = onSocket;
  settled.then(() => {
    if (starting === onSocket) starting = undefined;
  });
}

/** Listens to undici, from the first dispatcher on; the answers of this one's proxy to CONNECT are bounded too. */
function watchConnections(dispatcher: object): void {
  const proxy = proxyOf(dispatcher);
  if (proxy) proxies.add(proxy);
  if (listens) return;
  listens = true;
  subscribe("undici:client:sendHeaders", (message) => {
    const { request, socket } = message as Sent;
    const onSocket = starting;
    starting = undefined;
    if (socket.alpnProtocol === "h2") return; // many requests, and its parser skips nothing unseen
    if (onSocket) onSocket(socket);
    else if (request.method === "CONNECT" && proxies.has(String(request.origin))) {
      // Nothing else ends it: the exchange that it is for has not begun yet.
      const isOver = () => request.completed || request.aborted;
      watchBytesAhead(socket, () => socket.destroy(tooMuchAhead()), isOver);
      // After an error with this code undici connects again at once, without end while its request waits; an exchange
      // that has not begun cannot be taken back. After any other code it gives up.
      socket.prependListener("error", (error: NodeJS.ErrnoException) => {
        if (!isOver() && error.code === "UND_ERR_SOCKET") error.code = "ERR_PROXY_CONNECT";
      });
    }
  });
}

/** The origin of a `ProxyAgent`'s proxy, which undici keeps under a symbol. */
function proxyOf(dispatcher: object): string | undefined {
  const symbol = Object.getOwnPropertySymbols(dispatcher).find(
    ({ description }) => description === "proxy agent options",
  );
  const known = symbol && (dispatcher as Record<symbol, { uri?: unknown } | undefined>)[symbol];
  return typeof known?.uri === "string" ? new URL(known.uri).origin : undefined;
}
