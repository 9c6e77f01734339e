import type { RequestDetail } from "../../src/inspector/contract.js";

/** The service takes a timestamp for this long, before and after its own time. */
const WINDOW_MS = 300_000;

/** The verdict, whatever answer was forced in its place. */
export function verdictStatus({
  status,
  verdictStatus,
}: Pick<RequestDetail, "status" | "verdictStatus">): number {
  return verdictStatus ?? status;
}

/** How long the request's own timestamp is still in the window; undefined where it has none. */
export function freshForMs({ timestamp }: Pick<RequestDetail, "timestamp">, now: number): number | undefined {
  if (timestamp === undefined) return undefined;
  const left = timestamp * 1000 + WINDOW_MS - now;
  return left > 2 * WINDOW_MS ? 0 : Math.max(0, left);
}

/** What the same headers and bytes get when they are sent again; undefined where the automation decides. */
export function statusOfExact(detail: RequestDetail, now: number): number | undefined {
  const steps = detail.steps.map(({ step }) => step);
  const failed = detail.steps.findIndex(({ state }) => state === "failed");
  const status = verdictStatus(detail);
  if (failed >= 0 && failed < steps.indexOf("window")) return status;
  if (freshForMs(detail, now) === 0) return 400;
  return signedStatus(status);
}

/** What the same event gets when it is signed anew, with its own id. */
export function statusOfSameId(detail: RequestDetail): number | undefined {
  const status = verdictStatus(detail);
  return status === 200 || status === 409 ? 409 : undefined;
}

function signedStatus(status: number): number | undefined {
  if (status >= 500) return undefined;
  return status === 200 ? 409 : status;
}
