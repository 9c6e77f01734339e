/** The SQLSTATE of an error of the server; an ORM may have wrapped it. */
export function sqlState(error: unknown): string | undefined {
  const { code, severity, cause } = Object(error) as { code?: unknown; severity?: unknown; cause?: unknown };
  if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && severity !== undefined) return code;
  return cause === undefined ? undefined : sqlState(cause);
}

/** Whether it is a deadlock or a serialization failure: the same work may succeed if it runs again. */
export function isCollision(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}
