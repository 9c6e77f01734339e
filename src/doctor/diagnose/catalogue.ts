// Every mistake that a diagnosis can name, by id and scheme.
import { type Mistake, type MistakeRow, withoutFunctions } from "../rows/mistake.js";
import { doctorOf } from "../schemes/mistakes-by-name.js";
import type { OtherScheme } from "../schemes/other-scheme.js";
import { SERIALISING_MISTAKES } from "./mistakes/body.js";
import { ALL_CLAIM_MISTAKES } from "./mistakes/claim.js";
import { ENCODING_MISTAKES } from "./mistakes/encoding.js";
import { REQUEST_MISTAKES } from "./mistakes/header.js";
import { KEY_MATERIAL_MISTAKES } from "./mistakes/key-material.js";
import { KEY_SET_SHAPES, KID_MISTAKES } from "./mistakes/key-set.js";
import { LAYOUT_MISTAKES } from "./mistakes/layout.js";
import { SECRET_MISTAKES, SECRET_NOT_ACCEPTED } from "./mistakes/secret.js";
import {
  ALGORITHM_MISTAKES,
  BODY_COMPRESSED,
  SECRET_SENT,
  SIGNATURE_CUT,
  SIGNATURE_FORMS,
  SIGNATURE_INPUT_BEFORE,
  SIGNATURE_MALFORMED,
  SIGNATURE_NOT_FILLED_IN,
  SIGNATURE_NOT_TEXT,
  SIGNATURE_OTHER_CASE,
  SIGNATURE_OTHER_HASH,
  SIGNATURE_READ_AS_TEXT,
  SIGNATURE_UNEXPLAINED,
  SIGNATURE_ZEROS_LOST,
} from "./mistakes/signature.js";
import { EVENT_ID_MISTAKES, TIMESTAMP_MISTAKES } from "./mistakes/signing-input.js";
import { TOKEN_MISTAKES } from "./mistakes/token.js";
import { TOKEN_FORM_MISTAKES, WHOLE_CLAIMS_MISTAKES } from "./mistakes/token-form.js";
import { TOKEN_SIGNATURE_MISTAKES } from "./mistakes/token-signature.js";

/** Every row of the default scheme, for the catalogue and for the words of a listener that makes the mistake. */
const ROWS: readonly MistakeRow[] = [
  SECRET_MISTAKES,
  [SECRET_NOT_ACCEPTED, SECRET_SENT],
  LAYOUT_MISTAKES,
  TIMESTAMP_MISTAKES,
  EVENT_ID_MISTAKES,
  SERIALISING_MISTAKES,
  ENCODING_MISTAKES,
  ALGORITHM_MISTAKES,
  Object.values(SIGNATURE_FORMS),
  [SIGNATURE_NOT_TEXT, SIGNATURE_NOT_FILLED_IN, SIGNATURE_INPUT_BEFORE],
  [SIGNATURE_READ_AS_TEXT, SIGNATURE_CUT, SIGNATURE_ZEROS_LOST],
  [SIGNATURE_OTHER_CASE, BODY_COMPRESSED, SIGNATURE_MALFORMED, SIGNATURE_UNEXPLAINED],
  REQUEST_MISTAKES,
  Object.values(TOKEN_MISTAKES),
  TOKEN_FORM_MISTAKES,
  WHOLE_CLAIMS_MISTAKES,
  // That there is no signature is said where the token is read.
  Object.values(TOKEN_SIGNATURE_MISTAKES).filter(({ id }) => id !== TOKEN_SIGNATURE_MISTAKES.none.id),
  Object.values(KEY_SET_SHAPES),
  Object.values(KID_MISTAKES),
  Object.values(KEY_MATERIAL_MISTAKES),
  ALL_CLAIM_MISTAKES,
].flat();

const BY_ID = new Map([...ROWS, SIGNATURE_OTHER_HASH].map((row) => [row.id, row]));

/** The row of an id that a diagnosis or a verdict on a listener names. */
export function rowOf(id: string): MistakeRow | undefined {
  return BY_ID.get(id);
}

/**
 * Every mistake that `diagnose` can find in requests of a scheme, for tools that list or explain them. Ids are stable.
 *
 * @param scheme another scheme than the default one
 * @throws {TypeError} for a scheme that it does not know
 *
 * @example
 * ```ts
 * import { mistakes } from "hookproof/diagnose";
 *
 * (await mistakes()).find(({ id }) => id === "signature-hex")?.title; // "Signature in hex"
 * (await mistakes("standard-webhooks")).find(({ id }) => id === "version-missing")?.title; // "Version missing"
 * ```
 */
export async function mistakes(scheme?: OtherScheme): Promise<readonly Mistake[]> {
  return scheme === undefined ? ROWS.map(withoutFunctions) : (await doctorOf(scheme)).MISTAKES;
}
