import { type ErrorCode, HookproofError } from "../errors.js";
import type { Transport, TransportResponse } from "../http/transport.js";
import { type Clock, unixSeconds } from "../primitives/clock.js";
import { newEventId } from "../protocol/event-id.js";
import { httpDate, single } from "../sender/response-headers.js";
import type { Craft, ProbeRequest, Scene } from "./craft.js";
import { type Answer, type Judgement, judge, judgeCopies, type ProbeOutcome } from "./judge.js";
import type { Probe } from "./probe.js";
import type { Built, Recipe } from "./recipe.js";

/** Why a probe was skipped. */
export type SkipCause = "would-trigger" | "cannot-send" | "not-prepared";

/** How one probe ended. */
export interface ProbeResult extends Pick<Probe, "id" | "title" | "section" | "expected" | "leftOpen"> {
  readonly outcome: ProbeOutcome;
  /** The status of the answer, where there was one. */
  readonly status?: number;
  /** Why there was no answer. */
  readonly failure?: ErrorCode;
  readonly skipped?: SkipCause;
  /** Why it ended so, in words, where the statuses alone do not tell. */
  readonly reason?: string;
  readonly durationMs: number;
  /** For a failure and what is unclear: what the deviation means, and how to put it right. */
  readonly means?: string;
  readonly fix?: string;
}

/** What all probes of a run share. */
export interface Surroundings extends Pick<Scene, "url" | "baseUrl"> {
  readonly allowTrigger: boolean;
  readonly transport: Transport;
  /** Whether one header name can be sent twice. */
  readonly keepsHeaderLines: boolean;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly progress: { answered: boolean };
}

type Exchanged = Answer & Partial<Pick<TransportResponse, "headers" | "resent">>;

/** A judgement with the answer it rests on. */
type Ending = Judgement & Partial<Pick<ProbeResult, "status" | "failure" | "skipped">>;

/** Where a second passes during a probe about an exact second, it is asked again, this often in all. */
const MAX_TRIES = 4;

/** Runs one probe; rejects only where the listener cannot be reached at all, or the caller aborts. */
export async function runProbe<Kit extends Craft>(
  recipe: Recipe<Kit>,
  craftFor: (scene: Scene) => Kit,
  around: Surroundings,
): Promise<ProbeResult> {
  const started = performance.now();
  const { id, title, section, expected, leftOpen, means, fix } = recipe;
  const ending =
    recipe.runsAutomation && !around.allowTrigger
      ? skip("would-trigger", "it would run the automation")
      : await play(recipe, craftFor, around);
  return {
    ...{ id, title, section, expected, leftOpen },
    ...ending,
    durationMs: Math.round(performance.now() - started),
    ...(ending.outcome === "fail" || ending.outcome === "unclear" ? { means, fix } : {}),
  };
}

async function play<Kit extends Craft>(
  recipe: Recipe<Kit>,
  craftFor: (scene: Scene) => Kit,
  around: Surroundings,
): Promise<Ending> {
  for (let tries = 1; ; tries++) {
    const nowSeconds = unixSeconds(around.clock);
    const craft = craftFor({ url: around.url, baseUrl: around.baseUrl, nowSeconds, eventId: newEventId() });
    const { ending, last } = await attempt(recipe, craft, around);
    if (ending.outcome === "pass" || ending.outcome === "skip") return ending;
    const passedSecond = recipe.boundary === true && unixSeconds(around.clock) !== nowSeconds;
    // A 409 to a request that was sent again on a new connection says only that its first copy arrived.
    const wasResent = last?.resent === true;
    if ((passedSecond || wasResent) && tries < MAX_TRIES) continue;
    return recipe.boundary ? unlessClockIsOff(ending, last, passedSecond, around.clock) : ending;
  }
}

async function attempt<Kit extends Craft>(
  recipe: Recipe<Kit>,
  craft: Kit,
  around: Surroundings,
): Promise<{ ending: Ending; last?: Exchanged }> {
  if (recipe.before) {
    const first = await sendBuilt(await recipe.before.build(craft), around);
    if ("skipped" in first) return { ending: first };
    if (!("status" in first) || first.status !== recipe.before.status) {
      const seen = "status" in first ? first.status : first.failure;
      return {
        ending: skip(
          "not-prepared",
          `the request before it was answered ${seen}, not ${recipe.before.status}`,
        ),
      };
    }
  }
  const built = await recipe.build(craft);
  const copies = await Promise.all(
    Array.from({ length: recipe.copies ?? 1 }, () => sendBuilt(built, around)),
  );
  const [last] = copies;
  if (last === undefined || "skipped" in last)
    return { ending: last ?? skip("cannot-send", "nothing was sent") };
  const seen = "status" in last ? { status: last.status } : { failure: last.failure };
  const answers = copies.filter((copy): copy is Exchanged => !("skipped" in copy));
  const judgement = recipe.copies === undefined ? judge(recipe, last) : judgeCopies(answers);
  return { ending: { ...judgement, ...seen }, last };
}

async function sendBuilt(
  built: Built,
  around: Surroundings,
): Promise<Exchanged | (Ending & { skipped: SkipCause })> {
  if ("skip" in built) return skip("cannot-send", built.skip);
  if (!around.keepsHeaderLines && hasNameTwice(built))
    return skip("cannot-send", "this runtime's fetch cannot send one header twice");
  try {
    const { status, headers, resent } = await around.transport({
      ...built,
      timeoutMs: around.timeoutMs,
      maxResponseBytes: 16_384,
      signal: around.signal,
    });
    around.progress.answered = true;
    return { status, headers, ...(resent === undefined ? {} : { resent }) };
  } catch (error) {
    const failure = error instanceof HookproofError ? error.code : "CONNECTION_FAILED";
    // A listener that answered before and is gone now is a finding; one that never answered is not there.
    // What a proxy said is none about the listener.
    if (
      failure === "ABORTED" ||
      failure === "PROXY_FAILED" ||
      (!around.progress.answered && failure !== "CONNECTION_LOST")
    )
      throw error;
    return { failure };
  }
}

function hasNameTwice({ headers }: ProbeRequest): boolean {
  return new Set(headers.map(([name]) => name.toLowerCase())).size < headers.length;
}

/** Probes about an exact second say nothing where the two clocks differ, or where no answer came within one. */
function unlessClockIsOff(
  ending: Ending,
  last: Exchanged | undefined,
  passedSecond: boolean,
  clock: Clock,
): Ending {
  if (passedSecond)
    return { ...ending, outcome: "unclear", reason: "no answer came within one second of the clock" };
  const date = httpDate(single(last?.headers ?? [], "date"));
  const offsetSeconds = date === undefined ? 0 : date / 1000 - unixSeconds(clock);
  if (offsetSeconds === 0) return ending;
  return {
    ...ending,
    outcome: "unclear",
    reason: `the listener's clock is ${offsetSeconds} s off this one's`,
  };
}

function skip(skipped: SkipCause, reason: string): Ending & { skipped: SkipCause } {
  return { outcome: "skip", skipped, reason };
}
