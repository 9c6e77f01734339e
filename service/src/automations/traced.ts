// The types of what a traced expression saw, gave and took.
import type { StepFailure } from "./step-failure.js";

/** What a part of an expression gave. */
export interface SeenPart {
  /** The part as CEL, such as `size(ctx.trigger.tags)`. */
  readonly expression: string;
  /** Line and column, such as `1:12`. */
  readonly place: string;
  /** How often it was evaluated: more than once in a macro. */
  readonly times: number;
  /** What it gave the last time: JSON text, shortened. */
  readonly value: string;
}

/** The part that failed, and the values that it failed on. */
interface FailedPart extends Pick<SeenPart, "expression" | "place"> {
  readonly on: readonly Pick<SeenPart, "expression" | "value">[];
}

/** What an expression saw, gave and took. */
export interface Traced {
  /** The JSON of what it gave; absent where it failed. */
  readonly json?: string | undefined;
  readonly failure?: StepFailure | undefined;
  /** The innermost part that failed, where that is one. */
  readonly failed?: FailedPart | undefined;
  /** In the order in which they gave something. */
  readonly parts: readonly SeenPart[];
  /** Processor time, its look-ups included, in milliseconds. */
  readonly usedMs: number;
}
