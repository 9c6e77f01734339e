// Evaluates CEL in processes of its own.
import { createLane, type Lane } from "./expression-lane.js";
import type { Answer } from "./expression-process.js";
import type { Outcome } from "./step-failure.js";

/** An evaluation ends after this long, whatever it is doing. */
const TIMEOUT_MS = 5_000;
/**
 * The queues of evaluations, by how long they take. An evaluation that takes longer than its lane allows begins again
 * in the next lane. Each lane gives way to the lanes before it. The last one is for automations whose last evaluation
 * ran into the time limit. The first lane allows several times what most evaluations take, and no more: whatever hangs
 * for the first time holds it up for that long.
 */
const LANES = [
  { mostMs: 10, size: 2, niceness: 0 },
  { mostMs: 250, size: 1, niceness: 5 },
  { mostMs: TIMEOUT_MS, size: 1, niceness: 10 },
  { mostMs: TIMEOUT_MS, size: 1, niceness: 19 },
] as const;
const LAST = LANES.length - 1;
/** How often an evaluation begins in a quick lane that ran into its time only because the machine was busy. */
const TRIES = 2;
/** The JSON of all values of a step, in characters: as much as four of the largest bodies. */
const MAX_RESULT_LENGTH = 262_144;
/** For how many automations it is remembered that they are not quick. */
const MAX_KNOWN = 10_000;

/** Evaluates CEL, in processes of its own that are started when they are first needed. */
export interface Expressions {
  /**
   * Whether an expression is one, as far as that can be known before there is an event.
   *
   * @param stepNames the steps that end before it is evaluated: `ctx.<name>`
   */
  check(expression: string, stepNames?: readonly string[]): Promise<Outcome<undefined>>;
  /** @param evaluation its context is the JSON of `ctx` */
  condition(evaluation: Evaluation, expression: string): Promise<Outcome<boolean>>;
  /** The JSON of each expression's value; all of them, or the failure of one. */
  values(evaluation: Evaluation, expressions: readonly string[]): Promise<Outcome<string[]>>;
  /** Ends the processes. What is not answered yet is rejected. */
  stop(): Promise<void>;
}

/** What expressions are evaluated with, and for which automation. */
export interface Evaluation {
  /** The JSON of `ctx`. */
  readonly context: string;
  /** The automation that the expressions belong to: how long they took decides what they hold up next time. */
  readonly automationId: string;
}

/**
 * Evaluates expressions in a few processes. CEL has no endless loops, but a loop in a loop over a large body, or a text
 * that doubles, takes more time or memory than there is; so it runs where the service can end it. An expression changes
 * nothing: it can be ended and begun again. An automation therefore delays only automations that take as long as it does.
 */
export function createExpressions({ timeoutMs = TIMEOUT_MS } = {}): Expressions {
  const lanes = LANES.map((options) => createLane(options));
  const [quick] = lanes as [Lane];
  const levels = new Map<string, number>();

  async function evaluated(
    { context, automationId }: Evaluation,
    question: Readonly<Record<string, unknown>>,
  ): Promise<Outcome<never>> {
    const request = { ...question, context, maxLength: MAX_RESULT_LENGTH };
    for (let level = levels.get(automationId) ?? 0; ; level++) {
      const answer = await answerOf(level, request);
      if (isTimeout(answer) && timeIn(level) < timeoutMs) continue;
      remember(automationId, answer);
      return answer.outcome;
    }
  }

  function timeIn(level: number): number {
    return level < LAST - 1 ? Math.min(LANES[level]?.mostMs ?? 0, timeoutMs) : timeoutMs;
  }

  async function answerOf(level: number, request: object): Promise<Answer> {
    const lane = lanes[level] as Lane;
    const mostMs = timeIn(level);
    // The second try has more time: no quick step gets behind those that hang because the machine is busy. The limit
    // itself is the same for everybody, however busy it is.
    for (
      let tried = mostMs < timeoutMs ? 1 : TRIES, ms = mostMs;
      ;
      tried++, ms = Math.min(ms * 4, timeoutMs)
    ) {
      const answer = await lane.ask({ ...request, timeoutMs: ms });
      if (!isTimeout(answer) || answer.usedMs > mostMs / 2 || tried === TRIES) return answer;
    }
  }

  /** Remembers in which lane the automation's next evaluation begins. */
  function remember(automationId: string, answer: Answer): void {
    const fitting = LANES.findIndex(({ mostMs }) => answer.usedMs < mostMs);
    const level = isTimeout(answer) || fitting === -1 ? LAST : fitting;
    levels.delete(automationId);
    if (level > 0) levels.set(automationId, level);
    const [oldest] = levels.keys();
    if (levels.size > MAX_KNOWN && oldest !== undefined) levels.delete(oldest);
  }

  return {
    async check(expression, stepNames = []) {
      // A person waits for the answer, and the time it takes grows with the length of the expression only.
      const answer = await quick.ask({ ask: "check", expression, stepNames, timeoutMs }, true);
      return answer.outcome;
    },
    condition: (evaluation, expression) => evaluated(evaluation, { ask: "condition", expression }),
    values: (evaluation, expressions) => evaluated(evaluation, { ask: "values", expressions }),
    async stop() {
      await Promise.all(lanes.map((lane) => lane.stop()));
    },
  };
}

function isTimeout({ outcome }: Answer): boolean {
  return !outcome.ok && outcome.failure.code === "EXPRESSION_TIMEOUT";
}
