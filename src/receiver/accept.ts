// Reserves an event id, runs the automation and commits the id.
import type { Check, FailedCheck } from "../core/check.js";
import { monotonicMs, systemClock } from "../core/clock.js";
import type { ReplayStore, Reservation, ReserveResult } from "../replay/replay-store.js";
import type { Verifier } from "../schemes/scheme.js";
import { failed, passed } from "./checks.js";
import { type ReceivedEvent, type Rejection, rejection, type Verdict } from "./verdict.js";

/** What checks 24 to 26 need. */
interface Acceptance {
  readonly verifier: Verifier;
  readonly replayStore: ReplayStore;
  readonly isTriggerActive: () => boolean | Promise<boolean>;
  /** How long a copy of an id in flight waits for its outcome. */
  readonly inFlightWaitMs: number;
}

/**
 * Accepts an event durably, for example by writing a row. When it resolves, the event's id is processed and the answer
 * is 200. When it throws, the answer is 503 and the event may come again. A run that writes to the replay store's own
 * database can commit the reservation in its own transaction (`sqliteReplayStore`, `postgresReplayStore`): then the
 * work and the id are both stored, or neither is.
 */
export type Run = (event: ReceivedEvent, reservation: Reservation) => Promise<unknown>;

/** Checks 24 to 26: an event that passed the checks before is run unless its id was processed. */
export async function accept(
  acceptance: Acceptance,
  event: ReceivedEvent,
  verified: readonly Check[],
  run: Run,
): Promise<Verdict> {
  const { replayStore, isTriggerActive } = acceptance;
  const checks = [...verified];
  const refuse = (check: FailedCheck, cause?: unknown): Rejection => {
    checks.push(check);
    return rejection(acceptance.verifier, checks, check, cause);
  };

  const reserved = await reserve(acceptance, event);
  if (reserved.state === "unavailable")
    return refuse(failed("replay", "REPLAY_STORE_UNAVAILABLE", STORE_FAILED), reserved.cause);
  if (reserved.state === "processed") return refuse(failed("replay", "EVENT_DUPLICATE"));
  if (reserved.state === "in-flight") return refuse(failed("replay", "EVENT_IN_FLIGHT"));
  checks.push(passed("replay"));

  const { reservation } = reserved;
  const giveBack = async (check: FailedCheck, cause?: unknown): Promise<Rejection> => {
    await release(replayStore, reservation);
    return refuse(check, cause);
  };
  let active: boolean;
  try {
    active = await isTriggerActive();
  } catch (cause) {
    return giveBack(failed("trigger", "RUN_FAILED", "isTriggerActive failed"), cause);
  }
  if (!active) return giveBack(failed("trigger", "TRIGGER_INACTIVE"));
  checks.push(passed("trigger"));
  try {
    await run(event, reservation);
  } catch (cause) {
    return giveBack(failed("run", "RUN_FAILED", "a run that failed"), cause);
  }
  try {
    await replayStore.commit(reservation);
  } catch (cause) {
    return refuse(failed("run", "REPLAY_STORE_UNAVAILABLE", STORE_FAILED), cause);
  }
  checks.push(passed("run"));
  return { ok: true, event, checks };
}

const STORE_FAILED = "a replay store that failed";

/** A store may be the caller's own code: any other answer counts as a failure. */
const STATES: ReadonlySet<unknown> = new Set(["reserved", "processed", "in-flight"]);

/** Reserves the id; while another copy holds it, waits for that copy's outcome. */
async function reserve(
  { replayStore, inFlightWaitMs }: Acceptance,
  event: ReceivedEvent,
): Promise<ReserveResult | { state: "unavailable"; cause: unknown }> {
  const from = monotonicMs(systemClock);
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    let asked: ReserveResult;
    try {
      asked = await replayStore.reserve(event.listenerId, event.id);
    } catch (cause) {
      return { state: "unavailable", cause };
    }
    if (!STATES.has(asked?.state))
      return { state: "unavailable", cause: new TypeError("reserve() gave none of its states") };
    if (asked.state !== "in-flight" || monotonicMs(systemClock) - from >= inFlightWaitMs) return asked;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** A release that fails is ignored: the reservation expires, so the id is free again, only later. */
async function release(replayStore: ReplayStore, reservation: Reservation): Promise<void> {
  try {
    await replayStore.release(reservation);
  } catch {}
}
