// What an answer means to a transmitter of security event tokens.
import type { VerdictCode } from "../../core/errors.js";
import { isObject, parseJson } from "../../core/json.js";
import {
  type Answer,
  type Classification,
  classifyAnswer,
  classifyRefusal,
  waitOf,
} from "../classification.js";
import type { SchemeAnswers } from "../scheme.js";

/** What a recipient's `err` says to the transmitter: a setting to correct, or a token that will never be accepted. */
interface ErrorMeaning {
  readonly outcome: "setup" | "final";
  readonly code: "AUTHENTICATION_REFUSED" | "REQUEST_REFUSED";
  readonly hint: string;
}

/** The error codes of RFC 8935 section 2.4, and `invalid_state` of the Shared Signals Framework. */
const ERRORS: Readonly<Record<string, ErrorMeaning>> = {
  invalid_request: {
    outcome: "final",
    code: "REQUEST_REFUSED",
    hint: "a token that the receiver cannot read, or an event that it does not know in this form",
  },
  invalid_key: {
    outcome: "setup",
    code: "AUTHENTICATION_REFUSED",
    hint: "a key that is not in the key set that the receiver fetches, or that it no longer takes",
  },
  invalid_issuer: {
    outcome: "setup",
    code: "REQUEST_REFUSED",
    hint: "an iss that is not written as the receiver expects it: a trailing slash makes another issuer",
  },
  invalid_audience: {
    outcome: "setup",
    code: "REQUEST_REFUSED",
    hint: "an aud that is not the receiver's own, letter by letter",
  },
  authentication_failed: {
    outcome: "setup",
    code: "AUTHENTICATION_REFUSED",
    hint: "credentials that the receiver wants next to the token: an Authorization header, or a client certificate",
  },
  access_denied: {
    outcome: "setup",
    code: "AUTHENTICATION_REFUSED",
    hint: "a transmitter that the receiver has not allowed to send it these events",
  },
  invalid_state: {
    outcome: "final",
    code: "REQUEST_REFUSED",
    hint: "a verification event whose state is not the one that the receiver gave",
  },
};

/**
 * What an answer means to the transmitter (RFC 8935 sections 2.2 to 2.4). Only what is temporary is sent again by itself;
 * what a person can correct waits, and buries no event.
 */
export function classify(answer: Answer, attempt: number, now: number): Classification {
  const { status } = answer;
  if (status >= 200 && status < 300 && status !== 202)
    return { outcome: "accepted", earlier: false, warning: notAccepted(status) };
  if (status !== 400) return classifyAnswer(answer, attempt, now);
  const err = errorIn(answer.body);
  const meaning = err === undefined ? undefined : ERRORS[err];
  if (err === undefined || meaning === undefined) return classifyRefusal(answer, [NO_ERROR], now);
  const { outcome, code, hint } = meaning;
  return { outcome, code, hints: [`${err}: ${hint}`], ...waitOf(answer.headers, now) };
}

const NO_ERROR =
  "an answer without an error code of RFC 8935: the URL may not be that of a receiver of security events";

function notAccepted(status: number): string {
  return `The receiver answered ${status}; a receiver of security events answers 202. Is this the receiver itself?`;
}

function errorIn(body: Uint8Array | undefined): string | undefined {
  const parsed = body && parseJson(body);
  const err = parsed?.ok && isObject(parsed.value) ? parsed.value.err : undefined;
  return typeof err === "string" && Object.hasOwn(ERRORS, err) ? err : undefined;
}

/** The `err` for a refusal. Others are no matter of the token: they have their status, and no body. */
const ERR_OF: Readonly<Partial<Record<VerdictCode, string>>> = {
  CONTENT_TYPE_MISSING: "invalid_request",
  CONTENT_TYPE_MALFORMED: "invalid_request",
  CONTENT_TYPE_UNSUPPORTED: "invalid_request",
  CONTENT_ENCODING_UNSUPPORTED: "invalid_request",
  BODY_UNREADABLE: "invalid_request",
  TOKEN_MISSING: "invalid_request",
  TOKEN_MALFORMED: "invalid_request",
  TOKEN_HEADER_REFUSED: "invalid_request",
  TOKEN_ALGORITHM_REFUSED: "invalid_request",
  TOKEN_KEY_ID_INVALID: "invalid_request",
  KEY_NOT_FOUND: "invalid_key",
  KEY_SET_INVALID: "invalid_key",
  TOKEN_SIGNATURE_MISMATCH: "invalid_key",
  CLAIM_ISS_INVALID: "invalid_issuer",
  CLAIM_AUD_INVALID: "invalid_audience",
  CLAIM_JTI_INVALID: "invalid_request",
  CLAIM_EXP_INVALID: "invalid_request",
  CLAIM_NBF_INVALID: "invalid_request",
  CLAIM_EVENTS_INVALID: "invalid_request",
  TIMESTAMP_MISSING: "invalid_request",
  TIMESTAMP_MALFORMED: "invalid_request",
  TIMESTAMP_OUT_OF_WINDOW: "invalid_request",
  EVENT_ID_MALFORMED: "invalid_request",
};

/**
 * The answers of a recipient: 202 and nothing, also to a copy (RFC 8935 section 2), and 400 with `err` and `description`.
 * Where the key set cannot be fetched the token is not at fault, so that it may come again: 503.
 */
export const answers: SchemeAnswers = {
  accepted: 202,
  statuses: {
    ...Object.fromEntries(Object.keys(ERR_OF).map((code) => [code, 400])),
    KEY_SET_UNAVAILABLE: 503,
    EVENT_DUPLICATE: 202,
  },
  headers: [["Content-Language", "en"]],
  body(refusal) {
    const err = refusal && ERR_OF[refusal.code];
    return err === undefined ? "" : JSON.stringify({ err, description: refusal?.fact });
  },
};
