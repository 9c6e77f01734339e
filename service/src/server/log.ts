// Log lines of the service, without messages of others.
import { harmless } from "./harmless.js";

/** A logger as pino has it. */
export interface ServiceLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** How much is logged. */
export type LogLevel = "silent" | "error" | "warn" | "info";

/** A logger that says nothing. */
export const silentLog: ServiceLog = { info() {}, warn() {}, error() {} };

/** Names that no line of the service has: what a later one would say under them is not written. */
const REDACTED =
  "authorization body clientSecret client_assertion client_secret cookie headers hmacSecret password privateJwk secret signature signingSecret text token".split(
    " ",
  );

/** A logger of one's own, whose failures are dropped; for a level, pino on standard error, one JSON object a line. */
export async function serviceLog(
  log: ServiceLog | LogLevel,
  to?: { write(line: string): void },
): Promise<ServiceLog> {
  if (log === silentLog) return log;
  if (typeof log !== "string")
    return {
      info: harmless((fields, message) => log.info(fields, message)),
      warn: harmless((fields, message) => log.warn(fields, message)),
      error: harmless((fields, message) => log.error(fields, message)),
    };
  if (log === "silent") return silentLog;
  const { pino } = await import("./pino.js");
  const paths = REDACTED.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return pino({ level: log, base: null, redact: { paths } }, to ?? pino.destination(2)) as ServiceLog;
}

/** What a log line says of an error. */
interface LoggedError {
  readonly type: string;
  readonly code?: string;
  /** Only of errors whose words are the service's own. */
  readonly message?: string;
  /** Where it was thrown, the innermost place first. */
  readonly at: readonly string[];
  readonly cause?: LoggedError;
}

/** An error whose message holds names and numbers only, and nothing of a request or of what is stored. */
export class ServiceFault extends Error {
  override readonly name = "ServiceFault";
}

const MAX_CAUSES = 5;
const MAX_PLACES = 20;

/**
 * An error for a log line: its kind, its code and the places it came through. Its message is left out, as that of a
 * parser, a store or a callback may quote what it was given: a body, a secret or a token.
 */
export function loggedError(error: unknown, causes = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, at: [] };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: isPlain(name) ? name : "Error",
    ...(isPlain(code) ? { code } : {}),
    ...(error instanceof ServiceFault ? { message } : {}),
    at: placesOf(String(stack), String(message)),
    ...(cause === undefined || causes >= MAX_CAUSES ? {} : { cause: loggedError(cause, causes + 1) }),
  };
}

function isPlain(text: unknown): text is string {
  return typeof text === "string" && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(text);
}

/** The places of a stack, which begins with the message; one that does not is another's, and is left out. */
function placesOf(stack: string, message: string): string[] {
  const start = stack.indexOf(message);
  if (start < 0) return [];
  return stack
    .slice(start + message.length)
    .split("\n")
    .filter((line) => /^ {4}at /.test(line))
    .slice(0, MAX_PLACES)
    .map((line) => line.trim());
}
