import { CHECKS, type Check } from "hookproof/receiver";
import type { Step } from "./contract.js";

/** The checks of a verdict, and after them those that it did not come to. */
export function stepsOf(checks: readonly Check[], auth: "hmac" | "jwt" | undefined): Step[] {
  const reached = new Set(checks.map(({ step }) => step));
  const missing = CHECKS.filter(
    ({ step, scheme = auth }) => auth !== undefined && scheme === auth && !reached.has(step),
  );
  return [
    ...checks.map(({ ok, ...check }) => ({
      ...check,
      state: ok ? ("passed" as const) : ("failed" as const),
    })),
    ...missing.map(({ step, rule }) => ({ step, state: "not-reached" as const, rule })),
  ];
}
