import type { HookproofError } from "../errors.js";
import { limitAhead, proxyFailed, refusedStatus } from "../http/answer.js";
import { tooMuchAhead, watchBytesAhead } from "../http/bytes-ahead-node.js";
import type { TransportRequest, TransportResponse } from "../http/transport.js";
import { aborted, nodeCode, timedOut, transportError } from "../http/transport-errors-node.js";
import { asUnsent } from "../http/unsent.js";
import type { HeaderPair } from "../protocol/headers.js";
import { headerPairs } from "./raw-headers.js";
import { takeConnection } from "./undici-connections.js";

/** What undici 7 and later tell with each event of a request. */
interface Controller {
  abort(reason: Error): void;
  readonly rawHeaders?: unknown;
}

/** Whether a dispatcher's connections go through a proxy. */
type Proxied = false | "perhaps" | "always";

/** What an exchange comes to, and whether its connections go through a proxy. */
interface Ending {
  readonly resolve: (response: TransportResponse) => void;
  readonly reject: (error: Error) => void;
  readonly proxied: Proxied;
}

/** What a failure to connect shows as; before a tunnel stands it is the proxy's, and not the host's. */
const OF_CONNECTIONS = new Set(["CONNECTION_FAILED", "CONNECTION_LOST", "RESPONSE_INVALID", "TIMED_OUT"]);
/** What undici says of its caller's doing. */
const CALLERS = new Set(["UND_ERR_CLOSED", "UND_ERR_DESTROYED", "UND_ERR_INVALID_ARG"]);

type RawHeaders = readonly (string | Buffer)[];

/**
 * One exchange as undici's handler of a request: the answer up to its limit of bytes, a time limit for all of it,
 * and the caller's signal. It has the methods of undici 7 and later, and those of undici 6.
 */
export class UndiciExchange {
  readonly #request: TransportRequest;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #proxied: Proxied;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.onError(aborted());
  readonly #chunks: Uint8Array[] = [];
  #length = 0;
  #status = 0;
  #headers: readonly HeaderPair[] = [];
  #abort: ((reason: Error) => void) | undefined;
  /** undici tells of a request just before its first byte. */
  #isSent = false;
  /** Why nothing more is wanted of a request that may not have begun. */
  #left: Error | undefined;
  readonly #countAhead = limitAhead();
  #unwatch: (() => void) | undefined;
  #ended = false;

  constructor(request: TransportRequest, { resolve, reject, proxied }: Ending) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#proxied = proxied;
    const late = () => this.onError(timedOut("complete answer", request.timeoutMs));
    this.#timer = setTimeout(late, request.timeoutMs);
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Controller): void {
    this.onConnect((reason) => controller.abort(reason));
  }

  onResponseStart(
    { rawHeaders }: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // An interceptor that answers by itself may have no raw ones.
    const isRaw = Array.isArray(rawHeaders) && rawHeaders.length > 0;
    this.#begin(status, isRaw ? pairsOf(rawHeaders) : merged(headers));
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.onData(chunk);
  }

  onResponseEnd(): void {
    this.onComplete();
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.onError(error);
  }

  onConnect(abort: (reason: Error) => void): void {
    this.#abort = abort;
    this.#isSent = true;
    if (this.#left) {
      abort(this.#left);
      return;
    }
    takeConnection((socket) => {
      this.#unwatch?.();
      if (!this.#ended) this.#unwatch = watchBytesAhead(socket, () => this.onError(tooMuchAhead()));
    });
  }

  onHeaders(status: number, rawHeaders: RawHeaders): boolean {
    this.#begin(status, pairsOf(rawHeaders));
    return true;
  }

  onData(chunk: Uint8Array): boolean {
    if (this.#ended) return true;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > this.#request.maxResponseBytes) {
      this.#finish(true);
      this.#leave(aborted()); // and with it the connection
    }
    return true;
  }

  onComplete(): void {
    this.#finish(false);
  }

  onError(error: Error): void {
    if (this.#ended) return;
    this.#settle();
    const mapped = this.#explained(error);
    this.#reject(this.#isSent ? mapped : asUnsent(mapped));
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

  #begin(status: number, headers: readonly HeaderPair[]): void {
    const isAhead = status < 200 && status !== 101;
    const refusal = isAhead
      ? this.#countAhead(headers.flat().join("").length)
      : refusedStatus(status, this.#request.url);
    if (status === 407) this.#isSent = false;
    if (refusal) this.onError(refusal);
    if (isAhead || refusal) return;
    this.#unwatch?.();
    this.#status = status;
    this.#headers = headers;
  }

  #finish(truncated: boolean): void {
    if (this.#ended) return;
    this.#settle();
    const [only] = this.#chunks;
    const whole = only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    const body = truncated ? whole.subarray(0, this.#request.maxResponseBytes) : whole;
    this.#resolve({ status: this.#status, headers: this.#headers, body, truncated });
  }

  #settle(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#unwatch?.();
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }

  #leave(reason: Error): void {
    this.#left = reason;
    this.#abort?.(reason);
  }
}

function pairsOf(raw: RawHeaders): HeaderPair[] {
  return headerPairs(raw.map((part) => (typeof part === "string" ? part : part.toString("latin1"))));
}

function merged(headers: Record<string, string | string[] | undefined>): HeaderPair[] {
  return Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value): HeaderPair => [name, value]),
  );
}
