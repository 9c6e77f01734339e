// Gives each failed exchange one of our codes.
import { type ErrorCode, HookproofError } from "../../core/errors.js";

const LOST = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ERR_STREAM_PREMATURE_CLOSE", "UND_ERR_SOCKET"]);
const TLS =
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;
const UNREADABLE = /^(?:HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/;
/** undici's messages for an upgrade that was not asked for and for an unexpected answer; the code is a lost connection's. */
const OUT_OF_TURN = /^bad (?:upgrade|response)$/;
/** OpenSSL's messages about bytes that are no TLS. */
const NOT_TLS = /wrong version number|packet length too long|record layer failure|http request/i;
const LATE = /^(?:UND_ERR_[A-Z]+_TIMEOUT|ETIMEDOUT)$/;

/** The messages of HTTP clients about a proxy that refuses; these errors have no code. */
const SAID_OF_PROXY =
  /^Proxy (?:response|Authentication Required) \((\d{3})\)|^Proxy connection ended before/;

/** More informational answers (100, 102, 103) than any server sends before an answer, and more bytes of headers in them. */
const MAX_AHEAD = 20;
const MAX_HEADER_BYTES_AHEAD = 16_384;

/** Whether the other side closed or reset the connection. */
export function isConnectionLost(error: Error): boolean {
  return LOST.has(nodeCode(error));
}

/**
 * What Node or undici says of a failed exchange, under one of our codes.
 *
 * @param proxied whether the connection goes through a proxy
 */
export function transportError(error: Error, url: string, proxied = false): HookproofError {
  if (error instanceof HookproofError) return error;
  const ofProxy =
    proxied && NOT_TLS.test(error.message)
      ? proxyFailed(url, "opened a tunnel that does not speak TLS")
      : proxyError(error, url);
  if (ofProxy) return ofProxy;
  const reason = nodeCode(error);
  const code = OUT_OF_TURN.test(error.message) ? "RESPONSE_INVALID" : ourCode(reason);
  return new HookproofError(
    code,
    `${WORDS[code] ?? "Could not connect"}: ${new URL(url).host} (${reason}).`,
    // The parser's error holds the bytes that it could not read, and they may be our own request.
    code === "RESPONSE_INVALID" ? {} : { cause: error },
  );
}

/** A client's error about a proxy, as ours; undefined for other errors. */
function proxyError(error: Error, url: string): HookproofError | undefined {
  const said = SAID_OF_PROXY.exec(error.message);
  if (said) return proxyFailed(url, said[1] ? `answered ${said[1]} to CONNECT` : "closed the connection");
  const code = "code" in error ? String(error.code) : "";
  return code.startsWith("ERR_PROXY_") ? proxyFailed(url, `refused (${code})`) : undefined;
}

/** The error for a proxy that answered instead of the host, or could not be used. */
export function proxyFailed(url: string, what: string): HookproofError {
  return new HookproofError(
    "PROXY_FAILED",
    `The proxy ${what}; no answer came from ${new URL(url).host} itself.`,
  );
}

/** The error for a status that is no answer of a URL's host: only proxies answer 407, and 101 ends HTTP. */
export function refusedStatus(status: number, url: string): HookproofError | undefined {
  if (status === 407) return proxyFailed(url, "answered 407 (proxy authentication required)");
  if (status >= 200) return undefined;
  return new HookproofError(
    "RESPONSE_INVALID",
    `${new URL(url).host} answered ${status}, which is no answer.`,
  );
}

/** Counts the informational answers before one answer, with the length of their headers; an error once it is too much. */
export function limitAhead(): (bytes: number) => HookproofError | undefined {
  let count = 0;
  let length = 0;
  return (bytes) => {
    count += 1;
    length += bytes;
    return count > MAX_AHEAD || length > MAX_HEADER_BYTES_AHEAD
      ? new HookproofError(
          "RESPONSE_INVALID",
          "More than 20 informational answers (1xx), or more than 16 KiB of them, came ahead of an answer.",
        )
      : undefined;
  };
}

/** The error of a request that took too long. */
export function timedOut(what: string, ms: number): HookproofError {
  return new HookproofError("TIMED_OUT", `No ${what} within ${Math.ceil(ms)} ms.`);
}

const WORDS: Partial<Record<ErrorCode, string>> = {
  CONNECTION_LOST: "The connection broke",
  RESPONSE_INVALID: "The answer is not valid HTTP or has too many headers",
  TIMED_OUT: "There was no answer in time",
  TLS_FAILED: "TLS failed",
};

function ourCode(reason: string): ErrorCode {
  if (LOST.has(reason)) return "CONNECTION_LOST";
  if (LATE.test(reason)) return "TIMED_OUT";
  if (UNREADABLE.test(reason)) return "RESPONSE_INVALID";
  return TLS.test(reason) ? "TLS_FAILED" : "CONNECTION_FAILED";
}

/** The code of an error of Node's or undici's, or its name. */
export function nodeCode(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
