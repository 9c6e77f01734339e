import type { VerdictCode } from "../../core/errors.js";

/**
 * The probe that shows how a listener answers where ours has this verdict; `ACCEPTED` is that of a request that passes.
 * A test sends each of them to our own listener and compares.
 */
export const SHOWN_BY: Readonly<Partial<Record<VerdictCode | "ACCEPTED", string>>> = {
  ACCEPTED: "correct-request",
  BODY_NOT_JSON: "body-not-json",
  BODY_TOO_LARGE: "body-too-large",
  CLAIM_AUD_INVALID: "aud-missing",
  CLAIM_EXP_INVALID: "exp-missing",
  CLAIM_HTB_S256_INVALID: "body-changed",
  CLAIM_HTM_INVALID: "htm-missing",
  CLAIM_JTI_INVALID: "event-id-changed",
  CLAIM_NBF_INVALID: "nbf-in-an-hour",
  CLAIM_SUB_INVALID: "sub-missing",
  CONTENT_ENCODING_UNSUPPORTED: "content-encoding-gzip",
  CONTENT_TYPE_MISSING: "content-type-missing",
  CONTENT_TYPE_UNSUPPORTED: "content-type-text",
  EVENT_DUPLICATE: "event-id-processed",
  EVENT_ID_MALFORMED: "event-id-not-a-uuid",
  EVENT_ID_MISSING: "event-id-missing",
  KEY_NOT_FOUND: "kid-unknown",
  METHOD_NOT_ALLOWED: "method-get",
  SIGNATURE_MALFORMED: "signature-hex",
  SIGNATURE_MISMATCH: "signature-of-other-secret",
  SIGNATURE_MISSING: "proof-missing",
  TIMESTAMP_MALFORMED: "timestamp-iso-date",
  TIMESTAMP_MISSING: "timestamp-missing",
  TIMESTAMP_OUT_OF_WINDOW: "timestamp-too-old",
  TOKEN_ALGORITHM_REFUSED: "alg-none",
  TOKEN_HEADER_REFUSED: "header-jwk",
  TOKEN_KEY_ID_INVALID: "kid-missing",
  TOKEN_MALFORMED: "authorization-empty",
  TOKEN_MISSING: "proof-missing",
  TOKEN_SIGNATURE_MISMATCH: "token-of-other-key",
};
