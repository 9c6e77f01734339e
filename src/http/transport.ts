// What a transport is: one HTTP exchange with its limits.
import { type Cidr, cidrContains, isPublicAddress, parseCidrs, parseIp } from "../core/address.js";
import { HookproofError } from "../core/errors.js";
import { type HeaderPair, isNamed } from "../core/headers.js";
import { VERSION } from "../core/version.js";

/** One HTTP request with its limits. */
export interface TransportRequest {
  /** Such as POST. */
  readonly method: string;
  /** An absolute URL, http or https. */
  readonly url: string;
  /**
   * Header lines in order; a name may stand twice. `Host` and `Content-Length` are the transport's own, and the library's
   * transports add `User-Agent: hookproof/<version>` and `Accept: application/json` where they are not there.
   */
  readonly headers: readonly HeaderPair[];
  /** The exact bytes to send. */
  readonly body?: Uint8Array | undefined;
  /** Milliseconds for everything, from the look-up of the name to the end of the answer. */
  readonly timeoutMs: number;
  /** The answer's body is read up to this many bytes; the rest is dropped. */
  readonly maxResponseBytes: number;
  /** Ends the request: it fails with ABORTED. */
  readonly signal?: AbortSignal | undefined;
}

/** The answer to a request. */
export interface TransportResponse {
  /** The HTTP status, such as 200. */
  readonly status: number;
  /** Header lines in order; a name may stand twice. */
  readonly headers: readonly HeaderPair[];
  /** The body, up to the limit. */
  readonly body: Uint8Array;
  /** The body is not whole: it is longer than `maxResponseBytes`, or there is a `bodyError`. */
  readonly truncated: boolean;
  /**
   * Why the body broke off, or that it did not end in time; `body` has what came of it. Status and headers count all the
   * same, as they were whole.
   */
  readonly bodyError?: HookproofError;
  /**
   * The request was sent twice: a kept connection had closed under it before anything came back. The first copy
   * may have arrived, so a 409 means that it did.
   */
  readonly resent?: boolean;
  /**
   * It is certain that the answer is the host's own: it came over TLS whose certificate was checked, or over plain HTTP from
   * a host on loopback. Only then is its `Date` believed. Left out where a transport cannot tell.
   */
  readonly authenticated?: boolean;
}

/**
 * One HTTP exchange: never follows a redirect, and rejects with a `HookproofError` whose code says at which
 * stage it failed (ADDRESS_REFUSED, CONNECTION_FAILED, CONNECTION_LOST, TLS_FAILED, PROXY_FAILED, RESPONSE_INVALID,
 * TIMED_OUT, ABORTED). What a proxy answers instead of the host is no answer. Any function of this shape can stand in for the library's own.
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

/** Node's `http.Agent`: the part that is used here. */
export interface ConnectionAgent {
  /** Closes its connections. */
  destroy(): void;
}

/** What firewalls and proxies want of every request, or they answer 403 in the listener's place. */
const DEFAULT_HEADERS: readonly HeaderPair[] = [
  ["User-Agent", `hookproof/${VERSION}`],
  ["Accept", "application/json"],
];

/** The default lines that a request does not have itself. */
export function missingHeaders(headers: readonly HeaderPair[]): readonly HeaderPair[] {
  for (const line of headers)
    if (isDefault(line))
      return DEFAULT_HEADERS.filter(([name]) => !headers.some((own) => isNamed(own, name)));
  return DEFAULT_HEADERS;
}

function isDefault(line: HeaderPair): boolean {
  for (const [name] of DEFAULT_HEADERS) if (isNamed(line, name)) return true;
  return false;
}

/** The error of a request that its caller ended. */
export function aborted(cause?: unknown): HookproofError {
  const options = cause === undefined ? {} : { cause };
  return new HookproofError("ABORTED", "Interrupted while the request was under way.", options);
}

/** Errors of requests of which nothing can have reached the host. */
const unsent = new WeakSet<Error>();

/** Notes on its error that nothing of a request can have reached the host. */
export function asUnsent<Thrown extends Error>(error: Thrown): Thrown {
  unsent.add(error);
  return error;
}

/** Whether it is certain that nothing reached the host. False for errors of a transport of the caller's own. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && unsent.has(error);
}

/** Decides which addresses may be connected to: the one address guard, for senders and for key sets. */
export interface AddressPolicy {
  /** Throws ADDRESS_REFUSED for an address that is neither public nor in an allowed range. */
  check(address: string): void;
  /**
   * The same for a URL's host, where no look-up is needed: an address, or `localhost` and every name below it
   * (`foo.localhost`), which stand for 127.0.0.1 whatever they resolve to.
   */
  checkHost(hostname: string): void;
}

/** A policy that lets public addresses pass, and those in the ranges given. */
export function publicAddresses(allowedCidrs: readonly string[] = []): AddressPolicy {
  const allowed: readonly Cidr[] = parseCidrs(allowedCidrs);

  function check(address: string): void {
    const ip = parseIp(address.split("%", 1)[0] ?? "");
    if (ip && (isPublicAddress(ip) || allowed.some((cidr) => cidrContains(cidr, ip)))) return;
    throw new HookproofError(
      "ADDRESS_REFUSED",
      `${address} is not a public address, and private ones are not allowed here.`,
    );
  }

  return {
    check,
    checkHost(hostname) {
      // A URL's host is in canonical form already: 0x7f.1 and 2130706433 have become 127.0.0.1.
      const host = hostname.replace(/^\[|\]$|\.$/g, "");
      try {
        if (host === "localhost" || host.endsWith(".localhost")) check("127.0.0.1");
        else if (parseIp(host)) check(host);
      } catch (refusal) {
        throw asUnsent(refusal as Error);
      }
    },
  };
}
