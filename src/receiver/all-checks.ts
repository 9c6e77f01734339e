// Every check of a listener in its order.
import type { VerdictCode } from "../core/errors.js";
import { LISTENER_CHECKS } from "../schemes/default-verifier.js";
import { ACCEPTANCE_CHECKS, ENVELOPE_CHECKS } from "./checks.js";

/** One check of a listener: what it demands, and how it refuses. */
export interface CheckRule {
  /** Its place in the order, from 1. Comments and docs/checks.md name checks by it. */
  readonly number: number;
  /** The id of the check, such as `signature`. */
  readonly step: string;
  /** The method whose listeners make this check; absent for a check that all of them make. */
  readonly scheme?: "hmac" | "jwt";
  /** What the check demands, in one sentence. */
  readonly rule: string;
  /** The codes that a request is refused with. */
  readonly codes: readonly VerdictCode[];
  /** Where the rule comes from: sections of docs/specification.md, and paragraphs of docs/decisions.md such as `R5`. */
  readonly sections: readonly string[];
}

/**
 * Every check of a listener, in the order in which it makes them. A listener makes those of its own method and those
 * of both; the first that fails is the verdict. docs/checks.md shows the list.
 *
 * @example
 * ```ts
 * import { CHECKS } from "hookproof/receiver";
 *
 * for (const { number, step, rule } of CHECKS) console.log(number, step, rule);
 * ```
 */
export const CHECKS: readonly CheckRule[] = /* @__PURE__ */ inOrder();

/** The path is checked before the receiver's own, the proof after the body is there. */
function inOrder(): readonly CheckRule[] {
  const [target, ...proof] = LISTENER_CHECKS;
  return [target, ...ENVELOPE_CHECKS, ...proof, ...ACCEPTANCE_CHECKS].map((row, index) => ({
    number: index + 1,
    ...row,
  }));
}
