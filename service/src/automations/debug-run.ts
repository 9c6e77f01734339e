// Runs an automation for somebody who looks on: every expression with what it saw, and nothing is kept.
import type { Clock } from "hookproof";
import { type Evaluation, type Expressions, type FoundByKey, MAX_RESULT_LENGTH } from "./expressions.js";
import { contextOf, type Step, type StepStatus } from "./run-steps.js";
import { failed, type StepFailure } from "./step-failure.js";
import { parseTemplates, TemplateError } from "./template.js";
import type { Traced } from "./traced.js";

/** A run that ends after this long, whatever its expressions do; each of them has its own time as well. */
const MAX_RUN_MS = 30_000;
/** The most parts of expressions that one run tells of. */
const MAX_PARTS = 2_000;

/** One expression of a step: where it stands, and what it saw, gave and took. */
export interface DebuggedExpression extends Traced {
  /** `condition`, or a place in the templates such as `templates.mail.to[0]`. */
  readonly path: string;
  readonly expression: string;
}

/** What became of a step, and of each of its expressions. */
export interface DebuggedStep {
  readonly name: string;
  readonly status: StepStatus;
  /** The JSON of what the step gave; empty unless it succeeded. */
  readonly result: string;
  readonly failure?: StepFailure | undefined;
  /** In the order in which they were evaluated, up to the first that failed. */
  readonly expressions: readonly DebuggedExpression[];
}

/** What a run is tried with. */
interface DebugRunInput {
  readonly automationId: string;
  readonly steps: readonly Step[];
  /** JSON: `ctx.trigger`. */
  readonly body: string;
}

/**
 * Runs the steps as an event would, up to the first that fails, whether or not the automation is published. Nothing is
 * stored: no run, no event id.
 */
export async function debugRun(
  { automationId, steps, body }: DebugRunInput,
  expressions: Expressions,
  clock: Clock,
): Promise<DebuggedStep[]> {
  const endsAt = performance.now() + MAX_RUN_MS;
  const done: DebuggedStep[] = [];
  let parts = 0;
  for (const step of steps) {
    const seen: DebuggedExpression[] = [];
    // How long its expressions take is remembered apart: whoever looks on holds up nothing of the automation's own.
    const evaluation = {
      context: contextOf(body, done),
      now: clock.now(),
      automationId: `debug ${automationId}`,
    };
    const evaluate: Evaluate = async (path, expression, found) => {
      const traced = await tracedUntil(endsAt, { ...evaluation, found }, expression, expressions);
      const kept = traced.parts.slice(0, Math.max(0, MAX_PARTS - parts));
      parts += kept.length;
      seen.push({ path, expression, ...traced, parts: kept });
      return seen.at(-1) as DebuggedExpression;
    };
    const { status, result, failure } = await debugStep(step, evaluate);
    done.push({ name: step.name, status, result, ...(failure ? { failure } : {}), expressions: seen });
    if (status === "STEP_STATUS_FAILED") break;
  }
  return done;
}

/** @param found what look-ups gave before, where there is something that is evaluated together with this one */
type Evaluate = (path: string, expression: string, found?: FoundByKey[]) => Promise<DebuggedExpression>;
type Ended = Pick<DebuggedStep, "status" | "result" | "failure">;

async function debugStep({ condition, templates }: Step, evaluate: Evaluate): Promise<Ended> {
  if (condition !== "") {
    const { json, failure } = await evaluate("condition", condition);
    if (failure) return failed(failure);
    if (json !== "true" && json !== "false")
      return failed({ code: "CONDITION_NOT_BOOLEAN", message: "the condition is neither true nor false" });
    if (json === "false") return { status: "STEP_STATUS_SKIPPED", result: "" };
  }
  try {
    const parsed = parseTemplates(templates);
    const values: string[] = [];
    // A run evaluates the templates of a step in one: their look-ups are counted, and made, together.
    const found: FoundByKey[] = [];
    let length = 0;
    for (const { path, expression } of parsed.expressions) {
      const { json = "null", failure } = await evaluate(`templates.${path}`, expression, found);
      if (failure) return failed(failure);
      length += json.length;
      if (length > MAX_RESULT_LENGTH)
        return failed({ code: "RESULT_TOO_LARGE", message: `longer than ${MAX_RESULT_LENGTH} characters` });
      values.push(json);
    }
    return { status: "STEP_STATUS_SUCCEEDED", result: JSON.stringify(parsed.fill(values)) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const message = `templates.${error.path}: ${error.message}`;
    return failed({ code: "EXPRESSION_INVALID", message });
  }
}

async function tracedUntil(
  endsAt: number,
  evaluation: Evaluation,
  expression: string,
  expressions: Expressions,
): Promise<Traced> {
  if (performance.now() < endsAt) return expressions.trace(evaluation, expression);
  const message = `the run is not done after ${MAX_RUN_MS} ms`;
  return { failure: { code: "EXPRESSION_TIMEOUT", message }, parts: [], usedMs: 0 };
}
