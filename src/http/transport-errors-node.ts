import { type ErrorCode, HookproofError } from "../errors.js";

const LOST = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ERR_STREAM_PREMATURE_CLOSE", "UND_ERR_SOCKET"]);
const TLS =
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;
const UNREADABLE = /^(?:HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/;
const LATE = /^(?:UND_ERR_[A-Z]+_TIMEOUT|ETIMEDOUT)$/;

/** Whether the other side closed or reset the connection. */
export function isConnectionLost(error: Error): boolean {
  return LOST.has(nodeCode(error));
}

/** What Node or undici says of a failed exchange, under one of our codes. */
export function transportError(error: Error, url: string): HookproofError {
  if (error instanceof HookproofError) return error;
  const reason = nodeCode(error);
  const code = ourCode(reason);
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

function nodeCode(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
