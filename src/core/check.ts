import type { VerdictCode } from "./errors.js";
import { MAX_BODY_BYTES, MAX_TOKEN_LIFETIME_SECONDS, TIMESTAMP_TOLERANCE_SECONDS } from "./protocol.js";

interface CheckRow {
  readonly scheme?: "hmac" | "jwt";
  readonly rule: string;
  readonly codes: readonly VerdictCode[];
  readonly sections: readonly string[];
}

/** The checks by their steps, in the order in which a listener makes them (docs/decisions.md, R1). */
const ROWS = {
  listener: {
    rule: "the path names a listener that exists",
    codes: ["LISTENER_UNKNOWN"],
    sections: ["4.10"],
  },
  method: {
    rule: "the method is POST",
    codes: ["METHOD_NOT_ALLOWED"],
    sections: ["4.10"],
  },
  headers: {
    rule: "the server has kept every header line",
    codes: ["HEADERS_TOO_MANY"],
    sections: ["R16"],
  },
  source: {
    rule: "the source address is in an allowed range, if there are any",
    codes: ["SOURCE_NOT_ALLOWED"],
    sections: ["5.2", "R3"],
  },
  size: {
    rule: `the body is complete and has at most ${MAX_BODY_BYTES} bytes`,
    codes: ["BODY_UNREADABLE", "BODY_TOO_LARGE"],
    sections: ["8", "R4"],
  },
  timestamp: {
    rule: "Webhook-Timestamp is one Unix time in whole seconds",
    codes: ["TIMESTAMP_MISSING", "TIMESTAMP_MALFORMED"],
    sections: ["5.2", "R5"],
  },
  "event-id": {
    rule: "Webhook-Event-Id is one UUID of version 4",
    codes: ["EVENT_ID_MISSING", "EVENT_ID_MALFORMED"],
    sections: ["5.2", "R6"],
  },
  "content-type": {
    rule: "Content-Type is one media type",
    codes: ["CONTENT_TYPE_MISSING", "CONTENT_TYPE_MALFORMED"],
    sections: ["5.2", "R7"],
  },
  window: {
    rule: `the timestamp is at most ${TIMESTAMP_TOLERANCE_SECONDS} s from the server's time`,
    codes: ["TIMESTAMP_OUT_OF_WINDOW", "RUN_FAILED"],
    sections: ["5.2", "8"],
  },
  signature: {
    scheme: "hmac",
    rule: "Webhook-Signature is one HMAC-SHA256 over {timestamp}.{event_id}.{body}, 43 characters of base64url",
    codes: ["SIGNATURE_MISSING", "SIGNATURE_MALFORMED", "SIGNATURE_MISMATCH"],
    sections: ["5.2", "R8"],
  },
  token: {
    scheme: "jwt",
    rule: "Authorization is one Bearer token: three canonical segments, no header member that is refused",
    codes: [
      "TOKEN_MISSING",
      "TOKEN_MALFORMED",
      "TOKEN_HEADER_REFUSED",
      "TOKEN_ALGORITHM_REFUSED",
      "TOKEN_KEY_ID_INVALID",
    ],
    sections: ["5.2", "T1", "T2"],
  },
  key: {
    scheme: "jwt",
    rule: "the key set has one usable key for the token's kid and alg",
    codes: ["KEY_NOT_FOUND", "KEY_SET_UNAVAILABLE", "KEY_SET_INVALID"],
    sections: ["5.2", "T3"],
  },
  "token-signature": {
    scheme: "jwt",
    rule: "the token's signature is by that key",
    codes: ["TOKEN_SIGNATURE_MISMATCH"],
    sections: ["5.2"],
  },
  claims: {
    scheme: "jwt",
    rule: "the claims are one JSON object, each name once",
    codes: ["TOKEN_MALFORMED"],
    sections: ["5.2", "T1"],
  },
  exp: {
    scheme: "jwt",
    rule: `exp is a whole number, after now and at most ${MAX_TOKEN_LIFETIME_SECONDS} s ahead`,
    codes: ["CLAIM_EXP_INVALID"],
    sections: ["5.2", "T4"],
  },
  nbf: {
    scheme: "jwt",
    rule: "nbf, if present, is a number that is not in the future",
    codes: ["CLAIM_NBF_INVALID"],
    sections: ["T4"],
  },
  sub: {
    scheme: "jwt",
    rule: "sub is the tenant's base URL",
    codes: ["CLAIM_SUB_INVALID"],
    sections: ["5.2"],
  },
  aud: {
    scheme: "jwt",
    rule: "aud is the listener's URL, as one string",
    codes: ["CLAIM_AUD_INVALID"],
    sections: ["5.2", "T4"],
  },
  jti: {
    scheme: "jwt",
    rule: "jti is the event id",
    codes: ["CLAIM_JTI_INVALID"],
    sections: ["5.2"],
  },
  htm: {
    scheme: "jwt",
    rule: "htm is the method, in capitals",
    codes: ["CLAIM_HTM_INVALID"],
    sections: ["5.2"],
  },
  htb_s256: {
    scheme: "jwt",
    rule: "htb_s256 is the SHA-256 of the body, base64url without padding",
    codes: ["CLAIM_HTB_S256_INVALID"],
    sections: ["5.2"],
  },
  "media-type": {
    rule: "Content-Type is application/json, and the body is not encoded",
    codes: ["CONTENT_TYPE_UNSUPPORTED", "CONTENT_ENCODING_UNSUPPORTED"],
    sections: ["5.2", "R7"],
  },
  body: {
    rule: "the body is one JSON value in UTF-8, without a byte order mark",
    codes: ["BODY_NOT_JSON"],
    sections: ["4.10", "R9"],
  },
  replay: {
    rule: "the event id was not processed for this listener in the last 7 days",
    codes: ["EVENT_DUPLICATE", "EVENT_IN_FLIGHT", "REPLAY_STORE_UNAVAILABLE"],
    sections: ["6", "8", "R12"],
  },
  trigger: {
    rule: "the automation is published and its trigger enabled",
    codes: ["TRIGGER_INACTIVE", "RUN_FAILED"],
    sections: ["4.10", "R11"],
  },
  run: {
    rule: "the automation accepts the event",
    codes: ["RUN_FAILED", "REPLAY_STORE_UNAVAILABLE"],
    sections: ["4.10", "R17"],
  },
} as const satisfies Record<string, CheckRow>;

/** A check of the default scheme, those of `CHECKS`. */
export type DefaultStep = keyof typeof ROWS;

/**
 * The name of a check, such as `signature` or `window`. `CHECKS` lists those of the default scheme; `iss` and `events`
 * are made by other schemes only.
 */
export type CheckStep = DefaultStep | "iss" | "events";

/** The codes that a step can be refused with. */
export type CodeOf<Step extends DefaultStep> = (typeof ROWS)[Step]["codes"][number];

/** One check of a listener: what it demands, and how it refuses. */
export interface CheckRule {
  /** Its place in the order, from 1. Comments and docs/checks.md name checks by it. */
  readonly number: number;
  /** The id of the check, such as `signature`. */
  readonly step: CheckStep;
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
export const CHECKS: readonly CheckRule[] = /* @__PURE__ */ Object.entries<CheckRow>(ROWS).map(
  ([step, row], index) => ({ number: index + 1, step: step as DefaultStep, ...row }),
);

/** One step of a verdict. It is private detail for your own logs and tools, never for the answer. */
export interface Check {
  /** The name of the check. */
  readonly step: CheckStep;
  /** Whether the request passed. */
  readonly ok: boolean;
  /** Present when the step failed. */
  readonly code?: VerdictCode;
  /** What the step demands, in words: the sentence of `CHECKS`. */
  readonly rule: string;
  /** What the request had. Secrets, signatures and tokens are shortened. */
  readonly seen?: string;
  /** What it should have been, where that is one value. */
  readonly wanted?: string;
}

/** A check that failed: it always has a code. */
export type FailedCheck = Check & { readonly code: VerdictCode };

/** A check that passed. */
export function passed(step: DefaultStep, seen?: string, wanted?: string): Check {
  const { rule } = ROWS[step];
  if (wanted !== undefined) return { step, ok: true, rule, ...detail(seen, wanted) };
  // Without spreading: a request that is accepted makes a dozen of these.
  return seen === undefined ? { step, ok: true, rule } : { step, ok: true, rule, seen };
}

/** A check that failed, with one of the codes that its step has in the table. */
export function failed<Step extends DefaultStep>(
  step: Step,
  code: CodeOf<Step>,
  seen?: string,
  wanted?: string,
): FailedCheck {
  return { step, ok: false, code, rule: ROWS[step].rule, ...detail(seen, wanted) };
}

function detail(seen: string | undefined, wanted: string | undefined): Pick<Check, "seen" | "wanted"> {
  return { ...(seen === undefined ? {} : { seen }), ...(wanted === undefined ? {} : { wanted }) };
}

/** The detail of a failed check in one line. */
export function detailOf(check: Check): string {
  const wanted = check.wanted === undefined ? "" : `; wanted ${check.wanted}`;
  return check.seen === undefined ? check.rule : `${check.rule}; saw ${check.seen}${wanted}`;
}

/** One check of a scheme: what it demands, and the codes of a refusal. */
export interface SchemeCheck {
  /** The name of the check, one of those of `CHECKS`. */
  readonly step: CheckStep;
  /** What it demands, in one sentence. A refusal's answer repeats it, so it must hold nothing private. */
  readonly rule: string;
  /** The codes that a request is refused with. */
  readonly codes: readonly VerdictCode[];
}

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
