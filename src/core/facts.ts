// Says what was wrong with a request, for each code of a refusal and in every scheme.
import type { VerdictCode } from "./errors.js";

/** The sentence of each code; where it ends in a colon, the rule of the check that failed follows. */
const FACTS: Readonly<Record<VerdictCode, string>> = {
  LISTENER_UNKNOWN: "The path named no listener.",
  METHOD_NOT_ALLOWED: "The method was not POST.",
  HEADERS_TOO_MANY: "The request had more header lines than the server kept.",
  SOURCE_NOT_ALLOWED: "The request came from an address outside of the allowed ranges.",
  BODY_TOO_LARGE: "The body had more than 65,536 bytes.",
  BODY_UNREADABLE: "The body ended before it was complete.",
  TIMESTAMP_MISSING: "The request had no timestamp.",
  TIMESTAMP_MALFORMED: "The timestamp had another form than demanded:",
  TIMESTAMP_OUT_OF_WINDOW: "The timestamp was too far from the server's time.",
  EVENT_ID_MISSING: "The request had no event id.",
  EVENT_ID_MALFORMED: "The event id had another form than demanded:",
  CONTENT_TYPE_MISSING: "The request had no Content-Type.",
  CONTENT_TYPE_MALFORMED: "Content-Type had another form than demanded:",
  CONTENT_TYPE_UNSUPPORTED: "Content-Type named another type than demanded:",
  CONTENT_ENCODING_UNSUPPORTED: "The body was encoded.",
  BODY_NOT_JSON: "The body was not one JSON value in UTF-8.",
  SIGNATURE_MISSING: "The request had no signature.",
  SIGNATURE_MALFORMED: "The signature had another form than demanded:",
  SIGNATURE_MISMATCH: "The signature was by another secret or key, or of another request.",
  TOKEN_MISSING: "The request had no token.",
  TOKEN_MALFORMED: "The token had another form than demanded:",
  TOKEN_HEADER_REFUSED: "The token's header had a member that is refused.",
  TOKEN_ALGORITHM_REFUSED: "The token's alg was none of RS256, ES256 and EdDSA.",
  TOKEN_KEY_ID_INVALID: "The token's header had no usable kid.",
  TOKEN_SIGNATURE_MISMATCH: "The token was signed by another key, or its content was changed.",
  KEY_NOT_FOUND: "No usable key had the name and the algorithm that were given.",
  KEY_SET_UNAVAILABLE: "The key set could not be fetched.",
  KEY_SET_INVALID: "The key set could not be used.",
  CLAIM_SUB_INVALID: "The claim sub was not as demanded:",
  CLAIM_AUD_INVALID: "The claim aud was not as demanded:",
  CLAIM_ISS_INVALID: "The claim iss was not as demanded:",
  CLAIM_EXP_INVALID: "The claim exp was not as demanded:",
  CLAIM_NBF_INVALID: "The claim nbf was not as demanded:",
  CLAIM_JTI_INVALID: "The claim jti was not as demanded:",
  CLAIM_HTM_INVALID: "The claim htm was not as demanded:",
  CLAIM_HTB_S256_INVALID: "The claim htb_s256 was of another body, or written in another way:",
  CLAIM_EVENTS_INVALID: "The claim events had another form than demanded:",
  EVENT_DUPLICATE: "The event id was processed before.",
  TRIGGER_INACTIVE: "The automation was not published, or its trigger was not enabled.",
  EVENT_IN_FLIGHT: "Another copy of the event was still being processed.",
  REPLAY_STORE_UNAVAILABLE: "The store of processed event ids could not be reached.",
  RUN_FAILED: "The event could not be accepted.",
};

/** What was wrong, in one sentence that may be shown to anybody. */
export function factOf(code: VerdictCode, rule: string): string {
  const fact = FACTS[code];
  return fact.endsWith(":") ? `${fact} ${rule}.` : fact;
}
