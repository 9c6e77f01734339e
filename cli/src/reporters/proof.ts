// Says of a run of probes whether it has proved anything.
import type { ListenerVerdict, ProbeResult } from "hookproof/probes";
import { countOf } from "../output.js";

/**
 * The results without the passes that are no proof, as the listener refuses correct requests as well; or, of a run that
 * was interrupted, as no correct request was accepted until then.
 */
export function weighed(
  results: readonly ProbeResult[],
  verdict: ListenerVerdict | undefined,
  isInterrupted: boolean,
): ProbeResult[] {
  const unproved = new Set(verdict?.unproved);
  const isAccepted = ({ status = 0 }: ProbeResult) => status >= 200 && status < 300;
  const isUnknown = isInterrupted && !results.some(isAccepted) && !tellsProofs(results);
  const isRefusal = ({ status = 0 }: ProbeResult) => status >= 400;
  return results.map((result) => {
    if (unproved.has(result.id))
      return {
        ...result,
        outcome: "unclear",
        reason: isAccepted(result)
          ? "the listener answers wrong requests alike"
          : "the listener answers correct requests alike",
      };
    return isUnknown && result.outcome === "pass" && isRefusal(result)
      ? { ...result, outcome: "unclear", reason: "no correct request was accepted before the interruption" }
      : result;
  });
}

/** Whether a right proof gets another answer than a wrong one, both with a body that is not JSON. */
function tellsProofs(results: readonly ProbeResult[]): boolean {
  const statusOf = (wanted: string) => results.find(({ id }) => id === wanted)?.status;
  return statusOf("body-not-json") === 400 && [401, 403].includes(statusOf("body-not-json-bad-proof") ?? 0);
}

/**
 * Why a run without a pass and without a failure has proved nothing; `undefined` if it has.
 *
 * @param compared how many answers were compared with a profile, where that decides and not what they prove
 */
export function whyNothing(results: readonly ProbeResult[], compared?: number): string | undefined {
  if (compared !== undefined)
    return compared > 0 ? undefined : "Nothing was proved: the profile has none of the answers that came.";
  if (results.some(({ outcome }) => outcome === "pass" || outcome === "fail")) return whyLittle(results);
  if (results.length === 0) return "Nothing was proved: no probe is left to be sent.";
  const sent = results.filter(({ outcome }) => outcome !== "skip");
  if (sent.length === 0) {
    const trigger = results.filter(({ skipped }) => skipped === "would-trigger").length;
    return trigger === 0
      ? "Nothing was proved: every probe was skipped."
      : `Nothing was proved: ${countOf(trigger, "probe")} would run the automation. --allow-trigger sends them.`;
  }
  const limited = sent.filter(({ status }) => status === 429).length;
  return limited === 0
    ? `Nothing was proved: of ${countOf(sent.length, "answer")} none is clear.`
    : `Nothing was proved: ${limited} of ${countOf(sent.length, "answer")} were 429. Something limits the rate: take the limit away for this test, or send fewer probes with --only.`;
}

/** Why a run whose answers are good is no proof all the same: a rate limit has refused some of its probes. */
function whyLittle(results: readonly ProbeResult[]): string | undefined {
  const sent = results.filter(({ outcome }) => outcome !== "skip");
  const limited = sent.filter(({ outcome, status }) => outcome === "unclear" && status === 429).length;
  return limited === 0
    ? undefined
    : `Not all was proved: ${limited} of ${countOf(sent.length, "answer")} were 429. Something limits the rate: take the limit away for this test, or send fewer probes with --only.`;
}

/**
 * Why a run that was interrupted, or that an error ended, is no whole one.
 *
 * @param error what ended it; nothing if it was interrupted
 */
export function whyIncomplete(error: unknown, answered: number, probes: number): string {
  const begins = error === undefined ? "Interrupted" : "Ended by an error";
  const at =
    answered < probes
      ? `after ${answered} of ${countOf(probes, "probe")}`
      : "while looking for the listener's mistake";
  const why = error instanceof Error ? ` ${error.message.trimEnd().replace(/(?<![.!?])$/, ".")}` : "";
  return `${begins} ${at}: the verdict is not complete.${why}`;
}
