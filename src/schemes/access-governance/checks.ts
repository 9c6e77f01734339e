// The checks of the default scheme.
import { type CodesOf, type SchemeCheck, type SchemeChecks, schemeChecks } from "../../core/check.js";
import { MAX_TOKEN_LIFETIME_SECONDS, TIMESTAMP_TOLERANCE_SECONDS } from "../../core/protocol.js";

/** A check of a listener: who makes it, and where it comes from (`CheckRule` of the receiver). */
interface ListenerCheck extends SchemeCheck {
  readonly scheme?: "hmac" | "jwt";
  readonly sections: readonly string[];
}

/**
 * What a listener demands, in its order; the receiver's own checks come after the first and after the last
 * (docs/decisions.md, R1).
 */
export const LISTENER_CHECKS = [
  {
    step: "listener",
    rule: "the path names a listener that exists",
    codes: ["LISTENER_UNKNOWN"],
    sections: ["4.10"],
  },
  {
    step: "timestamp",
    rule: "Webhook-Timestamp is one Unix time in whole seconds",
    codes: ["TIMESTAMP_MISSING", "TIMESTAMP_MALFORMED"],
    sections: ["5.2", "R5"],
  },
  {
    step: "event-id",
    rule: "Webhook-Event-Id is one UUID of version 4",
    codes: ["EVENT_ID_MISSING", "EVENT_ID_MALFORMED"],
    sections: ["5.2", "R6"],
  },
  {
    step: "content-type",
    rule: "Content-Type is one media type",
    codes: ["CONTENT_TYPE_MISSING", "CONTENT_TYPE_MALFORMED"],
    sections: ["5.2", "R7"],
  },
  {
    step: "window",
    rule: `the timestamp is at most ${TIMESTAMP_TOLERANCE_SECONDS} s from the server's time`,
    codes: ["TIMESTAMP_OUT_OF_WINDOW", "RUN_FAILED"],
    sections: ["5.2", "8"],
  },
  {
    step: "signature",
    scheme: "hmac",
    rule: "Webhook-Signature is one HMAC-SHA256 over {timestamp}.{event_id}.{body}, 43 characters of base64url",
    codes: ["SIGNATURE_MISSING", "SIGNATURE_MALFORMED", "SIGNATURE_MISMATCH"],
    sections: ["5.2", "R8"],
  },
  {
    step: "token",
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
  {
    step: "key",
    scheme: "jwt",
    rule: "the key set has one usable key for the token's kid and alg",
    codes: ["KEY_NOT_FOUND", "KEY_SET_UNAVAILABLE", "KEY_SET_INVALID"],
    sections: ["5.2", "T3"],
  },
  {
    step: "token-signature",
    scheme: "jwt",
    rule: "the token's signature is by that key",
    codes: ["TOKEN_SIGNATURE_MISMATCH"],
    sections: ["5.2"],
  },
  {
    step: "claims",
    scheme: "jwt",
    rule: "the claims are one JSON object, each name once",
    codes: ["TOKEN_MALFORMED"],
    sections: ["5.2", "T1"],
  },
  {
    step: "exp",
    scheme: "jwt",
    rule: `exp is a whole number, after now and at most ${MAX_TOKEN_LIFETIME_SECONDS} s ahead`,
    codes: ["CLAIM_EXP_INVALID"],
    sections: ["5.2", "T4"],
  },
  {
    step: "nbf",
    scheme: "jwt",
    rule: "nbf, if present, is a number that is not in the future",
    codes: ["CLAIM_NBF_INVALID"],
    sections: ["T4"],
  },
  {
    step: "sub",
    scheme: "jwt",
    rule: "sub is the tenant's base URL",
    codes: ["CLAIM_SUB_INVALID"],
    sections: ["5.2"],
  },
  {
    step: "aud",
    scheme: "jwt",
    rule: "aud is the listener's URL, as one string",
    codes: ["CLAIM_AUD_INVALID"],
    sections: ["5.2", "T4"],
  },
  {
    step: "jti",
    scheme: "jwt",
    rule: "jti is the event id",
    codes: ["CLAIM_JTI_INVALID"],
    sections: ["5.2"],
  },
  {
    step: "htm",
    scheme: "jwt",
    rule: "htm is the method, in capitals",
    codes: ["CLAIM_HTM_INVALID"],
    sections: ["5.2"],
  },
  {
    step: "htb_s256",
    scheme: "jwt",
    rule: "htb_s256 is the SHA-256 of the body, base64url without padding",
    codes: ["CLAIM_HTB_S256_INVALID"],
    sections: ["5.2"],
  },
  {
    step: "media-type",
    rule: "Content-Type is application/json, and the body is not encoded",
    codes: ["CONTENT_TYPE_UNSUPPORTED", "CONTENT_ENCODING_UNSUPPORTED"],
    sections: ["5.2", "R7"],
  },
  {
    step: "body",
    rule: "the body is one JSON value in UTF-8, without a byte order mark",
    codes: ["BODY_NOT_JSON"],
    sections: ["4.10", "R9"],
  },
] as const satisfies readonly ListenerCheck[];

type Row = (typeof LISTENER_CHECKS)[number];

/** The codes of each of them. */
export type ListenerCodes = CodesOf<Row>;

/** Makes them. It is not taken apart here, so that a sender's bundle has none of it. */
export const listenerChecks: SchemeChecks<Row> = /* @__PURE__ */ schemeChecks(LISTENER_CHECKS);
