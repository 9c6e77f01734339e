import { ALGORITHM_TRIALS } from "./algorithm-mistakes.js";
import { RESERIALISING_TRIALS } from "./body-mistakes.js";
import { ALL_CLAIM_MISTAKES, CLAIM_MISTAKES } from "./claim-mistakes.js";
import { ENCODING_TRIALS } from "./encoding-mistakes.js";
import { SECRET_SENT, SIGNATURE_UNEXPLAINED } from "./explain-signature.js";
import { TARGET_MISTAKES } from "./explain-target.js";
import { HEADER_MISTAKES } from "./header-mistakes.js";
import { EVENT_ID_TRIALS, TIMESTAMP_TRIALS } from "./header-value-mistakes.js";
import { LAYOUT_TRIALS } from "./input-mistakes.js";
import type { Mistake } from "./mistake.js";
import { SIGNATURE_FORMS, SIGNATURE_MALFORMED } from "./read-signature.js";
import { SECRET_NOT_ACCEPTED, SECRET_TRIALS } from "./secret-mistakes.js";
import { TOKEN_MISTAKES } from "./token-mistakes.js";

/**
 * Every mistake a diagnosis can name, in words, for tools that list or explain them. Ids are stable.
 *
 * @example
 * ```ts
 * import { causes } from "hookproof/diagnose";
 *
 * causes.find(({ id }) => id === "signature-hex")?.title; // "Signature in hex"
 * ```
 */
export const causes: readonly Mistake[] = [
  SECRET_TRIALS,
  [SECRET_NOT_ACCEPTED, SECRET_SENT],
  LAYOUT_TRIALS,
  TIMESTAMP_TRIALS,
  EVENT_ID_TRIALS,
  RESERIALISING_TRIALS,
  ENCODING_TRIALS,
  ALGORITHM_TRIALS,
  Object.values(SIGNATURE_FORMS),
  [SIGNATURE_MALFORMED, SIGNATURE_UNEXPLAINED],
  Object.values(TARGET_MISTAKES),
  Object.values(HEADER_MISTAKES),
  Object.values(TOKEN_MISTAKES),
  ALL_CLAIM_MISTAKES,
].flatMap((table: readonly Mistake[]) =>
  table.map(({ id, title, message, fix }) => ({ id, title, message, fix })),
);

/** What every recorded request comes to sooner or later. */
export const AGEING: ReadonlySet<Mistake> = new Set<Mistake>([
  HEADER_MISTAKES.timestampStale,
  CLAIM_MISTAKES.expPast,
  CLAIM_MISTAKES.expClockBehind,
]);
