// The checks of a verdict, with those that were not made.
import { CHECKS, type Check } from "hookproof/receiver";
import type { Step } from "./contract.js";
import type { Demanded } from "./entry.js";

/** What a listener checks, as far as it is known of it. */
interface Checked {
  readonly auth?: "hmac" | "jwt" | undefined;
  readonly demanded?: Demanded | undefined;
}

/** The checks of a verdict, and after them those that it did not come to. */
export function stepsOf(checks: readonly Check[], checked: Checked): Step[] {
  const reached = new Set(checks.map(({ step }) => step));
  const missing = rulesOf(checked).filter(({ step }) => !reached.has(step));
  return [
    ...checks.map(({ ok, ...check }) => ({
      ...check,
      state: ok ? ("passed" as const) : ("failed" as const),
    })),
    ...missing.map(({ step, rule }) => ({ step, state: "not-reached" as const, rule })),
  ];
}

type Rule = Pick<Check, "step" | "rule">;

/** The checks before those of a scheme, and after them. */
const BEFORE = CHECKS.filter(({ number }) => number >= 2 && number <= 5);
const AFTER = CHECKS.slice(-3);

function rulesOf({ auth, demanded }: Checked): readonly Rule[] {
  if (demanded?.auth === "scheme") return [...BEFORE, ...demanded.checks, ...AFTER];
  return auth === undefined ? [] : CHECKS.filter(({ scheme = auth }) => scheme === auth);
}
