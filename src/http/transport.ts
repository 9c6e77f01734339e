import type { HeaderPair } from "../protocol/headers.js";

/** One HTTP request, with everything that bounds it. */
export interface TransportRequest {
  readonly method: string;
  readonly url: string;
  /** Header lines in order; a name may stand twice. `Host` and `Content-Length` are the transport's own. */
  readonly headers: readonly HeaderPair[];
  readonly body?: Uint8Array | undefined;
  /** The whole exchange, from looking up the name to the end of the answer. */
  readonly timeoutMs: number;
  /** The answer's body is read up to here and dropped past it. */
  readonly maxResponseBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** The answer to a request. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array;
  /** The answer was longer than `maxResponseBytes`. */
  readonly truncated: boolean;
  /**
   * The request was sent twice: a kept connection had closed under it before anything came back. The first copy
   * may have arrived, so a 409 means that it did.
   */
  readonly resent?: boolean;
  /**
   * The answer is the host's own for certain: it came over TLS whose certificate was checked, or over plain HTTP from
   * a host on loopback. Only then is its `Date` believed (docs/decisions.md, S5). Left out where a transport cannot tell.
   */
  readonly authenticated?: boolean;
}

/**
 * One HTTP exchange: never follows a redirect, and rejects with a `HookproofError` whose code says at which
 * stage it failed (ADDRESS_REFUSED, CONNECTION_FAILED, CONNECTION_LOST, TLS_FAILED, PROXY_FAILED, RESPONSE_INVALID,
 * TIMED_OUT, ABORTED). What a proxy answers in the host's place is no answer. Any function of this shape can stand in for the library's own.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

/** Where a transport may connect to, and how. */
export interface TransportOptions {
  /**
   * Whether private, loopback, link-local and reserved addresses may be connected to; true by default. Set it
   * to false where strangers supply the URLs. On Node every address is checked at connect time; elsewhere only
   * an address written in the URL can be.
   */
  readonly allowPrivateNetwork?: boolean | undefined;
  /** Ranges that may be connected to all the same, such as `["10.1.0.0/16"]`. */
  readonly allowedCidrs?: readonly string[] | undefined;
  /**
   * Node only: an `http.Agent` or `https.Agent` of your own, for a proxy, a CA of your own or client
   * certificates. It connects by itself, so it cannot be combined with `allowPrivateNetwork: false`.
   */
  readonly agent?: ConnectionAgent | undefined;
  /** Node only: the time for a new connection with its TLS handshake; 5 s by default. */
  readonly connectTimeoutMs?: number | undefined;
}

/** Node's `http.Agent`, as far as it is used here. */
export interface ConnectionAgent {
  destroy(): void;
}
