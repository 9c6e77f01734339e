// Finds the listener's own mistake by requests with known ones.
import { utf8 } from "../../core/bytes.js";
import { unixSeconds } from "../../core/clock.js";
import { newEventId } from "../../core/event.js";
import { type HeaderPair, onlyValue } from "../../core/headers.js";
import { harmless } from "../../core/options.js";
import { inOrder } from "../../sender/send-many.js";
import { closedVerdict, commonStatus, type Front, frontOf } from "./in-front.js";
import {
  type JointVerdict,
  jointVerdict,
  limitedVerdict,
  refusesInWords,
  stopsAnswering,
  verdictOfChoices,
} from "./joint-verdict.js";
import {
  isAccepted,
  type ListenerVerdict,
  type Proof,
  proofIn,
  refusesRight,
  TOO_OLD,
  unexplained,
  verdictOf,
  verdictOfProbe,
  WRONG_PROOF,
} from "./listener-verdict.js";
import { comparesPart, partOfSignature } from "./part-of-signature.js";
import { hmacKits, type RequestFacts, type RequestKit, tokenKits } from "./requests.js";
import { checkRun, type ProbeTarget, probeRun, type RunProbesOptions, throwIfAborted } from "./run-probes.js";
import { MAX_REFUSALS, type ProbeResult, type ProbeRun, sendBuilt } from "./send-probe.js";
import { signsOfSignature, takesSome } from "./signs-of-signature.js";
import type { WrongRequest } from "./wrong-request.js";
import {
  wrongBodies,
  wrongEventIds,
  wrongSignatures,
  wrongTokenBodies,
  wrongTokens,
} from "./wrong-requests.js";

const OTHER_BODIES = ["body-changed", "htb-s256-other-body"];
const BODY_PROBES = ["body-reserialised", "body-newline-added", "body-exact-bytes"];

/**
 * Finds the listener's own mistake behind the results of `runProbes`: it sends one request with each known mistake and
 * sees which the listener accepts. A correct listener refuses all of them. It sends nothing if the results show no
 * such mistake, and at most about 250 requests, each with an event id of its own.
 *
 * @param results all results of a run; of a run with `only` they may not be enough for a verdict
 * @param options the options of the run; `only`, `skip` and `bail` are of no account. `onProgress` is told before the
 * first request and after each how many of how many are answered; the search ends with the first that is accepted
 * @returns `undefined` if nothing is wrong with the listener, or nothing that has one cause
 *
 * @throws {HookproofError} as `runProbes` does
 *
 * @example
 * ```ts
 * import { findListenerMistake, type ProbeResult, runProbes } from "hookproof/probes";
 *
 * const target = {
 *   url: "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local",
 *   auth: { method: "hmac", secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" },
 * } as const;
 * const results: ProbeResult[] = [];
 * for await (const result of runProbes(target)) results.push(result);
 * const verdict = await findListenerMistake(target, results);
 * if (verdict) console.error(verdict.sentence, verdict.fix);
 * ```
 */
export async function findListenerMistake(
  target: ProbeTarget,
  results: readonly ProbeResult[],
  options: RunProbesOptions & {
    /** Called with how many requests were answered, of how many. */
    readonly onProgress?: ((answered: number, requests: number) => void) | undefined;
  } = {},
): Promise<ListenerVerdict | undefined> {
  checkRun("findListenerMistake", options, { onProgress: "function" });
  const closed = closedVerdict(results, target.url);
  if (closed) return closed;
  const stops = stopsAnswering(results);
  if (stops) return byProbes(stops);
  const proof = proofIn(results, target.auth.method);
  if (proof.wrong === undefined) {
    const limited = limitedVerdict(results);
    return limited && byProbes(limited);
  }
  const { auth } = target;
  const refused = refusesInWords(results, proof);
  if (refused) return byProbes(refused);
  const alike = commonStatus(results);
  const onProgress = harmless(options.onProgress);
  const asked = alike === undefined ? 0 : 1;
  if (asked > 0) onProgress?.(0, asked);
  const front = alike === undefined ? undefined : await whoAnswers(target, alike, { results, options });
  if (front?.isSure && front.verdict) return front.verdict;
  if (isAccepted(proof.wrong)) return verdictOfProbe(results, { always: WRONG_PROOF[auth.method] });
  const scope = scopeOf(results, proof);
  const search = { target, results, proof, options, asked, front, onProgress };
  if (scope === undefined) return withoutSearch(search);
  if (auth.method === "hmac") {
    const requests =
      scope === "all"
        ? wrongSignatures(auth.secret)
        : scope === "body"
          ? wrongBodies(auth.secret)
          : wrongEventIds(auth.secret);
    return searched(search, requests, hmacKits(auth.secret));
  }
  return searched(search, scope === "all" ? wrongTokens() : wrongTokenBodies(), await tokenKits(auth));
}

/** The verdict of the results alone; what is accepted that must not be comes before a wrong status. */
async function withoutSearch(search: Search): Promise<ListenerVerdict | undefined> {
  const { target, results, proof, options } = search;
  const verdict = verdictOfProbe(results);
  if (verdict?.id === TOO_OLD)
    return verdictOfProbe(results, { bug: await boundOfPast(target, results, options) });
  if (comparesPart(results) && target.auth.method === "hmac") {
    const part = await partOfSignature(target.auth.secret, results, probeRun(target, options));
    if (part) return part;
  }
  const signs = verdict && (await withSigns(search));
  if (signs) return signs;
  const isAcceptance = results.some(({ id, status }) => id === verdict?.id && isAccepted(status));
  const told = isAcceptance ? undefined : jointVerdict(results, proof);
  const named = told ?? (verdict === undefined ? verdictOfChoices(results, proof) : undefined);
  return named ? byProbes(named) : verdict;
}

/** A verdict that needs no request of its own. */
function byProbes({ follows, ...named }: JointVerdict): ListenerVerdict {
  return { ...named, follows: follows.map(({ id }) => id), unproved: [], requests: 0 };
}

/** Where a listener's window ends that takes a timestamp of an hour ago: asked with one of 30 days ago. */
async function boundOfPast(
  target: ProbeTarget,
  results: readonly ProbeResult[],
  options: RunProbesOptions,
): Promise<string | undefined> {
  const run = { ...probeRun(target, options), progress: { answered: true } };
  const kitFor: (facts: RequestFacts) => RequestKit =
    target.auth.method === "hmac" ? hmacKits(target.auth.secret) : await tokenKits(target.auth);
  const { url, baseUrl, clock } = run;
  const nowSeconds = unixSeconds(clock);
  const kit = kitFor({ url, baseUrl, nowSeconds, eventId: newEventId() });
  await run.pace.ready();
  const answer = await sendBuilt(await kit.signed({ timestamp: String(nowSeconds - 30 * 86_400) }), run);
  // That an hour ago is accepted is all that is known where this is refused, or not answered.
  if (!("status" in answer) || !isAccepted(answer.status)) return "its window is wider than 5 minutes";
  const takesFuture = results.some(
    ({ id, status }) => id === "timestamp-too-far-ahead" && isAccepted(status),
  );
  return takesFuture ? undefined : "it bounds only timestamps that are yet to come";
}

/** Which requests can tell the mistake; `undefined` if none is needed. */
function scopeOf(results: readonly ProbeResult[], proof: Proof): "all" | "body" | "event-id" | undefined {
  const failed = results.filter(({ outcome }) => outcome === "fail").map(({ id }) => id);
  const isShownAccepted =
    isAccepted(proof.right) || (proof.harmless === 400 && (proof.wrong === 401 || proof.wrong === 403));
  if (refusesRight(proof) || !isShownAccepted) return failed.length > 0 ? "all" : undefined;
  // A body that is not compared at all would pass for each of the known ways to change one.
  const isUncompared = results.some(({ id, status }) => OTHER_BODIES.includes(id) && isAccepted(status));
  if (isUncompared) return undefined;
  if (BODY_PROBES.some((id) => failed.includes(id))) return "body";
  // A listener that parses before it verifies answers 400 to a body that is not JSON, whatever its proof.
  const parsesFirst = results.some(({ id, status }) => id === "body-not-json-bad-proof" && status === 400);
  if (parsesFirst && proof.right === undefined) return "body";
  if (failed.includes("event-id-signed-in-other-case")) return "event-id";
  // That it is no JSON is another status; its proof is right, so the body was changed before the check.
  const isChanged = results.some(
    ({ id, status, expected }) => id.startsWith("body-") && status === 401 && expected[0] === 400,
  );
  return isChanged ? "body" : undefined;
}

/** Asks once more, with a request that proves nothing, for an answer with all that it holds. */
async function whoAnswers(
  target: ProbeTarget,
  alike: number,
  { results, options }: Pick<Search, "results" | "options">,
): Promise<Front | undefined> {
  const run = { ...probeRun(target, options), progress: { answered: true } };
  const headers: HeaderPair[] = [["Content-Type", "application/json"]];
  const answer = await sendBuilt({ method: "POST", url: run.url, headers, body: utf8("{}") }, run);
  if ("skipped" in answer || !("status" in answer) || answer.status !== alike) return undefined;
  return frontOf(results, answer, { requests: 1, isHmac: target.auth.method === "hmac", url: run.url });
}

interface Search {
  readonly target: ProbeTarget;
  readonly results: readonly ProbeResult[];
  readonly proof: Proof;
  readonly options: RunProbesOptions;
  /** How many requests were sent before. */
  readonly asked: number;
  /** What is known of who answers, where all answers are alike. */
  readonly front: Front | undefined;
  readonly onProgress: ((answered: number, requests: number) => void) | undefined;
}

/** The verdict on a listener that takes some signatures for their characters and refuses others. */
async function withSigns({ target, results, options }: Search): Promise<ListenerVerdict | undefined> {
  const { auth } = target;
  if (auth.method !== "hmac" || !takesSome(results)) return undefined;
  return signsOfSignature(auth.secret, results, probeRun(target, options));
}

/** Sends the requests in their order until the listener accepts one. */
async function searched<Kit extends RequestKit>(
  search: Search,
  requests: readonly WrongRequest<Kit>[],
  kitFor: (facts: RequestFacts) => Kit,
): Promise<ListenerVerdict | undefined> {
  const { target, results, proof, options, asked, front, onProgress } = search;
  const run = { ...probeRun(target, options), progress: { answered: true } };
  const sent = { count: 0, software: "" };
  let [answered, planned] = [asked, asked];
  const firstAccepted = async <Request extends WrongRequest<Kit>>(all: readonly Request[]) => {
    const { concurrency = 4, signal } = options;
    planned = answered + all.length;
    onProgress?.(answered, planned);
    const answers = inOrder(all, { concurrency, signal }, async (request) => ({
      request,
      status: await statusOf(request, kitFor, run, sent),
    }));
    for await (const { request, status } of answers) {
      onProgress?.(++answered, planned);
      if (isAccepted(status)) return request;
      if (status === 429) return undefined;
    }
    throwIfAborted(options);
    return undefined;
  };
  const found = await firstAccepted(requests);
  if (found === undefined) {
    const signs = await withSigns(search);
    if (signs) return { ...signs, requests: sent.count + signs.requests };
    if (front?.verdict) return { ...front.verdict, requests: sent.count + 1 };
    return refusesRight(proof)
      ? unexplained(target, results, proof, { requests: sent.count, told: front?.told ?? "" })
      : withoutSearch(search);
  }
  const detail = found.variants && (await firstAccepted(found.variants))?.detail;
  return verdictOf(found.mistakes, results, proof, { ...sent, detail });
}

async function statusOf<Kit extends RequestKit>(
  request: WrongRequest<Kit>,
  kitFor: (facts: RequestFacts) => Kit,
  run: ProbeRun,
  sent: { count: number; software: string },
): Promise<number | undefined> {
  const { url, baseUrl, clock, pace } = run;
  for (let refusals = 0; ; refusals++) {
    await pace.ready();
    const kit = kitFor({ url, baseUrl, nowSeconds: unixSeconds(clock), eventId: newEventId() });
    const built = await request.build(kit);
    if ("skip" in built) return undefined;
    sent.count++;
    const answer = await sendBuilt(built, run);
    if ("skipped" in answer || !("status" in answer)) return undefined;
    if (refusals < MAX_REFUSALS && (await pace.isToRepeat(answer))) continue;
    const { headers = [] } = answer;
    sent.software ||=
      `${onlyValue(headers, "x-powered-by") ?? ""} ${onlyValue(headers, "server") ?? ""}`.trim();
    return answer.status;
  }
}
