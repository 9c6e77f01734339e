// Turns any thrown value into a failure with a code and an exit code.
import { DeliveryError, HookproofError } from "hookproof";
import { PLAIN_HTTP_HINT } from "../credentials/flags.js";
import { CliError, EXIT, type ExitCode } from "../failure.js";
import { connectionHint } from "./connection-hint.js";

/** Codes of mistakes in the configuration of this machine. */
const SETUP = new Set<string>([
  "SECRET_INVALID",
  "KEY_UNFIT",
  "KEY_NOT_FOUND",
  "KEY_SET_INVALID",
  "KEY_SET_URL_REFUSED",
  "KEY_STORE_INVALID",
  "KEY_STORE_UNREADABLE",
  "KEY_STORE_NEWER",
  "KEY_STORE_EXPOSED",
  "KEY_STORE_BUSY",
  "KEY_STORE_PASSPHRASE",
  "SIGNER_FAILED",
  "OUTBOX_UNAVAILABLE",
  "OUTBOX_OUTCOME_UNKNOWN",
  "OUTBOX_NEWER",
  "OUTBOX_ENCODING",
]);

/** Codes of attempts that brought no answer. */
const UNREACHABLE = new Set<string>([
  "CONNECTION_FAILED",
  "CONNECTION_LOST",
  "TLS_FAILED",
  "PROXY_FAILED",
  "RESPONSE_INVALID",
  "TIMED_OUT",
]);

/** Any thrown value as a failure with a code, a message and an exit code. */
export function explainFailure(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof DeliveryError) return undelivered(error);
  if (isOfLibrary(error)) {
    if (error.code === "TLS_REQUIRED") return inPlainText(error);
    const message = error.code === "PAYLOAD_NOT_JSON" ? "The data is not JSON." : error.message;
    const hint = connectionHint(error.code, message, error.cause);
    return new CliError(exitOf(error.code, undefined), error.code, message, { hint });
  }
  return new CliError(EXIT.unexpected, "UNEXPECTED", unexpected(error));
}

/** The library names its own option, and a command its flag. */
function inPlainText({ code, message }: HookproofError): CliError {
  const [what] = message.split(": use https://", 1);
  return new CliError(EXIT.usage, code, `${what}.`, { hint: PLAIN_HTTP_HINT });
}

/** Whether the library threw it. hookproof-service loads a copy of its own, which has a class of its own. */
function isOfLibrary(error: unknown): error is HookproofError {
  return error instanceof HookproofError || (error instanceof Error && error.name === "HookproofError");
}

/** An event that was not delivered: the last attempt decides between refused, unavailable and unreachable. */
function undelivered(error: DeliveryError): CliError {
  const last = error.attempts.at(-1);
  return new CliError(exitOf(error.code, last?.status), error.code, error.message, {
    listenerAnswer: last?.answer,
    hint: error.hint || connectionHint(error.code, error.message, error.cause),
    answer: {
      eventId: error.event.id,
      attempts: error.attempts.length,
      ...(last?.status === undefined ? {} : { status: last.status }),
      ...(last?.receiverCode === undefined ? {} : { receiverCode: last.receiverCode }),
    },
  });
}

function exitOf(code: string, status: number | undefined): ExitCode {
  if (code === "ABORTED") return EXIT.interrupted;
  if (SETUP.has(code)) return EXIT.setup;
  if (code === "PROXY_FAILED") return EXIT.unreachable;
  if (status !== undefined)
    return status >= 500 || status === 408 || status === 425 || status === 429
      ? EXIT.unavailable
      : EXIT.refused;
  return UNREACHABLE.has(code) ? EXIT.unreachable : EXIT.usage;
}

/** What was thrown, with the code of who threw it; that one is no code of ours. */
function unexpected(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" && error.code !== ""
    ? `${error.message} (${error.code})`
    : error.message;
}
