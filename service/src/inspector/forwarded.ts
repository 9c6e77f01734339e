// What an application answered to a request that was forwarded to it.
import { type Forwarded, LIMITS, type RequestRow } from "./contract.js";

/** Bounds what an application has answered, so that it can be kept. */
export function keptForwarded(answer: Forwarded): Forwarded {
  const url = cleaned(answer.url, LIMITS.forwardedUrlCharacters);
  if ("error" in answer) return { url, error: cleaned(answer.error, LIMITS.forwardedUrlCharacters) };
  const { status, body = "", ms } = answer;
  return { url, status, body: cleaned(body, LIMITS.answerCharacters), ...(ms === undefined ? {} : { ms }) };
}

/** Reads it from a file that somebody else may have written. */
export function readForwarded(value: Readonly<Record<string, unknown>> | undefined): Forwarded | undefined {
  const { url, status, body, ms, error } = value ?? {};
  if (typeof url !== "string") return undefined;
  if (typeof error === "string") return keptForwarded({ url, error });
  if (typeof status !== "number" || !Number.isSafeInteger(status) || status < 100 || status > 999)
    return undefined;
  return keptForwarded({
    url,
    status,
    ...(typeof body === "string" ? { body } : {}),
    ...(typeof ms === "number" && Number.isFinite(ms) && ms >= 0 ? { ms } : {}),
  });
}

/** What the row says of it: its status, 0 for none; and where the event was refused, that the application did so. */
export function forwardedRow(
  answer: Forwarded,
  code: string | undefined,
): Pick<RequestRow, "forwardedStatus"> & Partial<Pick<RequestRow, "cause" | "reason">> {
  const forwardedStatus = "status" in answer ? answer.status : 0;
  if (code === undefined) return { forwardedStatus };
  const cause = forwardedStatus === 0 ? "Your application did not answer" : "Your application refused it";
  return { forwardedStatus, cause, reason: `${cause}.` };
}

function cleaned(text: string, max: number): string {
  // A name and a password in a URL are nobody's business.
  return text.slice(0, max).replace(/^(https?:\/\/)[^/?#@]*@/i, "$1");
}
