// Asks a listener that takes a shortened signature how much of one it compares.
import { unixSeconds } from "../../core/clock.js";
import { newEventId } from "../../core/event.js";
import { isAccepted, type ListenerVerdict } from "./listener-verdict.js";
import { hmacKits } from "./requests.js";
import { type ProbeResult, type ProbeRun, sendBuilt } from "./send-probe.js";

const accepts = (results: readonly ProbeResult[], wanted: string) =>
  results.some(({ id, status }) => id === wanted && isAccepted(status));

const [SHORTER, OTHER_END] = ["signature-42-characters", "signature-trailing-bits"];

/** Whether a listener takes the correct signature without its last character, or with another one there. */
export function comparesPart(results: readonly ProbeResult[]): boolean {
  return accepts(results, "correct-request") && [SHORTER, OTHER_END].some((id) => accepts(results, id));
}

/** How many characters are right in the signatures that are sent, of 43. */
const RIGHT_CHARACTERS = [8, 32];

/** The verdict on a listener that compares only a part; `undefined` where a shorter signature is all that it takes. */
export async function partOfSignature(
  secret: string,
  results: readonly ProbeResult[],
  run: ProbeRun,
): Promise<ListenerVerdict | undefined> {
  const { url, baseUrl, clock, pace } = run;
  const verdictOf = (sentence: string, requests: number): ListenerVerdict => ({
    id: accepts(results, SHORTER) ? SHORTER : OTHER_END,
    sentence,
    fix: "Compare the header's text with the 43 characters you compute: refuse another length first, and compare all of them in constant time.",
    follows: results
      .filter(
        ({ id, outcome, status }) => outcome === "fail" && id.startsWith("signature-") && isAccepted(status),
      )
      .map(({ id }) => id),
    unproved: [],
    requests,
  });
  for (const [index, right] of RIGHT_CHARACTERS.entries()) {
    await pace.ready();
    const kit = hmacKits(secret)({ url, baseUrl, nowSeconds: unixSeconds(clock), eventId: newEventId() });
    const signature = kit.signature();
    const rest = signature.slice(right).replace(/./g, (one) => (one === "A" ? "B" : "A"));
    const answer = await sendBuilt(kit.withSignature(signature.slice(0, right) + rest), {
      ...run,
      progress: { answered: true },
    });
    if ("status" in answer && isAccepted(answer.status))
      return verdictOf(
        `It accepts a signature of which only the first ${right} characters are right: it compares the beginning alone.`,
        index + 1,
      );
  }
  return accepts(results, SHORTER) && accepts(results, "signature-44-characters")
    ? verdictOf(
        "It accepts the correct signature without its last character, and with one more: it compares only as many characters as both have.",
        RIGHT_CHARACTERS.length,
      )
    : undefined;
}
