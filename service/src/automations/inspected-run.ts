// Shows the run of an event in the inspector.
import type { RunDetail } from "../inspector/contract.js";
import type { RunStatus } from "../storage/runs.js";
import type { Storage } from "../storage/storage.js";
import type { StepResult } from "./run-steps.js";

const STATES: Readonly<Record<RunStatus, RunDetail["state"]>> = {
  RUN_STATUS_PENDING: "accepted",
  RUN_STATUS_RUNNING: "running",
  RUN_STATUS_SUCCEEDED: "succeeded",
  RUN_STATUS_FAILED: "failed",
};

/** The run that an event started, as the inspector shows it. */
export function inspectedRun(
  { automations, runs }: Storage,
  listenerId: string,
  eventId: string,
): RunDetail | undefined {
  const automation = automations.ofListener(listenerId);
  const run = automation && runs.ofEvent(automation.id, eventId);
  if (!run) return undefined;
  return {
    id: run.id,
    automation: automation.displayName,
    automationId: automation.id,
    state: STATES[run.status],
    steps: run.steps.map(({ name }, at) => ({ name, ...outcomeOf(run.results[at]) })),
  };
}

type StepOutcome = Omit<RunDetail["steps"][number], "name">;

function outcomeOf(result: StepResult | undefined): StepOutcome {
  if (!result) return { state: "waiting" };
  if (result.status === "STEP_STATUS_SUCCEEDED") return { state: "succeeded", output: result.result };
  if (result.status === "STEP_STATUS_SKIPPED") return { state: "skipped" };
  return { state: "failed", ...(result.failure ? { error: result.failure.message } : {}) };
}
