import type { Check, CheckStep, FailedCheck } from "../core/check.js";
import type { VerdictCode } from "../core/errors.js";
import type { SchemeCheck } from "./scheme.js";

/** Makes the checks of a verdict from a scheme's table. */
export interface SchemeChecks {
  /** A check that passed. */
  passed(step: CheckStep, seen?: string): Check;
  /** A check that failed; what was `seen` and `wanted` stays in the verdict. */
  failed(step: CheckStep, code: VerdictCode, seen?: string, wanted?: string): FailedCheck;
}

/**
 * Makes the checks of a verdict with the rules of a scheme's table. A secret or a whole signature must not be part of
 * `seen` and `wanted`.
 *
 * @throws {TypeError} when a check is made that the table does not have
 *
 * @example
 * ```ts
 * import { type SchemeCheck, schemeChecks } from "hookproof/schemes";
 *
 * const checks: SchemeCheck[] = [
 *   { step: "signature", rule: "Acme-Signature is one HMAC-SHA256 of the body", codes: ["SIGNATURE_MISMATCH"] },
 * ];
 * schemeChecks(checks).failed("signature", "SIGNATURE_MISMATCH", "another one").ok; // false
 * ```
 */
export function schemeChecks(table: readonly SchemeCheck[]): SchemeChecks {
  const rules = new Map(table.map(({ step, rule }) => [step, rule]));
  function ruleOf(step: CheckStep): string {
    const rule = rules.get(step);
    if (rule === undefined) throw new TypeError(`the scheme has no check ${JSON.stringify(step)}`);
    return rule;
  }
  return {
    passed(step, seen) {
      const rule = ruleOf(step); // written out, as each request makes half a dozen of them
      return seen === undefined ? { step, rule, ok: true } : { step, rule, seen, ok: true };
    },
    failed: (step, code, seen, wanted) => ({
      step,
      rule: ruleOf(step),
      ...(seen === undefined ? {} : { seen }),
      ok: false,
      code,
      ...(wanted === undefined ? {} : { wanted }),
    }),
  };
}
