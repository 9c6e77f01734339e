// Why a listener usually answers with each code, and what to do about it.
import type { VerdictCode } from "../../core/errors.js";
import type { SurfaceText } from "./surface.js";
import {
  CHECK_KEY_SET,
  ITS_REDRIVE,
  ITS_WAIT,
  LATER,
  REDRIVE,
  SIGN_FOR_LISTENER,
  VERIFY,
} from "./texts-by-surface.js";

export const ANSWER_ADVICE = {
  LISTENER_UNKNOWN: [
    "The path names no listener.",
    "Compare the id at the end of the URL, letter by letter.",
  ],
  METHOD_NOT_ALLOWED: [
    "Something other than POST was sent.",
    "Send POST; a redirect may have turned it into GET.",
  ],
  HEADERS_TOO_MANY: [
    "The request has more header lines than the server keeps, so a header that is sent twice could be missed.",
    "Send fewer headers; a server on node:http keeps all of them with server.maxHeadersCount = 0.",
  ],
  SOURCE_NOT_ALLOWED: [
    "The listener has allowed address ranges, and the request came from none of them.",
    "Send from an allowed address, or allow the address that your requests come from (a NAT or a proxy may change it).",
  ],
  BODY_TOO_LARGE: ["The service takes 64 KB at most.", "Send a reference to the data instead of the data."],
  BODY_UNREADABLE: [
    "The connection ended early, or Content-Length was wrong.",
    "Send the body's length in bytes, not in characters.",
  ],
  TIMESTAMP_MISSING: [
    "The header was not sent, or a proxy dropped it.",
    "Send Webhook-Timestamp with every request.",
  ],
  TIMESTAMP_MALFORMED: [
    "The value is in milliseconds, a date, or has a sign in front; it must be Unix seconds.",
    "Use Math.floor(Date.now() / 1000).",
  ],
  TIMESTAMP_OUT_OF_WINDOW: [
    "The clock is off, or a request was kept and sent later.",
    {
      library:
        "Sign again at every attempt; hookproof doctor <url> measures the difference between the clocks.",
      command:
        "Sign again at every attempt; hookproof doctor <url> measures the difference between the clocks.",
      outbox: "Set the worker's clock: an outbox signs again at every attempt.",
      dead: `Set the worker's clock, ${REDRIVE}`,
    },
  ],
  EVENT_ID_MISSING: [
    "The header was not sent, or a proxy dropped it.",
    "Send Webhook-Event-Id with every request.",
  ],
  EVENT_ID_MALFORMED: [
    "The id is not a UUID of version 4, or has something around it.",
    "Use crypto.randomUUID().",
  ],
  CONTENT_TYPE_MISSING: ["The header was not sent.", "Send Content-Type: application/json."],
  CONTENT_TYPE_MALFORMED: [
    "The header is sent twice, is longer than 256 characters, or has a quote that is not closed.",
    "Set it in one place: the client library may add it too.",
  ],
  CONTENT_TYPE_UNSUPPORTED: ["Content-Type is not JSON.", "Send Content-Type: application/json."],
  CONTENT_ENCODING_UNSUPPORTED: [
    "The body was compressed.",
    "Send it as it was signed, without Content-Encoding.",
  ],
  BODY_NOT_JSON: [
    "The body is not one JSON value in UTF-8 without a byte order mark.",
    "Send the output of a JSON serialiser unchanged.",
  ],
  SIGNATURE_MISSING: [
    "The header was not sent, or a token was sent to a listener that checks signatures.",
    "Compare the method on both sides: HMAC or JWT.",
  ],
  SIGNATURE_MALFORMED: [
    "The value is hex, has padding or a prefix such as v1, or sha256=, or is sent twice.",
    "Send what digest('base64url') returns, and nothing around it.",
  ],
  SIGNATURE_MISMATCH: [
    "The signature was made with another secret, over other bytes, or over other parts than those that arrived.",
    VERIFY,
  ],
  TOKEN_MISSING: [
    "The header was not sent, or a signature was sent to a listener that checks tokens.",
    "Compare the method on both sides: HMAC or JWT.",
  ],
  TOKEN_MALFORMED: [
    "Authorization is not one Bearer token in three parts.",
    "Send Authorization: Bearer <token>, once.",
  ],
  TOKEN_HEADER_REFUSED: [
    "The token brings its own key or an extension (jwk, jku, x5u, x5c, crit, b64).",
    "Send alg, kid and typ only.",
  ],
  TOKEN_ALGORITHM_REFUSED: [
    "Only RS256, ES256 and EdDSA are accepted; the alg of an Ed25519 key is EdDSA.",
    "Sign with one of the three.",
  ],
  TOKEN_KEY_ID_INVALID: [
    "The token's header has no kid.",
    "Put the kid of the published key into the header.",
  ],
  TOKEN_SIGNATURE_MISMATCH: [
    "The token was signed with another key than the published one, or the ECDSA signature is in DER.",
    "Publish the signing key under its kid; in a token an ECDSA signature is r and s, 64 bytes.",
  ],
  KEY_NOT_FOUND: [
    "No usable key of the key set has the token's kid and algorithm; or the key store has no such key.",
    {
      library: "Run hookproof jwks check <url> for a key set, hookproof keys list for a key store.",
      command: "Run hookproof jwks check <url> for a key set, hookproof keys list for a key store.",
      outbox: "Publish the signing key under its kid; the outbox goes on trying.",
      dead: `Publish the signing key under its kid, ${REDRIVE}`,
    },
  ],
  KEY_SET_UNAVAILABLE: [
    "The key set's host did not answer in time, or answered with a redirect or an error.",
    CHECK_KEY_SET,
  ],
  KEY_SET_INVALID: ["The key set is not JSON, too large, or holds a private key.", CHECK_KEY_SET],
  CLAIM_SUB_INVALID: ["sub must be the tenant's base URL, without a slash at the end.", SIGN_FOR_LISTENER],
  CLAIM_AUD_INVALID: ["aud must be the listener's whole URL as one text.", SIGN_FOR_LISTENER],
  CLAIM_ISS_INVALID: [
    "The token is by another issuer, or the issuer's URL is written in another way.",
    "Compare iss with the receiver's setting, letter by letter: a trailing slash makes another issuer.",
  ],
  CLAIM_EVENTS_INVALID: [
    "events is missing, a list, empty, or holds a value that is not an object; or a name that is not a URI.",
    'Write {"events": {"https://example.com/event-type": {}}}: the event\'s URI is the name, its details are the value.',
  ],
  CLAIM_EXP_INVALID: [
    "exp is in milliseconds, in the past, or more than 10 minutes ahead.",
    {
      library: "Sign at every attempt; hookproof doctor <url> compares the clocks.",
      command: "Sign at every attempt; hookproof doctor <url> compares the clocks.",
      outbox: "Set the worker's clock: an outbox signs again at every attempt.",
      dead: `Set the worker's clock, ${REDRIVE}`,
    },
  ],
  CLAIM_NBF_INVALID: ["nbf is in the future by the receiver's clock.", "Leave nbf out."],
  CLAIM_JTI_INVALID: ["jti is not the id in Webhook-Event-Id.", "Use one id for both."],
  CLAIM_HTM_INVALID: ["htm must be POST.", SIGN_FOR_LISTENER],
  CLAIM_HTB_S256_INVALID: [
    "htb_s256 is not the SHA-256 of the bytes that arrived, in base64url.",
    "Serialise once, and hash the bytes that are sent.",
  ],
  EVENT_DUPLICATE: [
    "The event id was processed within the last 7 days.",
    "Nothing to do: the event was processed once, as it should be. A new event needs a new id.",
  ],
  TRIGGER_INACTIVE: [
    "The automation is a draft, or its trigger is off.",
    "Publish it and enable its trigger; the event id is not used up.",
  ],
  EVENT_IN_FLIGHT: [
    "Another copy of the event is being processed right now.",
    {
      library: "Send it again after the time in Retry-After; createSender does so by itself.",
      command: "Send it again after the time in Retry-After; hookproof send does so by itself.",
      outbox: ITS_WAIT,
      dead: ITS_REDRIVE,
    },
  ],
  REPLAY_STORE_UNAVAILABLE: ["The store of processed event ids cannot be reached.", LATER],
  RUN_FAILED: ["The function that handles the event threw an error.", LATER],
} as const satisfies Record<VerdictCode, readonly [cause: string, fix: SurfaceText]>;
