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

/** A logger of one's own as it is; for a level, pino on standard error, one JSON object a line. */
export async function serviceLog(log: ServiceLog | LogLevel): Promise<ServiceLog> {
  if (typeof log !== "string") return log;
  if (log === "silent") return silentLog;
  const { pino } = await import("pino");
  return pino({ level: log, base: null }, pino.destination(2)) as ServiceLog;
}
