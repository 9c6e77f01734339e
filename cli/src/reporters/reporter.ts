// What a reporter is, and what it is told of a run.
import type { ListenerVerdict, ProbeResult } from "hookproof/probes";
import type { Output } from "../output.js";

/** What a run is, before its first result. */
export interface Run {
  readonly url: string;
  /** `hmac` or `jwt`, or the name of another scheme. */
  readonly method: string;
  readonly probes: readonly unknown[];
  /** Unclear results count as failures. */
  readonly strict: boolean;
}

/** How a run ended. */
export interface Summary {
  readonly pass: number;
  readonly fail: number;
  readonly skip: number;
  readonly unclear: number;
  /** How many of the skipped would have run the automation. */
  readonly wouldTrigger: number;
  readonly durationMs: number;
  /** Why nothing was proved; absent if something was. */
  readonly nothing?: string | undefined;
  /** Why not all was sent that the verdict needs; absent if it was. */
  readonly incomplete?: string | undefined;
  readonly ok: boolean;
}

/** Writes a report as text, each piece as soon as it is known. A piece is whole lines, or nothing. */
export interface Reporter {
  begin(run: Run): string;
  result(result: ProbeResult): string;
  /** The verdict on the listener, after the last result; without one if nothing is wrong, or the run ended early. */
  verdict(verdict: ListenerVerdict | undefined): string;
  end(summary: Summary): string;
}

/** Makes a reporter; `paint` is for the one that people read. */
export type CreateReporter = (
  paint: Output["paint"],
  verbose?: boolean,
  /** Whether the report scrolls by: then passes are a number, and what is to be done is at the end. */
  isTerminal?: boolean,
) => Reporter;

/** What was seen, in one word. */
export function seenBy({ status, failure }: ProbeResult): string {
  return String(status ?? failure ?? "nothing");
}

/** A deviation in one line: what was expected, what was seen, and the reason. */
export function deviationOf(result: ProbeResult): string {
  const reason = result.reason === undefined ? "" : `; ${result.reason}`;
  return `expected ${result.expected.join(" or ")}, saw ${seenBy(result)}${reason}`;
}

/** Whether a result fails the run. */
export function isFailure({ outcome }: ProbeResult, strict: boolean): boolean {
  return outcome === "fail" || (strict && outcome === "unclear");
}
