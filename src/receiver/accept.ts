import type { Check } from "../protocol/check.js";
import type { ReplayStore, Reservation, ReserveResult } from "./replay-store.js";
import { failed, passed, type ReceivedEvent, type Rejection, rejection, type Verdict } from "./verdict.js";

/** What steps 7 and 8 need. */
export interface Acceptance {
  readonly replayStore: ReplayStore;
  readonly isTriggerActive: () => boolean | Promise<boolean>;
  /** How long a copy of an id in flight waits for its outcome. */
  readonly inFlightWaitMs: number;
}

/**
 * Accepts the event durably: resolves, and the id is used up; throws, and the event may come again. A run that
 * writes to the replay store's own database commits the reservation in the same transaction
 * (`sqliteReplayStore`, `postgresReplayStore`): then work and id stand or fall together.
 */
export type Run = (event: ReceivedEvent, reservation: Reservation) => Promise<unknown>;

/** Steps 7 and 8: an event that passed the checks is run unless its id was processed before. */
export async function accept(
  acceptance: Acceptance,
  event: ReceivedEvent,
  verified: readonly Check[],
  run: Run,
): Promise<Verdict> {
  const { replayStore, isTriggerActive } = acceptance;
  const checks = [...verified];
  const refuse = (check: Check & { code: Rejection["code"] }, cause?: unknown): Rejection => {
    checks.push(check);
    return rejection(checks, check, check.code, cause);
  };

  const reserved = await reserve(acceptance, event);
  if (reserved.state === "unavailable") return refuse(replayFailure("unavailable"), reserved.cause);
  if (reserved.state !== "reserved") return refuse(replayFailure(reserved.state));
  checks.push(passed("replay", REPLAY_RULE));

  const active = await attempt(async () => isTriggerActive());
  const ran = active.value ? await attempt(() => run(event, reserved.reservation)) : active;
  if (!active.value || !ran.ok) await release(replayStore, reserved.reservation);
  if (active.ok && !active.value)
    return refuse(refusal("trigger", "TRIGGER_INACTIVE", TRIGGER_RULE, "an inactive trigger"));
  if (active.ok) checks.push(passed("trigger", TRIGGER_RULE));
  if (!ran.ok)
    return refuse(
      refusal("run", "RUN_FAILED", "the automation accepts the event", "a run that failed"),
      ran.cause,
    );
  const committed = await attempt(() => replayStore.commit(reserved.reservation));
  if (!committed.ok) return refuse(replayFailure("unavailable"), committed.cause);
  checks.push(passed("run", "the automation accepts the event"));
  return { ok: true, event, checks };
}

const TRIGGER_RULE = "the automation is published and its trigger enabled";
const REPLAY_RULE = "the event id was not processed for this listener in the last 7 days";

function replayFailure(
  state: "processed" | "in-flight" | "unavailable",
): Check & { code: Rejection["code"] } {
  if (state === "processed")
    return refusal("replay", "EVENT_DUPLICATE", REPLAY_RULE, "an id that was processed");
  if (state === "in-flight")
    return refusal("replay", "EVENT_IN_FLIGHT", REPLAY_RULE, "a copy that is still being processed");
  return refusal("replay", "REPLAY_STORE_UNAVAILABLE", REPLAY_RULE, "a replay store that failed");
}

function refusal(
  step: Check["step"],
  code: Rejection["code"],
  rule: string,
  seen: string,
): Check & { code: Rejection["code"] } {
  return { ...failed(step, code, rule, seen), code };
}

/** A store is often somebody else's code: an answer that is none of these counts as a failure. */
const STATES: ReadonlySet<unknown> = new Set(["reserved", "processed", "in-flight"]);

/** Asks for the id; while another copy holds it, waits for that copy's outcome. */
async function reserve(
  { replayStore, inFlightWaitMs }: Acceptance,
  event: ReceivedEvent,
): Promise<ReserveResult | { state: "unavailable"; cause: unknown }> {
  for (let waited = 0, pause = 5; ; waited += pause, pause = Math.min(pause * 2, 100)) {
    const asked = await attempt(() => replayStore.reserve(event.listenerId, event.id));
    if (!asked.ok) return { state: "unavailable", cause: asked.cause };
    if (!STATES.has(asked.value?.state))
      return { state: "unavailable", cause: new TypeError("reserve() gave none of its states") };
    if (asked.value.state !== "in-flight" || waited >= inFlightWaitMs) return asked.value;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** A release that fails leaves the id to its reservation's expiry, which ends the same way, only later. */
async function release(replayStore: ReplayStore, reservation: Reservation): Promise<void> {
  await attempt(() => replayStore.release(reservation));
}

async function attempt<Value>(
  work: () => Promise<Value>,
): Promise<{ ok: true; value: Value } | { ok: false; value?: undefined; cause: unknown }> {
  try {
    return { ok: true, value: await work() };
  } catch (cause) {
    return { ok: false, cause };
  }
}
