// Operations on the runs of automations.
import { type DebuggedExpression, type DebuggedStep, debugRun } from "../../automations/debug-run.js";
import type { StepResult } from "../../automations/run-steps.js";
import type { ServiceContext } from "../../server/service-context.js";
import { BEFORE_ALL, timestamp } from "../../storage/document.js";
import type { RunHead, RunPosition } from "../../storage/runs.js";
import { ApiError, invalidField, notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";
import type { Schemas } from "../validation.js";

/** What a listener takes. */
const MAX_EVENT_BYTES = 65_536;
/** How many runs are debugged at once; more wait for nobody. */
const MAX_DEBUGGED = 4;

/** Runs of automations, of the local administration. */
export function runHandlers({
  storage,
  pageTokens,
  clock,
  automations: { expressions },
}: Pick<ServiceContext, "storage" | "pageTokens" | "clock" | "automations">): Pick<
  Handlers,
  "listAutomationRuns" | "getAutomationRun" | "debugAutomation"
> {
  let debugged = 0;
  return {
    async debugAutomation({ path: { automation_id: automationId }, body: { event } }) {
      const automation = storage.automations.get(automationId);
      if (!automation) throw notFound("automation");
      const body = JSON.stringify(event);
      if (Buffer.byteLength(body) > MAX_EVENT_BYTES)
        throw invalidField("event", `is larger than ${MAX_EVENT_BYTES} bytes`);
      if (debugged >= MAX_DEBUGGED)
        throw new ApiError("resource-exhausted", `${MAX_DEBUGGED} runs are debugged already: try again.`);
      debugged += 1;
      try {
        const { steps } = automation;
        const done = await debugRun({ automationId, steps, body }, expressions, clock);
        const isFailed = done.at(-1)?.status === "STEP_STATUS_FAILED";
        return {
          status: isFailed ? "RUN_STATUS_FAILED" : "RUN_STATUS_SUCCEEDED",
          steps: done.map(stepShown),
        };
      } finally {
        debugged -= 1;
      }
    },
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

function stepShown({ name, status, result, failure, expressions }: DebuggedStep): Schemas["DebuggedStep"] {
  return {
    name,
    status,
    ...(status === "STEP_STATUS_SUCCEEDED" ? { result: JSON.parse(result) } : {}),
    ...(failure ? { failure } : {}),
    expressions: expressions.map(expressionShown),
  };
}

function expressionShown({
  json,
  failure,
  failed,
  parts,
  ...rest
}: DebuggedExpression): Schemas["DebuggedExpression"] {
  return {
    ...rest,
    ...(json === undefined ? {} : { value: json }),
    ...(failure ? { failure } : {}),
    ...(failed ? { failed: { ...failed, on: [...failed.on] } } : {}),
    parts: [...parts],
  };
}
