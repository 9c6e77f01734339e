import { type ErrorCode, HookproofError } from "../errors.js";
import { proxyError, proxyFailed } from "./answer.js";

const LOST = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ERR_STREAM_PREMATURE_CLOSE", "UND_ERR_SOCKET"]);
const TLS =
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;
const UNREADABLE = /^(?:HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/;
/** What undici says of an upgrade that nobody asked for, or of an answer out of turn; its code is a lost connection's. */
const OUT_OF_TURN = /^bad (?:upgrade|response)$/;
/** What OpenSSL says of bytes that are no TLS. */
const NOT_TLS = /wrong version number|packet length too long|record layer failure|http request/i;
const LATE = /^(?:UND_ERR_[A-Z]+_TIMEOUT|ETIMEDOUT)$/;

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
    // What a parser could not read hangs on its error, and may be our own request, echoed.
    code === "RESPONSE_INVALID" ? {} : { cause: error },
  );
}

/** An exchange that took longer than it may. */
export function timedOut(what: string, ms: number): HookproofError {
  return new HookproofError("TIMED_OUT", `No ${what} within ${Math.ceil(ms)} ms.`);
}

/** An exchange that its caller ended. */
export function aborted(): HookproofError {
  return new HookproofError("ABORTED", "The caller aborted the request.");
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
