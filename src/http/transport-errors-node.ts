import { type ErrorCode, HookproofError } from "../errors.js";

const LOST = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ERR_STREAM_PREMATURE_CLOSE"]);
const TLS =
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

/** Whether the other side closed or reset the connection. */
export function isConnectionLost(error: Error): boolean {
  return LOST.has(nodeCode(error));
}

/** What Node says of a failed exchange, under one of our codes. */
export function transportError(error: Error, url: string): HookproofError {
  if (error instanceof HookproofError) return error;
  const reason = nodeCode(error);
  const code = ourCode(reason);
  return new HookproofError(
    code,
    `${WORDS[code] ?? "Could not connect"}: ${new URL(url).host} (${reason || error.name}).`,
    { cause: error },
  );
}

const WORDS: Partial<Record<ErrorCode, string>> = {
  CONNECTION_LOST: "The connection broke",
  RESPONSE_INVALID: "The answer is not valid HTTP or has too many headers",
  TLS_FAILED: "TLS failed",
};

function ourCode(reason: string): ErrorCode {
  if (LOST.has(reason)) return "CONNECTION_LOST";
  if (reason.startsWith("HPE_")) return "RESPONSE_INVALID";
  return TLS.test(reason) ? "TLS_FAILED" : "CONNECTION_FAILED";
}

function nodeCode(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
