// Weighs what the probes show of a listener in one sentence.
import { secretFingerprint } from "../../schemes/access-governance/secret.js";
import { rowOf } from "../diagnose/catalogue.js";
import { FIXES, GENERAL_FIXES, languageOf } from "../rows/language-fixes.js";
import type { Family, ListenerWords } from "../rows/mistake.js";
import type { ProbeTarget } from "./run-probes.js";
import type { ProbeResult } from "./send-probe.js";

/** What is wrong with a listener, in one sentence. */
export interface ListenerVerdict {
  /**
   * The mistake of `mistakes` in hookproof/diagnose that the listener makes, such as `secret-base64url-decoded`, or the
   * probe that shows it. `answers-alike` if something in front of the listener answers everything.
   * `signature-unexplained` or `token-signature-unexplained` if correct requests are refused and no known mistake
   * explains it.
   */
  readonly id: string;
  /** The verdict, such as `It refuses correct requests and accepts signatures made with the decoded secret: it decodes the secret.` */
  readonly sentence: string;
  /** What to change; with code in the listener's language, where its answers tell which that is. */
  readonly fix: string;
  /** The ids of the probes whose failure follows from it. */
  readonly follows: readonly string[];
  /** The ids of probes that passed and prove nothing: right and wrong requests get the same status. */
  readonly unproved: readonly string[];
  /** How many requests were sent to find it. */
  readonly requests: number;
}

/** Requests that are correct but for a body that is not JSON: they run nothing, and a right proof gets 400. */
const HARMLESS = ["body-not-json", "body-empty", "body-truncated"];
/** The probe with a proof by an unknown secret or key. */
export const WRONG_PROOF = { hmac: "signature-of-other-secret", jwt: "token-of-other-key" };

/** The probe with a timestamp of an hour ago. */
export const TOO_OLD = "timestamp-too-old";

/** How the listener answered a right and a wrong proof. */
export interface Proof {
  /** The status that a correct request got; absent if none was sent. */
  readonly right: number | undefined;
  /** The status that a correct request with a body that is not JSON got. */
  readonly harmless: number | undefined;
  readonly wrong: number | undefined;
}

/** What the results say about right and wrong proofs. */
export function proofIn(results: readonly ProbeResult[], method: keyof typeof WRONG_PROOF): Proof {
  // What a rate limit answers says nothing of a proof.
  const statusOf = (...ids: string[]) =>
    results.find(({ id, status }) => ids.includes(id) && status !== undefined && status !== 429)?.status;
  const right = statusOf("correct-request");
  // One error of the server is no refusal where other correct requests are accepted.
  const other = results.find(
    ({ status, expected }) => isAccepted(status) && expected.some(isAccepted),
  )?.status;
  return {
    right: right !== undefined && right >= 500 ? (other ?? right) : right,
    harmless: statusOf(...HARMLESS),
    wrong: statusOf(WRONG_PROOF[method]),
  };
}

/** Whether a status says that the listener accepted the request. */
export function isAccepted(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** Whether it is certain that the listener refuses correct requests. */
export function refusesRight({ right, harmless }: Proof): boolean {
  return right === undefined
    ? harmless !== undefined && [401, 403, 404, 407].includes(harmless)
    : !isAccepted(right);
}

/** The verdict on a listener that makes these mistakes. */
export function verdictOf(
  ids: readonly string[],
  results: readonly ProbeResult[],
  proof: Proof,
  sent: { readonly count: number; readonly software: string; readonly detail: string | undefined },
): ListenerVerdict {
  const words = ids.map(wordsOf);
  return {
    id: ids[0] ?? "",
    sentence: sentenceOf(words, refusesRight(proof), sent.detail),
    fix: [...new Set(ids.map((id) => fixOf(id, sent.software)))].join(" "),
    follows: followersOf(results, words, proof),
    unproved: passesWith(refusalOf(proof), results),
    requests: sent.count,
  };
}

/** The status with which the listener refuses correct requests; `undefined` if it is not certain that it does. */
function refusalOf(proof: Proof): number | undefined {
  return refusesRight(proof) ? (proof.right ?? proof.harmless) : undefined;
}

/** The passes that are no proof, as correct requests are refused with their status as well; none without one. */
export function passesWith(refusal: number | undefined, results: readonly ProbeResult[]): string[] {
  return results
    .filter(({ outcome, status }) => outcome === "pass" && status !== undefined && status === refusal)
    .map(({ id }) => id);
}

/** What a listener demands that no sender has to send, and which is therefore no mistake of the catalogue. */
const DEMANDS: Readonly<Record<string, ListenerWords>> = {
  "demands-bearer-case": {
    family: "token",
    accepts: "tokens behind bearer in other letters than Bearer",
    bug: "it compares the name of the scheme letter by letter with another spelling",
  },
  "demands-iat": {
    family: "token",
    accepts: "tokens with iat",
    bug: "it demands a claim that tokens of the service do not have",
  },
  "demands-nbf": {
    family: "token",
    accepts: "tokens with nbf",
    bug: "it demands a claim that tokens of the service do not have",
  },
  "demands-iss": {
    family: "token",
    accepts: "tokens with iss and iat",
    bug: "it demands claims that tokens of the service do not have",
  },
  "demands-standard-webhooks": {
    family: "input",
    accepts: "signatures as Standard Webhooks makes them",
    bug: "it verifies by that scheme",
  },
  "demands-typ": {
    family: "token",
    accepts: "tokens with another typ than JWT, or none",
    bug: "it compares typ with another value",
  },
};

/** The words for a mistake of a listener. */
export function wordsOf(id: string): ListenerWords {
  const words = rowOf(id)?.listener ?? DEMANDS[id];
  if (words === undefined) throw new Error(`the mistake ${id} has no words for a listener`);
  return words;
}

function sentenceOf(words: readonly ListenerWords[], refuses: boolean, detail?: string): string {
  const accepts = words
    .map((one, index) => (index === 0 ? one.accepts : one.accepts.replace(/^signatures /, "")))
    .join(" and ");
  const bugs = detail ?? words.map(({ bug }) => bug).join(", and ");
  return `It ${refuses ? "refuses correct requests and " : ""}accepts ${accepts}: ${bugs}.`;
}

/** What one mistake alone demands, where that of its family says something else. */
const OWN_FIXES: Readonly<Record<string, string>> = {
  "bearer-missing": "Take the token that stands after Bearer and a space.",
  "claim-exp-milliseconds": "Compare exp in seconds: now < exp <= now + 600.",
  "claim-exp-too-far": "Accept exp up to 600 s ahead: the sender chooses how long a token lives.",
  "demands-bearer-case": "Compare the name of the scheme without regard to case: senders write Bearer.",
  "demands-iat": "Demand sub, aud, exp, jti, htm and htb_s256 alone: exp bounds a token's age.",
  "demands-nbf": "Demand sub, aud, exp, jti, htm and htb_s256 alone: exp bounds a token's life.",
  "demands-iss": "Demand sub, aud, exp, jti, htm and htb_s256 alone: sub says who has sent it.",
  "demands-standard-webhooks":
    "Verify base64url(HMAC-SHA256(secret, timestamp.event_id.body)) with the secret's text as the key; or send by that scheme, with standardWebhooksSigner or --scheme standard-webhooks.",
  "demands-typ": "Take tokens whose typ is JWT: that is what senders write.",
  "token-signature-der":
    "Verify r and s of 32 bytes each, not DER: in Node with dsaEncoding 'ieee-p1363', in Java as SHA256withECDSAinP1363Format.",
};

/** What to change, in the language that the answers tell. */
export function fixOf(id: string, software: string): string {
  const own = Object.hasOwn(OWN_FIXES, id) ? OWN_FIXES[id] : undefined;
  if (own !== undefined) return own;
  const { family } = wordsOf(id);
  const language = languageOf(software);
  const inLanguage = language && FIXES[family][language];
  return inLanguage ?? GENERAL_FIXES[family] ?? rowOf(id)?.fix ?? "";
}

/** The probes that a bug of a family fails because the listener accepts what it must refuse. */
const SHOWN_BY: Readonly<Record<Family, RegExp>> = {
  key: /^signature-of-/,
  secret: /^signature-of-/,
  input:
    /^(?:signature-(?:parts|without|of-body|sha)|timestamp-changed|event-id-(?:changed|signed)|body-changed|body-reserialised|body-newline)/,
  form: /^signature-/,
  body: /^body-/,
  time: /^timestamp-/,
  clock: /^timestamp-/,
  headers: /^$/,
  token: /^(?:claim|sub|aud|jti|htm|htb|exp|authorization)/,
};

/** A failure follows if the probe shows the mistake itself, or was refused as every correct request is. */
function followersOf(
  results: readonly ProbeResult[],
  words: readonly ListenerWords[],
  proof: Proof,
): string[] {
  const refusal = refusalOf(proof);
  const refusals = new Set(refusal === undefined ? [] : [refusal, proof.wrong]);
  if (proof.right === undefined && proof.wrong !== 401) refusals.add(proof.wrong);
  return results
    .filter(({ outcome }) => outcome === "fail" || outcome === "unclear")
    .filter(({ id, status }) => refusals.has(status) || words.some(({ family }) => SHOWN_BY[family].test(id)))
    .map(({ id }) => id);
}

const STATUS_CAUSES: Readonly<Record<number, readonly [cause: string, fix: string]>> = {
  400: [
    "no known mistake explains it",
    "Look into its answer and its log for what it misses: 400 is for headers, times and bodies, and says nothing about the secret or the key.",
  ],
  403: [
    "it does not allow this machine's address, or a gateway before it asks for something else",
    "Allow the address, or test from one that is allowed.",
  ],
  404: [
    "the path is not the listener's",
    "Compare the URL with the route, and the id at its end with the listener's.",
  ],
};

/** The verdict on a listener that refuses correct requests for no known mistake. */
export function unexplained(
  { auth }: ProbeTarget,
  results: readonly ProbeResult[],
  proof: Proof,
  { requests, told }: { readonly requests: number /** Of an answer that all got. */; readonly told: string },
): ListenerVerdict {
  const status = proof.right ?? proof.harmless ?? 0;
  const isHmac = auth.method === "hmac";
  const known = { follows: followersOf(results, [], proof), unproved: passesWith(refusalOf(proof), results) };
  const taken = results.find(
    (one) => one.outcome === "fail" && isAccepted(one.status) && !one.expected.some(isAccepted),
  );
  if (taken)
    return {
      id: taken.id,
      sentence: `It refuses correct requests with ${status}${told} and accepts ${titleOf(taken)}: it demands that of all of them.`,
      fix: taken.fix ?? "",
      ...known,
      follows: [taken.id, ...known.follows],
      requests,
    };
  const [cause, fix] = STATUS_CAUSES[status] ?? [
    status >= 500 ? "it fails with a server error" : "no known mistake explains it",
    status >= 500
      ? "Look into its log."
      : status !== 401
        ? `Look into its answer and its log: ${status} is not the status for a wrong proof.`
        : isHmac
          ? `Compare the first 8 characters of the SHA-256 of the secret's text on both sides (here ${secretFingerprint(auth.secret)}): printf %s "$SECRET" | openssl dgst -sha256.`
          : "Compare what it demands of the claims with a token's, first aud and sub, which are public URLs; and look at the key set that it has with hookproof jwks check <url>.",
  ];
  return {
    id: isHmac ? "signature-unexplained" : "token-signature-unexplained",
    sentence: `It refuses correct requests with ${status}${told}, and ${requests} requests with known mistakes too: ${cause}.`,
    fix,
    ...known,
    requests,
  };
}

/** What a probe sends, as it is said in a sentence. */
function titleOf({ title }: Pick<ProbeResult, "title">): string {
  return title.replace(/^no /, "a request without ");
}

/** What was expected of a listener that failed a probe, and what differed. */
function differenceOf(result: ProbeResult, bug?: string): string {
  const { status, expected, reason } = result;
  const title = titleOf(result);
  if (status !== undefined && expected.includes(status)) return `It is wrong with ${title}: ${reason}.`;
  return isAccepted(status) && !expected.some(isAccepted)
    ? `It accepts ${title}${bug === undefined ? "" : `: ${bug}`}.`
    : `It answers ${status ?? "nothing"} and not ${expected[0]} to ${title}.`;
}

/** A mistake that one probe shows by itself; the first of these is the gravest. */
const GRAVE: readonly (readonly [id: string, bug: string])[] = [
  ["signature-of-other-secret", "it does not verify signatures"],
  ["token-of-other-key", "it does not verify the tokens' signatures"],
  ["alg-none", "it takes tokens that are not signed"],
  ["alg-none-other-case", "it takes tokens that are not signed"],
  ["alg-none-without-kid", "it takes tokens that are not signed"],
  ["header-jwk", "it takes the key that the token brings"],
  ["header-jku", "it takes keys from the address that the token names"],
  ["alg-hs256-public-pem", "it takes the public key for an HMAC secret"],
  ["alg-hs256-public-jwk", "it takes the public key for an HMAC secret"],
  ["alg-hs256-empty-secret", "it takes HS256 with an empty secret"],
  ["kid-unknown", "it verifies with some key where kid names none"],
  ["proof-missing", "it lets requests pass that have no proof"],
  ["signature-empty", "an empty signature passes its comparison"],
  ["body-changed", "it does not compare the body with the proof"],
  ["htb-s256-other-body", "it does not compare the token's htb_s256 with the body"],
  ["jti-other", "it does not compare jti with the event id"],
  ["aud-other-listener", "it does not compare aud with the listener's URL"],
  ["aud-prefix", "it compares only the beginning of aud"],
  ["sub-other-tenant", "it does not compare sub with the base URL"],
  ["htm-get", "it does not compare htm with the method"],
  ["exp-an-hour-ago", "it does not compare exp with its clock"],
  ["exp-an-hour-ahead", "it takes tokens that live longer than 10 minutes"],
  ["header-crit-unknown", "it ignores crit"],
  ["aud-missing", "it compares aud only where it is there"],
  ["sub-missing", "it compares sub only where it is there"],
  ["jti-missing", "it compares jti only where it is there"],
  ["htm-missing", "it compares htm only where it is there"],
  ["htb-s256-missing", "it compares htb_s256 only where it is there"],
  ["exp-missing", "it takes tokens that never expire"],
  [TOO_OLD, "it does not compare the timestamp with its clock"],
  ["timestamp-too-far-ahead", "it takes timestamps that are yet to come"],
  ["timestamp-in-milliseconds", "it guesses the unit of the timestamp"],
  ["timestamp-nan", "a text that is no number passes its comparison with the clock"],
  ["event-id-processed", "it answers a processed event id as a new one"],
];

/** Whether the request was refused as it must be, and only the status is another; a 409, and a 401 to a body, say more. */
function isOtherRefusal({ id, status = 0, expected: [wanted = 0] }: ProbeResult): boolean {
  const isRefusal = (one: number) => one >= 400 && one < 500;
  if (!isRefusal(status) || !isRefusal(wanted) || status === wanted || status === 409) return false;
  return status !== 401 || !id.startsWith("body-");
}

/** The verdict where probes say enough: the gravest of those that were accepted, or else the first that failed. */
export function verdictOfProbe(
  results: readonly ProbeResult[],
  { always, bug }: { readonly always?: string; readonly bug?: string | undefined } = {},
): ListenerVerdict | undefined {
  const failed = results.filter(({ id, outcome }) => outcome === "fail" || id === always);
  const accepted = failed.filter(({ status, expected }) => isAccepted(status) && !expected.some(isAccepted));
  const known = GRAVE.find(([id]) => accepted.some((one) => one.id === id));
  const first = accepted.find(({ id }) => id === known?.[0]) ?? accepted[0] ?? failed[0];
  if (first === undefined) return undefined;
  const { id, status, expected } = first;
  const isOtherSuccess = isAccepted(status) && expected.some(isAccepted) && !expected.includes(status ?? 0);
  const fix = isOtherSuccess
    ? `Answer ${expected[0]} where the event is accepted.`
    : isOtherRefusal(first)
      ? `Answer ${expected[0]} there: it is refused already, with another status.`
      : (first.fix ?? "");
  const sentence = differenceOf(first, bug ?? known?.[1]);
  const stem = /^[a-z]+-/.exec(id)?.[0] ?? id;
  const isAll = id === WRONG_PROOF.hmac || id === WRONG_PROOF.jwt || id === "alg-none";
  const follows = isOtherSuccess
    ? failed.filter((one) => one.status === status && one.expected.some(isAccepted))
    : accepted.filter((one) => one === first || (known && (isAll || one.id.startsWith(stem))));
  return { id, sentence, fix, follows: follows.map((one) => one.id), unproved: [], requests: 0 };
}
