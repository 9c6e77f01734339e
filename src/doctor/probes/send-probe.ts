// Sends one probe and judges its answer.
import { type Clock, unixSeconds } from "../../core/clock.js";
import { type ErrorCode, HookproofError } from "../../core/errors.js";
import { newEventId } from "../../core/event.js";
import { httpDate, onlyValue } from "../../core/headers.js";
import type { Transport, TransportResponse } from "../../http/transport.js";
import type { Pace } from "./pace.js";
import type { BuiltRequest, Probe, ProbeDefinition } from "./probe.js";
import { type RecordedAnswer, recordedAnswer } from "./recorded-answer.js";
import type { ProbeRequest, RequestFacts, RequestKit } from "./requests.js";

/**
 * How a probe ended. `pass`: the answer is an expected one. `fail`: it is not. `skip`: the probe was not sent.
 * `unclear`: the specification leaves the answer to the listener, or the answer proves nothing.
 */
export type ProbeOutcome = "pass" | "fail" | "skip" | "unclear";

/**
 * Why a probe was skipped. `would-trigger`: it would run the automation, which `allowTrigger` does not allow.
 * `cannot-send`: this key or runtime cannot make the request. `not-prepared`: the request before it was not answered
 * as it must be.
 */
type SkipReason = "would-trigger" | "cannot-send" | "not-prepared";

/** How one probe ended. */
export interface ProbeResult extends Pick<Probe, "id" | "title" | "section" | "expected" | "listenerChoice"> {
  /** Whether the listener passed. */
  readonly outcome: ProbeOutcome;
  /** The status of the answer; absent if there was none. */
  readonly status?: number;
  /** The error code if there was no answer, such as `TIMED_OUT`. */
  readonly failure?: ErrorCode;
  /** The answer as a behaviour profile keeps it; absent if there was none, or if copies were sent at the same time. */
  readonly answer?: RecordedAnswer;
  /** Why the probe was not sent; only with the outcome `skip`. */
  readonly skipped?: SkipReason;
  /** Why it ended so, in words; absent if the statuses say enough. */
  readonly reason?: string;
  /** The time it took, in milliseconds. */
  readonly durationMs: number;
  /** What is wrong with the listener; only with the outcomes `fail` and `unclear`. */
  readonly means?: string;
  /** How to correct the listener; only with the outcomes `fail` and `unclear`. */
  readonly fix?: string;
}

/** What all probes of one run share. */
export interface ProbeRun extends Pick<RequestFacts, "url" | "baseUrl"> {
  readonly allowTrigger: boolean;
  readonly transport: Transport;
  /** Whether the transport can send a header twice. */
  readonly keepsHeaderLines: boolean;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Where the listener answers 429, all requests of the run wait. */
  readonly pace: Pace;
  /** Changes when the listener has answered for the first time. */
  readonly progress: { answered: boolean };
}

type Answered = Pick<TransportResponse, "status" | "headers" | "body" | "resent">;

/** What came back: a status, or the error code if there was no answer. */
type Answer = Answered | { readonly failure: ErrorCode };

/** The part of a result that follows from the answer. */
type Verdict = Pick<ProbeResult, "outcome" | "reason" | "means" | "fix">;
type Ending = Verdict & Pick<ProbeResult, "status" | "failure" | "answer" | "skipped">;
type Skipped = Ending & { readonly skipped: SkipReason };

/** How often a probe is sent at most, if a second passes or a connection is replaced meanwhile. */
const MAX_TRIES = 4;

/** How often a request is sent again at most that a rate limit refuses. */
export const MAX_REFUSALS = 4;

/** Sends one probe. Rejects only if the listener cannot be reached at all, or if the caller aborts. */
export async function sendProbe<Kit extends RequestKit>(
  probe: ProbeDefinition<Kit>,
  kitFor: (facts: RequestFacts) => Kit,
  run: ProbeRun,
): Promise<ProbeResult> {
  const started = performance.now();
  const { id, title, section, expected, listenerChoice, means, fix } = probe;
  const ending =
    probe.runsAutomation && !run.allowTrigger
      ? skip("would-trigger", "it would run the automation")
      : await endingOf(probe, kitFor, run);
  return {
    id,
    title,
    section,
    expected,
    listenerChoice,
    ...ending,
    durationMs: Math.round(performance.now() - started),
    ...(ending.outcome === "fail" || ending.outcome === "unclear"
      ? { means: ending.means ?? means, fix: ending.fix ?? fix }
      : {}),
  };
}

async function endingOf<Kit extends RequestKit>(
  probe: ProbeDefinition<Kit>,
  kitFor: (facts: RequestFacts) => Kit,
  run: ProbeRun,
): Promise<Ending> {
  let [tries, refusals] = [1, 0];
  for (;;) {
    await run.pace.ready();
    const nowSeconds = unixSeconds(run.clock);
    const kit = kitFor({ url: run.url, baseUrl: run.baseUrl, nowSeconds, eventId: newEventId() });
    const { ending, last, paced } = await sendOnce(probe, kit, run);
    if (paced && refusals < MAX_REFUSALS && (await run.pace.isToRepeat(paced))) {
      refusals += 1;
      continue;
    }
    if (ending.outcome === "pass" || ending.outcome === "skip") return ending;
    const passedSecond = probe.boundary === true && unixSeconds(run.clock) !== nowSeconds;
    // After a request was sent again on a new connection, a 409 says only that its first copy arrived.
    const wasResent = last !== undefined && "status" in last && last.resent === true;
    if ((passedSecond || wasResent) && tries < MAX_TRIES) {
      tries += 1;
      continue;
    }
    return probe.boundary ? unclearIfClockIsOff(ending, last, passedSecond, run.clock) : ending;
  }
}

async function sendOnce<Kit extends RequestKit>(
  probe: ProbeDefinition<Kit>,
  kit: Kit,
  run: ProbeRun,
): Promise<{ ending: Ending; last?: Answer; paced?: Answered }> {
  if (probe.before) {
    const first = await sendBuilt(await probe.before.build(kit), run);
    if ("skipped" in first) return { ending: first };
    const seen = "status" in first ? first.status : first.failure;
    const wanted = [probe.before.status].flat();
    if (typeof seen !== "number" || !wanted.includes(seen)) {
      const reason = `the request before it was answered ${seen}, not ${wanted.join(" or ")}`;
      return { ending: skip("not-prepared", reason), ...("status" in first && { paced: first }) };
    }
  }
  const built = await probe.build(kit);
  const copies = await Promise.all(Array.from({ length: probe.copies ?? 1 }, () => sendBuilt(built, run)));
  const [last] = copies;
  if (last === undefined || "skipped" in last)
    return { ending: last ?? skip("cannot-send", "nothing was sent") };
  const isOne = probe.copies === undefined;
  const seen =
    "status" in last
      ? { status: last.status, ...(isOne ? { answer: recordedAnswer(last) } : {}) }
      : { failure: last.failure };
  const answers = copies.filter((copy): copy is Answer => !("skipped" in copy));
  const verdict = isOne ? judge(probe, last) : judgeCopies(answers);
  const answered = answers.filter((copy): copy is Answered => "status" in copy);
  // Of copies, one that was not limited says enough.
  const paced = answered.find(({ status }) => status !== 429 && status !== 503) ?? answered[0];
  return { ending: { ...verdict, ...seen }, last, ...(paced && { paced }) };
}

/** Sends a request that was built, unless it cannot be made or sent. */
export async function sendBuilt(built: BuiltRequest, run: ProbeRun): Promise<Answer | Skipped> {
  if ("skip" in built) return skip("cannot-send", built.skip);
  if (!run.keepsHeaderLines && hasNameTwice(built))
    return skip("cannot-send", "this runtime's fetch cannot send one header twice");
  try {
    const { status, headers, body, resent } = await run.transport({
      ...built,
      timeoutMs: run.timeoutMs,
      maxResponseBytes: 16_384,
      signal: run.signal,
    });
    run.progress.answered = true;
    return { status, headers, body, ...(resent === undefined ? {} : { resent }) };
  } catch (error) {
    const failure = error instanceof HookproofError ? error.code : "CONNECTION_FAILED";
    // A listener that has answered before failed this probe. One that never answered cannot be tested at all,
    // and what a proxy answers says nothing about the listener.
    if (
      failure === "ABORTED" ||
      failure === "PROXY_FAILED" ||
      (!run.progress.answered && failure !== "CONNECTION_LOST")
    )
      throw error;
    return { failure };
  }
}

function hasNameTwice({ headers }: ProbeRequest): boolean {
  return new Set(headers.map(([name]) => name.toLowerCase())).size < headers.length;
}

/** What an answer means that says nothing of what the probe asks for. */
const LIMITED = {
  means: "A rate limit has answered, and nothing is known of the rest.",
  fix: "Take the limit away for this test, or send fewer probes.",
};
const TOO_SLOW = {
  means: "The probe is about one second, and the answer came in another.",
  fix: "Run it again, closer to the listener.",
};
const CLOCKS_DIFFER = {
  means: "The probe is about one second, and the two clocks differ by more.",
  fix: "Set both clocks by NTP, and run it again.",
};

/** Compares an answer with what the specification says. */
function judge(
  { expected, listenerChoice }: Pick<Probe, "expected" | "listenerChoice">,
  answer: Answer,
): Verdict {
  if ("failure" in answer) {
    const closed = answer.failure === "CONNECTION_LOST" && listenerChoice !== "none";
    return closed
      ? { outcome: "unclear", reason: "the connection was closed without an answer" }
      : { outcome: "fail", reason: `there was no answer (${answer.failure})` };
  }
  const { status } = answer;
  if (expected.includes(status)) return { outcome: "pass" };
  if (status === 429)
    return { outcome: "unclear", reason: "the listener refused the request for its rate limit", ...LIMITED };
  if (status >= 500) return { outcome: "fail", reason: "a request must not cause a server error" };
  if (listenerChoice === "refusal")
    return { outcome: "unclear", reason: "the specification leaves this open" };
  if (listenerChoice === "status" && status >= 400)
    return { outcome: "unclear", reason: "refused, and the specification leaves the status open" };
  if (status === 403) return { outcome: "fail", reason: "perhaps this machine's address is not allowed" };
  return { outcome: "fail" };
}

/** Compares the answers to copies of one event: exactly one must be accepted, the others 409 or 503. */
function judgeCopies(answers: readonly Answer[]): Verdict {
  const statuses = answers.map((answer) => ("status" in answer ? answer.status : answer.failure));
  const reason = `the answers were ${statuses.join(", ")}`;
  const others = statuses.filter((status) => status !== 200);
  const accepted = statuses.length - others.length;
  if (accepted > 1) return { outcome: "fail", reason };
  if (accepted === 1 && others.every((status) => status === 409 || status === 503))
    return { outcome: "pass", reason };
  const isLimited = others.every((status) => status === 429);
  return isLimited ? { outcome: "unclear", reason, ...LIMITED } : { outcome: "fail", reason };
}

/** A probe about an exact second says nothing if the two clocks differ, or if no answer came within one second. */
function unclearIfClockIsOff(
  ending: Ending,
  last: Answer | undefined,
  passedSecond: boolean,
  clock: Clock,
): Ending {
  if (passedSecond)
    return {
      ...ending,
      outcome: "unclear",
      reason: "no answer came within one second of the clock",
      ...TOO_SLOW,
    };
  const headers = last !== undefined && "status" in last ? last.headers : [];
  const date = httpDate(onlyValue(headers, "date"));
  const offsetSeconds = date === undefined ? 0 : date / 1000 - unixSeconds(clock);
  if (offsetSeconds === 0) return ending;
  return {
    ...ending,
    outcome: "unclear",
    reason: `the listener's clock is ${offsetSeconds} s off this one's`,
    ...CLOCKS_DIFFER,
  };
}

function skip(skipped: SkipReason, reason: string): Skipped {
  return { outcome: "skip", skipped, reason };
}
