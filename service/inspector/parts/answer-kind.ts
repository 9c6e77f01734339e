// The kinds of answers that are told apart by colour, sign and words.
export type AnswerKind = "accepted" | "duplicate" | "malformed" | "refused" | "failed";

/** A status in the list; 0 is a connection that was cut. */
export const statusText = (status: number) => (status === 0 ? "cut" : String(status));

/** Which kind a status is. */
export function kindOf(status: number): AnswerKind {
  if (status === 0) return "failed";
  if (status < 300) return "accepted";
  if (status === 409) return "duplicate";
  if (status === 401 || status === 403 || status === 404) return "refused";
  return status >= 500 ? "failed" : "malformed";
}
