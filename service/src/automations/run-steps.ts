// Runs the steps of an automation in order.
import type { Clock } from "hookproof";
import type { Evaluation, Expressions } from "./expressions.js";
import { failed, type StepFailure } from "./step-failure.js";
import { parseTemplates, TemplateError, type Templates } from "./template.js";

/** One step of an automation. */
export interface Step {
  /** Unique; later steps read what this one gave as `ctx.<name>`. */
  readonly name: string;
  /** A CEL expression; the step is skipped where it is false. Empty: the step always runs. */
  readonly condition: string;
  readonly templates: Templates;
}

/** What became of a step. */
export interface StepResult {
  readonly name: string;
  readonly status: StepStatus;
  /** The JSON of what the step gave; empty unless it succeeded. */
  readonly result: string;
  readonly failure?: StepFailure | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly finishedAt: number;
}

/** How a step ended; a step that a failure before it kept from starting has no result. */
export type StepStatus = "STEP_STATUS_SUCCEEDED" | "STEP_STATUS_SKIPPED" | "STEP_STATUS_FAILED";

/** What a run starts from. */
export interface RunInput {
  readonly automationId: string;
  readonly steps: readonly Step[];
  /** The event's body as it arrived: JSON, `ctx.trigger`. */
  readonly body: string;
  /** Results from before a crash; their steps do not run again. */
  readonly finished: readonly StepResult[];
}

/** Runs the steps that have no result yet, in order, up to the first that fails. */
export async function* runSteps(
  { automationId, steps, body, finished }: RunInput,
  expressions: Expressions,
  clock: Clock,
): AsyncGenerator<StepResult> {
  const results = new Map(finished.map((result) => [result.name, result]));
  for (const step of steps) {
    if (results.get(step.name)?.status === "STEP_STATUS_FAILED") return;
    if (results.has(step.name)) continue;
    const startedAt = clock.now();
    const evaluation = { context: contextOf(body, results.values()), now: startedAt, automationId };
    const ended = await runStep(step, evaluation, expressions).catch(unreadable);
    const result = { name: step.name, ...ended, startedAt, finishedAt: clock.now() };
    results.set(step.name, result);
    yield result;
    if (result.status === "STEP_STATUS_FAILED") return;
  }
}

type Ended = Pick<StepResult, "status" | "result" | "failure">;

async function runStep(step: Step, evaluation: Evaluation, expressions: Expressions): Promise<Ended> {
  if (step.condition !== "") {
    const condition = await expressions.condition(evaluation, step.condition);
    if (!condition.ok) return failed(condition.failure);
    if (!condition.value) return { status: "STEP_STATUS_SKIPPED", result: "" };
  }
  const templates = parseTemplates(step.templates);
  const values = await expressions.values(
    evaluation,
    templates.expressions.map(({ expression }) => expression),
  );
  if (!values.ok) return failed(values.failure);
  const result = JSON.stringify(templates.fill(values.value));
  return { status: "STEP_STATUS_SUCCEEDED", result };
}

/** A template that was never checked fails its step; anything else is no fault of the step's. */
function unreadable(error: unknown): Ended {
  if (!(error instanceof TemplateError)) throw error;
  const message = `templates.${error.path}: ${error.message}`;
  return failed({ code: "EXPRESSION_INVALID", message });
}

/** The JSON of `ctx`, put together from texts: a body may be deeper than what can be written again. */
export function contextOf(
  body: string,
  results: Iterable<Pick<StepResult, "name" | "status" | "result">>,
): string {
  const members = [`"trigger":${body}`];
  for (const { name, status, result } of results)
    if (status === "STEP_STATUS_SUCCEEDED") members.push(`${JSON.stringify(name)}:${result}`);
  return `{${members.join(",")}}`;
}
