// Names what several answers show together, where the first of them alone would mislead.
import { countOf, shown } from "../../core/shown.js";
import { isAccepted, type ListenerVerdict, type Proof, WRONG_PROOF } from "./listener-verdict.js";
import type { ProbeResult } from "./send-probe.js";

/** A verdict with the results that it explains. */
export type JointVerdict = Pick<ListenerVerdict, "id" | "sentence" | "fix"> & {
  readonly follows: readonly ProbeResult[];
};

/** So many answers have to agree. */
const MIN = 4;

/** What the answers of a listener show that accepts right proofs and refuses wrong ones. */
export function jointVerdict(results: readonly ProbeResult[], proof: Proof): JointVerdict | undefined {
  return (
    failsOnce(results, proof) ??
    refusesOtherwise(results, proof) ??
    failsOnLengths(results) ??
    takesForOld(results) ??
    narrowWindow(results, proof) ??
    verifiesText(results, proof) ??
    endsAtZero(results, proof) ??
    refusesOneOtherwise(results, proof)
  );
}

/** Right signatures are refused as wrong ones where the body is no text, or comes in more than one piece. */
function verifiesText(results: readonly ProbeResult[], proof: Proof): JointVerdict | undefined {
  const large = verdictOfChoices(results, proof);
  const failed = results.filter(({ outcome }) => outcome === "fail");
  const text = failed.find(({ id, status }) => id === "body-not-utf8" && status === 401);
  const isAlone = proof.harmless === 400 && failed.every(({ id }) => id.startsWith("body-"));
  if (text === undefined || !isAccepted(proof.right) || !isAlone) return undefined;
  if (large?.follows[0]?.status === 401) return { ...large, follows: [...large.follows, text] };
  return {
    id: text.id,
    sentence: `It answers 401 and not 400 to ${text.title}: it verifies a text of the body, and not its bytes.`,
    fix: "Verify the bytes as received, and parse them afterwards.",
    follows: [text],
  };
}

/** Of bodies that are no JSON the one with zero bytes alone is refused as wrongly signed. */
function endsAtZero(results: readonly ProbeResult[], { right, harmless }: Proof): JointVerdict | undefined {
  const failed = results.filter(({ outcome }) => outcome === "fail");
  const [only] = failed;
  if (failed.length !== 1 || only?.id !== "body-utf16" || only.status !== 401) return undefined;
  if (!isAccepted(right) || harmless !== 400) return undefined;
  return {
    id: only.id,
    sentence: `It answers 401 and not 400 to ${only.title}, which has zero bytes in it: what it verifies is another body, such as one that ends at the first of them.`,
    fix: "Verify as many bytes as were received, not a text that ends at a zero byte, as C has it.",
    follows: [only],
  };
}

/** So many of the last answers have to be alike. */
const MIN_LAST = 15;
/** So many of them have to be other ones than before. */
const MIN_CHANGED = 8;

/** From some probe on everything gets one refusal, or nothing, which was not so before. */
export function stopsAnswering(results: readonly ProbeResult[]): JointVerdict | undefined {
  const sent = results.filter(({ outcome, status }) => outcome !== "skip" && status !== 429);
  const seenBy = ({ status, failure }: ProbeResult) => status ?? failure;
  const last = sent.at(-1);
  const kind = last && seenBy(last);
  if (kind === undefined || kind === 401 || kind === 400 || (typeof kind === "number" && kind < 400))
    return undefined;
  const from = sent.findLastIndex((one) => seenBy(one) !== kind) + 1;
  const [before, after] = [sent.slice(0, from), sent.slice(from)];
  const wasRefused = ({ status, expected }: ProbeResult) => status === 401 && expected[0] === 401;
  const changed = after.filter(({ expected }) => expected[0] === 401 && !expected.includes(kind as number));
  if (after.length < MIN_LAST || changed.length < MIN_CHANGED || !before.some(wasRefused)) return undefined;
  if (before.filter((one) => seenBy(one) === kind).length > before.length / 4) return undefined;
  const [first = last] = after;
  const words =
    typeof kind === "number"
      ? `everything is answered ${kind}, also wrong proofs, which were answered 401 before: something bans this machine after so many requests or refusals`
      : `nothing is answered any more (${kind}): it has stopped, or something bans this machine after so many requests or refusals`;
  return {
    id: first?.id ?? "",
    sentence: `After ${countOf(before.length, "answer")} ${words}.`,
    fix: "Look into its log, and take the limit away for this test, such as fail2ban's or a firewall's.",
    follows: after.filter(({ outcome }) => outcome === "fail" || outcome === "unclear"),
  };
}

/** A rate limit has taken most of the answers, and with them what could tell a cause. */
export function limitedVerdict(results: readonly ProbeResult[]): JointVerdict | undefined {
  const sent = results.filter(({ outcome }) => outcome !== "skip");
  const limited = sent.filter(({ status }) => status === 429);
  if (limited.length < sent.length / 2 || !sent.some(({ outcome }) => outcome === "fail")) return undefined;
  const [first] = limited;
  return {
    id: first?.id ?? "",
    sentence: `Something limits the rate: ${limited.length} of ${countOf(sent.length, "answer")} are 429, and the others say too little for a cause.`,
    fix: "Take the limit away for this test, or send fewer probes.",
    follows: [],
  };
}

/** What is signed now is accepted, and what is 300 s away from it is refused as too old or too early. */
function narrowWindow(results: readonly ProbeResult[], { right }: Proof): JointVerdict | undefined {
  const [old, ahead] = ["timestamp-300-s-old", "timestamp-300-s-ahead"].map((wanted) =>
    results.find(
      ({ id, outcome, status = 0 }) => id === wanted && outcome === "fail" && status >= 400 && status < 500,
    ),
  );
  const first = old ?? ahead;
  // With anything else that fails, the window is not all that is wrong.
  const others = results.filter(
    ({ outcome, id }) => outcome === "fail" && !id.startsWith("timestamp-300-s-"),
  );
  if (first === undefined || !isAccepted(right) || others.length > 0) return undefined;
  const which = old && ahead ? "old, and one that is 300 s ahead" : old ? "old" : "ahead";
  return {
    id: first.id,
    sentence: `It refuses a timestamp that is exactly 300 s ${which}, and accepts one of now: its window is smaller than 5 minutes, or leaves out its end.`,
    fix: "Accept abs(now - timestamp) <= 300, in whole seconds: senders, queues and clocks need that long.",
    follows: [old, ahead].flatMap((one) => one ?? []),
  };
}

/** A correct request failed, and others that are as correct were accepted. */
function failsOnce(results: readonly ProbeResult[], { right }: Proof): JointVerdict | undefined {
  const failed = results.filter(
    ({ outcome, status = 0, expected }) => outcome === "fail" && status >= 500 && expected.some(isAccepted),
  );
  const [first] = failed;
  if (first === undefined || !isAccepted(right)) return undefined;
  return {
    id: first.id,
    sentence: `It answers ${first.status} to ${first.title}, and accepts other correct requests.`,
    fix: "Look into its log for the exception.",
    follows: failed,
  };
}

/** Each wrong proof is refused, with the same other status. */
function refusesOtherwise(
  results: readonly ProbeResult[],
  { right, harmless, wrong }: Proof,
): JointVerdict | undefined {
  if (wrong === undefined || wrong === 401 || wrong < 400) return undefined;
  if (!isAccepted(right) && (harmless !== 400 || wrong === 400)) return undefined;
  const refusals = results.filter(
    ({ status, expected: [only, second] }) => only === 401 && !second && status,
  );
  const alike = refusals.filter(({ status }) => status === wrong);
  const specified = refusals.filter(({ status }) => status === 401);
  const [first] = alike.filter(({ id }) => id === WRONG_PROOF.hmac || id === WRONG_PROOF.jwt);
  // A listener may answer 401 to a proof that is not there at all.
  if (first === undefined || alike.length < MIN * Math.max(1, specified.length)) return undefined;
  return {
    id: first.id,
    sentence: `It refuses wrong proofs with ${wrong} and not with 401${wrong < 500 ? "" : ", as where the verification throws and nobody catches it"}.`,
    fix:
      wrong < 500
        ? "Answer 401 where the signature or the token is missing or wrong."
        : "Answer 401 for them: where the verification throws, as libraries for tokens do for every wrong one, catch it.",
    follows: alike,
  };
}

/** A proof by an unknown secret or key is refused with another status than others. */
function refusesOneOtherwise(
  results: readonly ProbeResult[],
  { right, wrong }: Proof,
): JointVerdict | undefined {
  if (wrong === undefined || wrong === 401 || wrong < 400 || wrong >= 500 || !isAccepted(right))
    return undefined;
  const alike = results.filter(
    ({ outcome, status, expected }) => outcome === "fail" && status === wrong && expected[0] === 401,
  );
  const first = alike.find(({ id }) => id === WRONG_PROOF.hmac || id === WRONG_PROOF.jwt);
  return (
    first && {
      id: first.id,
      sentence: `It answers ${wrong} and not 401 to ${first.title}.`,
      fix: "Answer 401 to every wrong proof: to a signature that does not match as well as to one that is missing or malformed.",
      follows: alike,
    }
  );
}

/** Two requests that differ in their proof alone, the first with a right one; and another one with a wrong proof. */
const BY_PROOF: readonly (readonly [right: string, wrong: string, alsoWrong: string])[] = [
  ["correct-request", WRONG_PROOF.hmac, "signature-of-zeros"],
  ["correct-request", WRONG_PROOF.jwt, "token-empty-signature"],
];

/** Wrong proofs get the status of right ones, and each of them the same other body. */
export function refusesInWords(
  results: readonly ProbeResult[],
  { right, wrong }: Proof,
): JointVerdict | undefined {
  if (!isAccepted(wrong) || !isAccepted(right)) return undefined;
  const bodyOf = (id: string) => results.find((one) => one.id === id)?.answer?.body;
  for (const ids of BY_PROOF) {
    const bodies = ids.map(bodyOf);
    const [ofRight, ofWrong, alsoOfWrong] = bodies.map((body) => JSON.stringify(body));
    const first = results.find(({ id }) => id === ids[1]);
    if (bodies.includes(undefined) || first === undefined) continue;
    if (ofWrong === ofRight || ofWrong !== alsoOfWrong) continue;
    return {
      id: first.id,
      sentence: `It answers ${wrong} to wrong proofs as well, with another body (${shown(bodies[1])}): if it refuses them, only the body says so.`,
      fix: "Answer 401 where the signature or the token is missing or wrong: senders read the status and not the body.",
      follows: results.filter(
        ({ outcome, status, expected }) =>
          outcome === "fail" && status === wrong && !expected.some(isAccepted),
      ),
    };
  }
  return undefined;
}

/** What a listener may choose, and senders suffer from: a lower limit than others have. */
export function verdictOfChoices(
  results: readonly ProbeResult[],
  { right }: Proof,
): JointVerdict | undefined {
  const refused = (name: string) =>
    results.find(
      ({ id, status = 0, outcome }) =>
        id === name && outcome === "unclear" && status >= 400 && status !== 429,
    );
  if (!isAccepted(right)) return undefined;
  const large = refused("body-64-kb");
  if (large === undefined)
    return verdictOfSpelling(refused("content-type-charset"), refused("authorization-lower-case"));
  return {
    id: large.id,
    sentence:
      large.status === 401
        ? "It answers 401 to a correct request of 65,536 bytes: what it verifies is another body, as if it were cut, or read as text piece by piece."
        : `It answers ${large.status} to a correct request of 65,536 bytes: its limit is lower, or that of a body parser or proxy before it.`,
    fix: "Allow 65,536 bytes, in every proxy and body parser before the listener.",
    follows: [large],
  };
}

/** What is written in another way than most senders write it, and is the same. */
function verdictOfSpelling(
  typed: ProbeResult | undefined,
  small: ProbeResult | undefined,
): JointVerdict | undefined {
  if (typed)
    return {
      id: typed.id,
      sentence: `It answers ${typed.status} to ${typed.title}, which many clients send: it compares the whole header, and not the media type alone.`,
      fix: "Compare the media type only, not its parameters.",
      follows: [typed],
    };
  return (
    small && {
      id: small.id,
      sentence: `It answers ${small.status} to ${small.title}, which is the same scheme: it compares Bearer letter by letter.`,
      fix: "Compare Bearer case-insensitively (RFC 9110 section 11.1).",
      follows: [small],
    }
  );
}

const OF_OTHER_LENGTH =
  /^signature-(?:one-character|4-kb|42-characters|44-characters|hex|padded|prefix-sha256|prefix-v1)$/;
const OF_SAME_LENGTH = ["signature-of-other-secret", "signature-of-zeros"];

/** Signatures of another length than the right one's fail it, and those of the same length do not. */
function failsOnLengths(results: readonly ProbeResult[]): JointVerdict | undefined {
  const sent = results.filter(({ status }) => status !== undefined);
  const others = sent.filter(({ id }) => OF_OTHER_LENGTH.test(id));
  const same = sent.filter(({ id }) => OF_SAME_LENGTH.includes(id));
  const [first] = others;
  if (first === undefined || others.length < MIN || same.length === 0) return undefined;
  const fails = ({ status = 0 }: ProbeResult) => status >= 500;
  if (!others.every(fails) || same.some(fails)) return undefined;
  return {
    id: "signature-one-character",
    sentence: `It answers ${first.status} and not 401 to signatures of another length than 43 characters: its comparison fails.`,
    fix: "Compare the lengths first and answer 401 if they differ: comparisons in constant time, such as timingSafeEqual, throw there.",
    follows: sent.filter((one) => one.id.startsWith("signature-") && one.outcome !== "pass" && fails(one)),
  };
}

/** Correct requests with an event id of their own are answered as if it had come before. */
function takesForOld(results: readonly ProbeResult[]): JointVerdict | undefined {
  const SENT_BEFORE = ["event-id-of-refused-request", "event-id-copies-at-once"];
  const taken = results.filter(
    ({ id, status, expected }) => status === 409 && expected.some(isAccepted) && !SENT_BEFORE.includes(id),
  );
  const [first] = taken;
  if (first === undefined || taken.length < 2) return undefined;
  return {
    id: first.id,
    sentence:
      "It answers 409 to correct requests with a new event id: it recognises events by something else than the event id.",
    fix: "Recognise an event by Webhook-Event-Id alone: two events may have the same body, the same time or the same type.",
    follows: taken,
  };
}
