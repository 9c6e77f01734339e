// What a request will get when it is sent again, and why.
import type { RequestDetail } from "../../src/inspector/contract.js";
import { decode, fromBase64 } from "../text/bytes.js";

/** The service takes a timestamp for this long, before and after its own time. */
const WINDOW_MS = 300_000;

/** What a new signature, timestamp and id leave as it is. */
const STAYS: ReadonlySet<string> = new Set([
  ...["listener", "method", "headers", "source", "size", "content-type", "media-type", "body", "trigger"],
]);

/** An event's id, as the service demands it. */
export const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** What a request will get, and why. */
export interface Prospect {
  /** Absent where nobody can know. */
  readonly status?: number;
  readonly why: string;
}

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

/** What the same headers and bytes get when they are sent again; undefined where nobody can know: see `whoDecides`. */
export function statusOfExact(detail: RequestDetail, now: number): number | undefined {
  if (detail.scheme !== undefined) return undefined;
  const steps = detail.steps.map(({ step }) => step);
  const failed = detail.steps.findIndex(({ state }) => state === "failed");
  const status = verdictStatus(detail);
  if (failed >= 0 && failed < steps.indexOf("window")) return status;
  if (freshForMs(detail, now) === 0) return 400;
  if (status >= 500) return undefined;
  return status === 200 ? 409 : status;
}

/** Who decides what an exact replay gets. Another scheme has its own answers to what is late, or was there before. */
export function whoDecides({ scheme }: Pick<RequestDetail, "scheme">): string {
  return scheme === undefined ? "the automation decides" : "the scheme decides";
}

/** What the same event gets when it is signed again, with its own id. */
export function prospectOfSameId(detail: RequestDetail): Prospect {
  const status = verdictStatus(detail);
  if (status === 200 || status === 409) return { status: 409, why: "the id is used up" };
  if (!UUID_4.test(detail.eventId ?? "")) return { status: 400, why: "its id is no UUID of version 4" };
  const prospect = prospectOfNewId(detail);
  return prospect.status === 200 ? { ...prospect, why: "the same event, rightly signed" } : prospect;
}

/** What the same body gets when it is signed again, with another id. */
export function prospectOfNewId(detail: RequestDetail): Prospect {
  const failed = detail.steps.find(({ state }) => state === "failed");
  if (failed?.step === "run") return { why: "the automation decides" };
  if (failed && STAYS.has(failed.step))
    return { status: verdictStatus(detail), why: `“${failed.step}” fails as before` };
  const reached = detail.steps.some(({ step, state }) => step === "body" && state === "passed");
  if (!reached && !isJsonMediaType(detail)) return { status: 415, why: "it is not sent as application/json" };
  if (!reached && !isJson(detail.bodyBase64)) return { status: 400, why: "the body is not JSON" };
  return { status: 200, why: "the automation runs again" };
}

function isJsonMediaType({ headers }: RequestDetail): boolean {
  const types = headers.filter(([name]) => name.toLowerCase() === "content-type");
  return types.length === 1 && /^\s*application\/json\s*(?:;|$)/i.test(types[0]?.[1] ?? "");
}

/** One JSON value in UTF-8, without a byte order mark. */
function isJson(bodyBase64: string): boolean {
  const [text, ...more] = decode(fromBase64(bodyBase64));
  if (typeof text !== "string" || more.length > 0 || text.startsWith("\ufeff")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
