// Operations on the runs of automations.
import type { StepResult } from "../../automations/run-steps.js";
import type { ServiceContext } from "../../server/service-context.js";
import { BEFORE_ALL, timestamp } from "../../storage/document.js";
import type { RunHead, RunPosition } from "../../storage/runs.js";
import { notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";
import type { Schemas } from "../validation.js";

/** Runs of automations, of the local administration. */
export function runHandlers({
  storage,
  pageTokens,
}: ServiceContext): Pick<Handlers, "listAutomationRuns" | "getAutomationRun"> {
  return {
    listAutomationRuns({ path: { automation_id: automationId }, query }) {
      if (!storage.automations.get(automationId)) throw notFound("automation");
      const page = pageTokens.page({
        of: ["listAutomationRuns", automationId],
        pageSize: query.pageSize,
        pageToken: query.pageToken,
        start: [BEFORE_ALL, ""] as RunPosition,
        find: (after, limit) => storage.runs.list(automationId, after, limit),
        position: (run): RunPosition => [run.createdAt, run.id],
      });
      return { ...page, list: page.list.map(headShown) };
    },
    getAutomationRun({ path }) {
      const run = storage.runs.get(path.automation_id, path.run_id);
      if (!run) throw notFound("run");
      return { run: { ...headShown(run), body: run.body, steps: run.results.map(resultShown) } };
    },
  };
}

function headShown({
  id,
  automationId,
  eventId,
  status,
  createdAt,
  startedAt,
  finishedAt,
}: RunHead): Schemas["AutomationRunHead"] {
  return {
    id,
    automationId,
    eventId,
    status,
    createdAt: timestamp(createdAt),
    ...(startedAt === undefined ? {} : { startedAt: timestamp(startedAt) }),
    ...(finishedAt === undefined ? {} : { finishedAt: timestamp(finishedAt) }),
  };
}

function resultShown({
  name,
  status,
  result,
  failure,
  startedAt,
  finishedAt,
}: StepResult): Schemas["AutomationStepResult"] {
  return {
    name,
    status,
    ...(status === "STEP_STATUS_SUCCEEDED" ? { result: JSON.parse(result) } : {}),
    ...(failure ? { failure } : {}),
    startedAt: timestamp(startedAt),
    finishedAt: timestamp(finishedAt),
  };
}
