import type { ErrorCode } from "../errors.js";
import type { Probe } from "./probe.js";

/** How a probe ended. Unclear: a deviation in what the specification leaves open, or an answer that proves nothing. */
export type ProbeOutcome = "pass" | "fail" | "skip" | "unclear";

/** What came back: a status, or the code of the failure that left none. */
export type Answer = { readonly status: number } | { readonly failure: ErrorCode };

/** An outcome, and in words why, where the statuses alone do not tell. */
export interface Judgement {
  readonly outcome: ProbeOutcome;
  readonly reason?: string;
}

type Rules = Pick<Probe, "expected" | "leftOpen">;

/** Holds one answer against what the specification says of a probe. */
export function judge({ expected, leftOpen }: Rules, answer: Answer): Judgement {
  if ("failure" in answer) {
    const closed = answer.failure === "CONNECTION_LOST" && leftOpen !== "nothing";
    return closed
      ? { outcome: "unclear", reason: "the connection was closed without an answer" }
      : { outcome: "fail", reason: `there was no answer (${answer.failure})` };
  }
  const { status } = answer;
  if (expected.includes(status)) return { outcome: "pass" };
  if (status === 429) return { outcome: "unclear", reason: "the request was refused for its rate" };
  if (status >= 500) return { outcome: "fail", reason: "a request must not bring about a server error" };
  if (leftOpen === "refusal") return { outcome: "unclear", reason: "the specification leaves this open" };
  if (leftOpen === "status" && status >= 400)
    return { outcome: "unclear", reason: "refused, and the specification leaves the status open" };
  if (status === 403) return { outcome: "fail", reason: "perhaps this machine's address is not allowed" };
  return { outcome: "fail" };
}

/** Holds the answers to copies of one event against each other: one is accepted, the others say why not. */
export function judgeCopies(answers: readonly Answer[]): Judgement {
  const statuses = answers.map((answer) => ("status" in answer ? answer.status : answer.failure));
  const reason = `the answers were ${statuses.join(", ")}`;
  const accepted = statuses.filter((status) => status === 200).length;
  if (accepted > 1) return { outcome: "fail", reason };
  const others = statuses.filter((status) => status !== 200);
  const told = others.every((status) => status === 409 || status === 503);
  if (accepted === 1 && told) return { outcome: "pass", reason };
  return { outcome: others.every((status) => status === 429 || status === 200) ? "unclear" : "fail", reason };
}
