// What a check of a verdict is, and the one maker of checks.
import type { VerdictCode } from "./errors.js";
import { factOf } from "./facts.js";

/** One step of a verdict. It is private detail for your own logs and tools, never for the answer. */
export interface Check {
  /** The name of the check, such as `signature` or `window`. */
  readonly step: string;
  /** Whether the request passed. */
  readonly ok: boolean;
  /** Present when the step failed. */
  readonly code?: VerdictCode;
  /** What the step demands, in words: the sentence of its row in `CHECKS`, or in the scheme's table. */
  readonly rule: string;
  /** Present when the step failed: what was wrong, in one sentence that may be shown to anybody. */
  readonly fact?: string;
  /** What the request had. Secrets, signatures and tokens are shortened. */
  readonly seen?: string;
  /** What it should have been, where that is one value. */
  readonly wanted?: string;
}

/** A check that failed: it always has a code, and says what was wrong. */
export type FailedCheck = Check & { readonly code: VerdictCode; readonly fact: string };

/** The detail of a failed check in one line: what was wrong, and with which values. */
export function detailOf({ fact, rule, seen, wanted }: Check): string {
  const values = [
    seen === undefined || seen === NOTHING ? [] : `received ${seen}`,
    wanted === undefined ? [] : `expected ${wanted}`,
  ].flat();
  const words = values.join(", ");
  const sentence = fact ?? `${rule}.`;
  return words === "" ? sentence : `${sentence} ${words[0]?.toUpperCase()}${words.slice(1)}.`;
}

/** What a check has seen where there was nothing. */
const NOTHING = "nothing";

/** One check of a scheme: what it demands, and the codes of a refusal. */
export interface SchemeCheck {
  /** The name of the check: one of those of `CHECKS` where it is the same, or one of the scheme's own. */
  readonly step: string;
  /** What it demands, in one sentence. A refusal's answer may repeat it, so it must hold nothing private. */
  readonly rule: string;
  /** The codes that a request is refused with. */
  readonly codes: readonly VerdictCode[];
}

/** The codes that each step of a table can be refused with. */
export type CodesOf<Row extends SchemeCheck> = { readonly [One in Row as One["step"]]: One["codes"][number] };

/** Makes the checks of a verdict from a table. */
export interface SchemeChecks<Row extends SchemeCheck = SchemeCheck> {
  /** A check that passed. */
  passed(step: Row["step"], seen?: string, wanted?: string): Check;
  /** A check that failed, with one of its row's codes; what was `seen` and `wanted` stays in the verdict. */
  failed<Step extends Row["step"]>(
    step: Step,
    code: CodesOf<Row>[Step] & VerdictCode,
    seen?: string,
    wanted?: string,
  ): FailedCheck;
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
export function schemeChecks<Row extends SchemeCheck>(table: readonly Row[]): SchemeChecks<Row> {
  const rules = new Map<string, string>(table.map(({ step, rule }) => [step, rule]));
  function ruleOf(step: string): string {
    const rule = rules.get(step);
    if (rule === undefined) throw new TypeError(`the scheme has no check ${JSON.stringify(step)}`);
    return rule;
  }
  return {
    passed(step, seen, wanted) {
      const rule = ruleOf(step);
      if (wanted !== undefined) return { step, ok: true, rule, ...detail(seen, wanted) };
      // Without spreading: a request that is accepted makes a dozen of these.
      return seen === undefined ? { step, ok: true, rule } : { step, ok: true, rule, seen };
    },
    failed: (step, code, seen, wanted) => ({
      step,
      ok: false,
      code,
      rule: ruleOf(step),
      fact: factOf(code, ruleOf(step)),
      ...detail(seen, wanted),
    }),
  };
}

function detail(seen: string | undefined, wanted: string | undefined): Pick<Check, "seen" | "wanted"> {
  return { ...(seen === undefined ? {} : { seen }), ...(wanted === undefined ? {} : { wanted }) };
}
