// Evaluates CEL in processes of its own.
import { setImmediate as nextTurn } from "node:timers/promises";
import { createLane, type Lane } from "./expression-lane.js";
import type { Answer } from "./expression-process.js";
import type { Found, LookUps } from "./look-ups.js";
import type { Outcome, StepFailure } from "./step-failure.js";
import type { Traced } from "./traced.js";

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
export const MAX_RESULT_LENGTH = 262_144;
/** The JSON of everything that the look-ups of an evaluation give, in characters. */
const MAX_FOUND_LENGTH = 2 ** 22;
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
  /** What an expression gives, and what each of its parts did. */
  trace(evaluation: Evaluation, expression: string): Promise<Traced>;
  /** Ends the processes. What is not answered yet is rejected. */
  stop(): Promise<void>;
}

/** What expressions are evaluated with, and for which automation. */
export interface Evaluation {
  /** The JSON of `ctx`. */
  readonly context: string;
  /** What `now()` is, in milliseconds since the epoch. */
  readonly now: number;
  /** The automation that the expressions belong to: how long they took decides what they hold up next time. */
  readonly automationId: string;
  /** What look-ups have given, which each evaluation that it is given to adds to: they share their look-ups. */
  readonly found?: FoundByKey[] | undefined;
}

/** What a look-up gave, by what was asked for. */
export type FoundByKey = [key: string, found: Found];

/** Options of `createExpressions`. */
interface ExpressionsOptions {
  readonly timeoutMs?: number | undefined;
  /** What answers the look-ups of expressions; without it there are none. */
  readonly lookUps?: LookUps | undefined;
}

/**
 * Evaluates expressions in a few processes. CEL has no endless loops, but a loop in a loop over a large body, or a text
 * that doubles, takes more time or memory than there is; so it runs where the service can end it. An expression changes
 * nothing: it can be ended and begun again. An automation therefore delays only automations that take as long as it does.
 */
export function createExpressions(options: ExpressionsOptions = {}): Expressions {
  return new ExpressionLanes(options);
}

class ExpressionLanes implements Expressions {
  readonly #timeoutMs: number;
  readonly #lookUps: LookUps;
  readonly #lanes: readonly Lane[];
  /** In which lane the next evaluation of an automation begins that is not quick. */
  readonly #levels = new Map<string, number>();
  readonly #ending = new AbortController();

  constructor({ timeoutMs = TIMEOUT_MS, lookUps = NO_LOOK_UPS }: ExpressionsOptions) {
    this.#timeoutMs = timeoutMs;
    this.#lookUps = lookUps;
    const { signatures } = lookUps;
    this.#lanes = LANES.map((options) => createLane({ ...options, signatures }));
  }

  async check(expression: string, stepNames: readonly string[] = []): Promise<Outcome<undefined>> {
    const [quick] = this.#lanes as readonly [Lane];
    const question = { ask: "check", expression, stepNames, timeoutMs: this.#timeoutMs };
    // A person waits for the answer, and the time it takes grows with the length of the expression only.
    const { outcome } = await quick.ask(question, true);
    return outcome;
  }

  async condition(evaluation: Evaluation, expression: string): Promise<Outcome<boolean>> {
    return (await this.#evaluated(evaluation, { ask: "condition", expression })).outcome;
  }

  async values(evaluation: Evaluation, expressions: readonly string[]): Promise<Outcome<string[]>> {
    return (await this.#evaluated(evaluation, { ask: "values", expressions })).outcome;
  }

  async trace(evaluation: Evaluation, expression: string): Promise<Traced> {
    const question = { ask: "trace", expression };
    const { outcome, parts = [], usedMs } = await this.#evaluated(evaluation, question);
    const used = Number.isFinite(usedMs) ? usedMs : this.#timeoutMs;
    return outcome.ok
      ? { ...(outcome.value as Omit<Traced, "usedMs">), usedMs: used }
      : { failure: outcome.failure, parts, usedMs: used };
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#lanes.map((lane) => lane.stop()));
  }

  async #evaluated(
    { context, now, automationId, found = [] }: Evaluation,
    question: Readonly<Record<string, unknown>>,
  ): Promise<Ended> {
    const timeoutMs = this.#timeoutMs;
    let leftMs = timeoutMs;
    for (let level = this.#levels.get(automationId) ?? 0; ; ) {
      const request = { ...question, context, now, found, maxLength: MAX_RESULT_LENGTH };
      const answer = await this.#answerOf(level, request, leftMs);
      if (isTimeout(answer) && this.#timeIn(level) < leftMs) {
        level += 1;
        continue;
      }
      if (answer.wanted) {
        // It begins again with what is found now; all its beginnings and look-ups together have the time of one.
        const before = performance.now();
        const more = await this.#lookedUp(answer.wanted, leftMs, lengthOf(found));
        leftMs -= answer.usedMs + performance.now() - before;
        const failure =
          more === undefined || leftMs <= 0 ? tooLong(timeoutMs) : tooMuch(lengthOf(found, more));
        if (failure === undefined) {
          found.push(...(more ?? []));
          continue;
        }
        const outcome = { ok: false, failure } as const;
        this.#remember(automationId, { outcome, usedMs: answer.usedMs });
        return { outcome, usedMs: timeoutMs - leftMs };
      }
      this.#remember(automationId, answer);
      const isLate = isTimeout(answer) && leftMs < timeoutMs;
      const { outcome } = isLate ? { outcome: { ok: false, failure: tooLong(timeoutMs) } as const } : answer;
      return { ...answer, outcome, usedMs: timeoutMs - leftMs + answer.usedMs };
    }
  }

  /** What was asked for, up to what is too much together; undefined if it was not found in time. */
  async #lookedUp(
    wanted: NonNullable<Answer["wanted"]>,
    leftMs: number,
    foundLength: number,
  ): Promise<FoundByKey[] | undefined> {
    const ending = this.#ending.signal;
    const signal = AbortSignal.any([ending, AbortSignal.timeout(Math.max(1, Math.ceil(leftMs)))]);
    try {
      const found: FoundByKey[] = [];
      let length = foundLength;
      for (const [key, one] of wanted) {
        const answer = await this.#lookUps.answer(one, signal);
        found.push([key, answer]);
        length += lengthOf([[key, answer]]);
        if (length > MAX_FOUND_LENGTH) return found;
        // Whatever answers without waiting would hold up everything else for a hundred answers.
        await nextTurn();
        signal.throwIfAborted();
      }
      return found;
    } catch (error) {
      if (ending.aborted) throw new Error("The service has stopped.");
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  #timeIn(level: number): number {
    return level < LAST - 1 ? Math.min(LANES[level]?.mostMs ?? 0, this.#timeoutMs) : this.#timeoutMs;
  }

  async #answerOf(level: number, request: object, leftMs: number): Promise<Answer> {
    const lane = this.#lanes[level] as Lane;
    const maxMs = Math.min(this.#timeIn(level), leftMs);
    // The second try has more time: no quick step gets behind those that hang because the machine is busy. The limit
    // itself is the same for everybody, however busy it is.
    for (let tried = maxMs < leftMs ? 1 : TRIES, ms = maxMs; ; tried++, ms = Math.min(ms * 4, leftMs)) {
      const answer = await lane.ask({ ...request, timeoutMs: Math.ceil(ms) });
      if (!isTimeout(answer) || answer.usedMs > maxMs / 2 || tried === TRIES) return answer;
    }
  }

  /** Remembers in which lane the automation's next evaluation begins. */
  #remember(automationId: string, answer: Answer): void {
    const fitting = LANES.findIndex(({ mostMs }) => answer.usedMs < mostMs);
    const level = isTimeout(answer) || fitting === -1 ? LAST : fitting;
    this.#levels.delete(automationId);
    if (level > 0) this.#levels.set(automationId, level);
    const [oldest] = this.#levels.keys();
    if (this.#levels.size > MAX_KNOWN && oldest !== undefined) this.#levels.delete(oldest);
  }
}

/** How an evaluation ended, with the time of all its beginnings. */
type Ended = Pick<Answer, "outcome" | "parts" | "usedMs">;

const NO_LOOK_UPS: LookUps = {
  signatures: [],
  answer: async () => ({ failure: "there is nothing to look up in" }),
};

/** In characters. */
function lengthOf(...lists: readonly (readonly FoundByKey[])[]): number {
  let length = 0;
  for (const [, found] of lists.flat()) length += ("json" in found ? found.json : found.failure).length;
  return length;
}

function tooLong(timeoutMs: number): StepFailure {
  return { code: "EXPRESSION_TIMEOUT", message: `not done after ${timeoutMs} ms, its look-ups included` };
}

function tooMuch(length: number): StepFailure | undefined {
  if (length <= MAX_FOUND_LENGTH) return undefined;
  return {
    code: "EXPRESSION_TOO_LARGE",
    message: `the look-ups give more than ${MAX_FOUND_LENGTH} characters`,
  };
}

function isTimeout({ outcome }: Answer): boolean {
  return !outcome.ok && outcome.failure.code === "EXPRESSION_TIMEOUT";
}
