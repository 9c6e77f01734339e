// Asks a listener that takes some right signatures and refuses others which characters it does not take.
import { unixSeconds } from "../../core/clock.js";
import { newEventId } from "../../core/event.js";
import { onlyValue } from "../../core/headers.js";
import { fixOf, isAccepted, type ListenerVerdict } from "./listener-verdict.js";
import { hmacKits } from "./requests.js";
import { type ProbeResult, type ProbeRun, sendBuilt } from "./send-probe.js";

/** Whether some right signatures are accepted, or those in base64, and others refused as wrong ones. */
export function takesSome(results: readonly ProbeResult[]): boolean {
  const isRight = ({ expected }: ProbeResult) => expected.some((one) => isAccepted(one) || one === 400);
  const isTaken = ({ id, status, expected }: ProbeResult) =>
    isAccepted(status) && (id === "signature-standard-alphabet" || expected.some(isAccepted));
  return results.some(isTaken) && results.some((one) => one.status === 401 && isRight(one));
}

/** Signatures that differ in how often they have the two characters in which base64url differs from base64. */
const KINDS = { none: [0, 0], dash: [2, 0], underscore: [0, 2], each: [1, 1] } as const;

/** The verdict on a listener whose base64url is not the whole of it; `undefined` where the characters tell nothing. */
export async function signsOfSignature(
  secret: string,
  results: readonly ProbeResult[],
  run: ProbeRun,
): Promise<ListenerVerdict | undefined> {
  let software = "";
  const takes = async (kind: keyof typeof KINDS): Promise<boolean | undefined> => {
    const { url, baseUrl, clock, pace } = run;
    await pace.ready();
    const kit = hmacKits(secret)({ url, baseUrl, nowSeconds: unixSeconds(clock), eventId: newEventId() });
    const [dashes, underscores] = KINDS[kind];
    const count = (text: string, sign: string) => text.split(sign).length - 1;
    for (let n = 0; n < 2_000; n++) {
      const body = `{"type":"hookproof.probe","n":${n}}`;
      const signature = kit.signature({ body });
      if (count(signature, "-") !== dashes || count(signature, "_") !== underscores) continue;
      const answer = await sendBuilt(kit.withSignature(signature, { body }), {
        ...run,
        progress: { answered: true },
      });
      if ("skipped" in answer || !("status" in answer)) return undefined;
      const { headers = [] } = answer;
      software ||= `${onlyValue(headers, "x-powered-by") ?? ""} ${onlyValue(headers, "server") ?? ""}`.trim();
      return isAccepted(answer.status);
    }
    return undefined;
  };
  if (!(await takes("none"))) return undefined;
  const [dash, underscore, each] = [await takes("dash"), await takes("underscore"), await takes("each")];
  if (dash === undefined || underscore === undefined || each === undefined || (dash && underscore))
    return undefined;
  const [which, bug] = each
    ? ["- or _ more than once", "it replaces only the first + and the first / of base64"]
    : dash
      ? ["_", "it replaces + of base64 and not /"]
      : underscore
        ? ["-", "it replaces / of base64 and not +"]
        : ["- or _", "it compares base64 with base64url"];
  return {
    id: "signature-base64",
    sentence: `It accepts correct signatures, and refuses those that have ${which}: ${bug}.`,
    fix: `Replace all of them, or take base64url from the library. ${fixOf("signature-base64", software)}`,
    follows: results
      .filter(({ status, outcome }) => outcome !== "pass" && status === 401)
      .map(({ id }) => id),
    unproved: [],
    requests: 4,
  };
}
