/** Errors of exchanges of which nothing can have reached the host. */
const unsent = new WeakSet<Error>();

/** Notes that nothing of an exchange can have reached its host, so that whoever sent knows what did not happen. */
export function asUnsent<Thrown extends Error>(error: Thrown): Thrown {
  unsent.add(error);
  return error;
}

/** Whether nothing can have reached the host for certain; false of what a transport of somebody else's throws. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && unsent.has(error);
}
