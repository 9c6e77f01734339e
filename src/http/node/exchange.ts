// Runs one exchange over a connection: what came back, or why nothing did.
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { HookproofError } from "../../core/errors.js";
import { type HeaderPair, headerPairs } from "../../core/headers.js";
import { aborted, asUnsent, type TransportRequest, type TransportResponse } from "../transport.js";
import { endTunnel, tooMuchAhead, watchBytesAhead } from "./bytes-ahead.js";
import { isAuthenticated, isEncrypted, noteConnection, noteKeepAlive } from "./connections.js";
import {
  isConnectionLost,
  limitAhead,
  nodeCode,
  proxyFailed,
  refusedStatus,
  timedOut,
  transportError,
} from "./transport-errors.js";

/** Where a request goes. */
export interface Target {
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

/** What bounds one exchange. */
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

/** The answer, or the error of a kept connection that was closed under the request before anything came back. */
type Exchanged = TransportResponse | { readonly stale: HookproofError };

/** Whether the time of an exchange is over. */
export function isOver(endsAt: number): boolean {
  return performance.now() >= endsAt;
}

/** Sends a request that nothing was written of yet. Rejects with a HookproofError. */
export function runExchange(
  req: ClientRequest,
  request: TransportRequest,
  bounds: ExchangeBounds,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => new Exchange(req, request, bounds, resolve, reject).start());
}

class Exchange {
  #totalTimer: NodeJS.Timeout | undefined;
  #connectTimer: NodeJS.Timeout | undefined;
  #unwatch: (() => void) | undefined;
  #onAbort: (() => void) | undefined;
  /** Something came back: the request has arrived, and must not be sent again. */
  #answered = false;
  #countAhead: ReturnType<typeof limitAhead> | undefined;
  /** Whether there is a connection to the host itself, or one is being made; what the agent shows decides. */
  #isOwn: boolean;
  /** Whether something of the request may have reached the host. */
  #isSent: boolean;
  /** The answer whose header section is whole. */
  #answer:
    | { readonly status: number; readonly headers: readonly HeaderPair[]; readonly authenticated: boolean }
    | undefined;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #isRead = false;

  constructor(
    readonly req: ClientRequest,
    readonly request: TransportRequest,
    readonly bounds: ExchangeBounds,
    readonly resolve: (exchanged: Exchanged) => void,
    readonly reject: (error: HookproofError) => void,
  ) {
    this.#isOwn = req.reusedSocket || !bounds.proxied;
    this.#isSent = req.reusedSocket || bounds.sentBefore;
  }

  start(): void {
    const { req, request } = this;
    this.#totalTimer = setTimeout(() => this.#late(), Math.ceil(this.bounds.endsAt - performance.now()));
    if (request.signal) {
      this.#onAbort = () => this.#fail(aborted());
      request.signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    req.on("error", (error) => this.#fail(error));
    req.on("socket", (socket) => this.#take(socket));
    req.on("information", ({ rawHeaders }) => this.#countInformation(rawHeaders));
    req.on("upgrade", (_res, stream) => this.#refuseUpgrade(stream as Socket));
    req.on("response", (res) => this.#receive(res));
    req.end(request.body);
  }

  #late(): void {
    this.#fail(timedOut("complete answer", this.request.timeoutMs));
  }

  #settle(): void {
    clearTimeout(this.#totalTimer);
    clearTimeout(this.#connectTimer);
    this.#unwatch?.();
    if (this.#onAbort) this.request.signal?.removeEventListener("abort", this.#onAbort);
  }

  #fail(error: Error): void {
    const { req } = this;
    this.#settle();
    req.destroy();
    endTunnel(req);
    const mapped = this.#explained(error);
    if (this.#answer)
      this.resolve({ ...this.#answer, body: this.#body(), truncated: true, bodyError: mapped });
    else if (req.reusedSocket && !this.#answered && isConnectionLost(error)) this.resolve({ stale: mapped });
    else this.reject(this.#isSent ? mapped : asUnsent(mapped));
  }

  #explained(error: Error): HookproofError {
    const { url } = this.request;
    // Before the tunnel is open, every failure is the proxy's, whatever it looks like.
    if (!this.#isOwn && !isDecided(error)) return proxyFailed(url, `could not be used (${nodeCode(error)})`);
    return transportError(error, url, this.bounds.proxied);
  }

  get #overTls(): boolean {
    return this.bounds.target.protocol === "https:";
  }

  #unusable(status: number, socket: Socket): HookproofError | undefined {
    return this.#overTls && !isEncrypted(socket)
      ? proxyFailed(this.request.url, `answered ${status}`)
      : refusedStatus(status, this.request.url);
  }

  #take(socket: Socket): void {
    this.#unwatch = watchBytesAhead(socket, () => this.#fail(tooMuchAhead()));
    if (this.req.reusedSocket) return;
    this.#isOwn = !this.#overTls || isEncrypted(socket);
    // Nothing is written yet. A connection that cannot be written to has a proxy's refusal, which is read first.
    if (!this.#isOwn && socket.writable) {
      this.#fail(proxyFailed(this.request.url, "gave a connection without TLS"));
      return;
    }
    // Through a tunnel, only the TLS handshake is missing.
    if (!socket.connecting && !("secureConnecting" in socket && socket.secureConnecting)) {
      this.#isSent ||= this.#isOwn;
      return;
    }
    const { connectTimeoutMs } = this.bounds;
    this.#connectTimer = setTimeout(
      () => this.#fail(timedOut("connection", connectTimeoutMs)),
      connectTimeoutMs,
    );
    socket.once("encrypted" in socket ? "secureConnect" : "connect", () => this.#connected(socket));
  }

  #connected(socket: Socket): void {
    clearTimeout(this.#connectTimer);
    // A process that was stopped sees its connection first, and only then that the time is over.
    if (isOver(this.bounds.endsAt)) {
      this.#late();
      return;
    }
    this.#isSent = true;
    noteConnection(socket, this.bounds.agent);
  }

  #countInformation(rawHeaders: readonly string[]): void {
    this.#answered = true;
    this.#countAhead ??= limitAhead();
    const tooMuch = this.#countAhead(rawHeaders.join("").length);
    if (tooMuch) this.#fail(tooMuch);
  }

  #refuseUpgrade(socket: Socket): void {
    socket.destroy();
    this.#fail(this.#unusable(101, socket) as HookproofError);
  }

  #receive(res: IncomingMessage): void {
    this.#answered = true;
    this.#unwatch?.();
    const { statusCode: status = 0, socket } = res;
    const refusal = this.#unusable(status, socket);
    if (status === 407) this.#isSent = this.bounds.sentBefore;
    if (refusal) {
      this.#fail(refusal);
      return;
    }
    const headers = headerPairs(res.rawHeaders);
    noteKeepAlive(socket, headers);
    const { agent, target } = this.bounds;
    this.#answer = { status, headers, authenticated: isAuthenticated(socket, agent, target.isLoopback) };
    res.on("data", (chunk: Buffer) => this.#read(chunk, res));
    res.on("end", () => this.#finish(false));
    res.on("error", (error) => {
      if (this.#isRead) return;
      this.#isRead = true;
      this.#fail(error);
    });
  }

  #read(chunk: Buffer, res: IncomingMessage): void {
    if (this.#isRead) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length <= this.request.maxResponseBytes) return;
    this.#finish(true);
    res.destroy();
  }

  #finish(truncated: boolean): void {
    if (this.#isRead || !this.#answer) return;
    this.#isRead = true;
    this.#settle();
    const { status, headers, authenticated } = this.#answer;
    this.resolve({ status, headers, authenticated, body: this.#body(), truncated });
  }

  /** What came of the body so far, up to the limit. */
  #body(): Uint8Array {
    const { maxResponseBytes } = this.request;
    const [only] = this.#chunks;
    const whole = only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    return this.#length > maxResponseBytes ? whole.subarray(0, maxResponseBytes) : whole;
  }
}

/** Whether an error itself shows its cause: an abort, a refused address, a proxy's answer. */
function isDecided(error: Error): boolean {
  return error instanceof HookproofError && error.code !== "TIMED_OUT" && error.code !== "RESPONSE_INVALID";
}
