import type { ErrorCode } from "hookproof";
import { CLAIM, CONNECT, type Explanation, VERIFY } from "./explanation.js";

/** The codes of the library. */
export const LIBRARY = {
  LISTENER_UNKNOWN: [
    "The path names no listener.",
    "Compare the id at the end of the URL, letter by letter.",
  ],
  METHOD_NOT_ALLOWED: [
    "Something other than POST was sent.",
    "Send POST; a redirect may have turned it into GET.",
  ],
  HEADERS_TOO_MANY: [
    "The request has more header lines than the server keeps, so one that stands twice could be missed.",
    "Send fewer headers, or set the server's maxHeadersCount to 0.",
  ],
  SOURCE_NOT_ALLOWED: [
    "The listener has address ranges, and the request came from none of them.",
    "Send from an allowed address, or add the one your requests leave from (a NAT or proxy may stand between).",
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
    "Milliseconds, a date or a sign in front are not Unix seconds.",
    "Math.floor(Date.now() / 1000)",
  ],
  TIMESTAMP_OUT_OF_WINDOW: [
    "The clock is off, or a request was kept and sent later.",
    "Sign every attempt anew; hookproof doctor <url> measures the difference between the clocks.",
  ],
  EVENT_ID_MISSING: [
    "The header was not sent, or a proxy dropped it.",
    "Send Webhook-Event-Id with every request.",
  ],
  EVENT_ID_MALFORMED: [
    "The id is not a UUID of version 4, or has something around it.",
    "crypto.randomUUID()",
  ],
  CONTENT_TYPE_MISSING: ["The header was not sent.", "Send Content-Type: application/json."],
  CONTENT_TYPE_MALFORMED: [
    "The header stands twice, is longer than 256 characters, or has a quote that is not closed.",
    "Set it in one place: the client library may add its own.",
  ],
  CONTENT_TYPE_UNSUPPORTED: ["Another type than JSON was declared.", "Send Content-Type: application/json."],
  CONTENT_ENCODING_UNSUPPORTED: [
    "The body was compressed.",
    "Send it as it was signed, without Content-Encoding.",
  ],
  BODY_NOT_JSON: [
    "The body is not one JSON value in UTF-8 without a byte order mark.",
    "Send the output of a JSON serialiser as it is.",
  ],
  SIGNATURE_MISSING: [
    "The header was not sent, or the listener checks signatures and got a token.",
    "Compare the method on both sides: HMAC or JWT.",
  ],
  SIGNATURE_MALFORMED: [
    "Hex, padding, a prefix such as v1, or sha256=, or a value sent twice.",
    "digest('base64url'), and nothing around it.",
  ],
  SIGNATURE_MISMATCH: [
    "Another secret, other bytes, or other parts were signed than those that arrived.",
    VERIFY,
  ],
  TOKEN_MISSING: [
    "The header was not sent, or the listener checks tokens and got a signature.",
    "Compare the method on both sides: HMAC or JWT.",
  ],
  TOKEN_MALFORMED: [
    "Authorization is not one Bearer token in three parts.",
    "Authorization: Bearer <token>, once.",
  ],
  TOKEN_HEADER_REFUSED: [
    "The token brings its own key or an extension (jwk, jku, x5u, x5c, crit, b64).",
    "Send alg, kid and typ only.",
  ],
  TOKEN_ALGORITHM_REFUSED: [
    "Only RS256, ES256 and EdDSA are taken; an Ed25519 key is announced as EdDSA.",
    "Sign with one of the three.",
  ],
  TOKEN_KEY_ID_INVALID: [
    "The token's header has no kid.",
    "Put the kid of the published key into the header.",
  ],
  TOKEN_SIGNATURE_MISMATCH: [
    "Another key than the published one signed, or ECDSA was encoded as DER.",
    "Publish the key that signs under its kid; ECDSA in JOSE is r and s, 64 bytes.",
  ],
  KEY_NOT_FOUND: [
    "No usable key has the token's kid and algorithm; or the store has no such key.",
    "hookproof jwks check <url> looks at a key set, hookproof keys list at the store.",
  ],
  KEY_SET_UNAVAILABLE: [
    "The key set's host did not answer in time, or answered with a redirect or an error.",
    "hookproof jwks check <url>",
  ],
  KEY_SET_INVALID: [
    "The key set is not JSON, too large, or holds a private key.",
    "hookproof jwks check <url>",
  ],
  CLAIM_SUB_INVALID: ["sub must be the tenant's base URL, without a slash at the end.", CLAIM],
  CLAIM_AUD_INVALID: ["aud must be the listener's whole URL as one text.", CLAIM],
  CLAIM_EXP_INVALID: [
    "exp is in milliseconds, past, or more than 10 minutes ahead.",
    "Sign anew at every attempt; hookproof doctor <url> compares the clocks.",
  ],
  CLAIM_NBF_INVALID: ["nbf lies in the future of the receiver's clock.", "Leave nbf out."],
  CLAIM_JTI_INVALID: ["jti is not the id in Webhook-Event-Id.", "Use one id for both."],
  CLAIM_HTM_INVALID: ["htm must be POST.", CLAIM],
  CLAIM_HTB_S256_INVALID: [
    "htb_s256 is not the SHA-256 of the bytes that arrived, in base64url.",
    "Hash the bytes that are sent, after serialising once.",
  ],
  EVENT_DUPLICATE: [
    "The event id was processed within the last 7 days.",
    "Nothing to do: this is idempotency protection. A new event needs a new id.",
  ],
  TRIGGER_INACTIVE: [
    "The automation is a draft, or its trigger is off.",
    "Publish it and enable its trigger; the event id is not used up.",
  ],
  EVENT_IN_FLIGHT: [
    "Another copy of the event is being processed at this moment.",
    "Send it again after the time in Retry-After.",
  ],
  REPLAY_STORE_UNAVAILABLE: [
    "The receiver cannot look up event ids.",
    "Send it again later with the same id.",
  ],
  RESERVATION_LOST: [
    "The run took longer than its reservation, and another request has taken the event id since.",
    "Raise reservationMs above the longest run; roll this run's transaction back.",
  ],
  RUN_FAILED: ["The receiver could not accept the event durably.", "Send it again later with the same id."],

  PAYLOAD_NOT_JSON: ["The data is not JSON; a text needs its quotes.", "--data '\"text\"', or --data @file."],
  PAYLOAD_NOT_UTF8: ["The bytes are in another encoding, such as Latin-1 or UTF-16.", "iconv -t UTF-8"],
  PAYLOAD_TOO_LARGE: [
    "The service takes 64 KB at most.",
    "Send a reference to the data instead of the data.",
  ],
  EVENT_ID_INVALID: ["The id is not a UUID of version 4.", "Leave --event-id out, and one is made."],
  EVENT_ID_REUSED: [
    "The same id was used with other bytes.",
    "A new event needs a new id; a repeated one needs the same bytes.",
  ],
  TIMESTAMP_INVALID: [
    "A timestamp is a whole number of seconds since 1970.",
    "Math.floor(Date.now() / 1000)",
  ],
  SECRET_INVALID: [
    "The secret is empty, or not text that UTF-8 can carry.",
    "Store it again with hookproof secret set.",
  ],
  KEY_UNFIT: [
    "The key does not fit its algorithm, is too short or of low order, or has a key id that cannot be kept.",
    "hookproof keys generate makes a fit one; --kid gives another id.",
  ],
  SIGNER_FAILED: [
    "The external signer threw an error or gave something that is no signature.",
    "Look at the cause; a KMS may have refused.",
  ],
  LISTENER_URL_INVALID: [
    "A listener's URL ends in /api/v1/webhooks/incoming/{listener_id}, without query or user.",
    "Copy the whole URL from the listener's settings.",
  ],
  BASE_URL_MISMATCH: [
    "The base URL is not where the listener's URL begins.",
    "Leave --base-url out unless the tenant is served below a path.",
  ],
  TLS_REQUIRED: [
    "Plain HTTP would show the event to everybody on the way.",
    "Use https://; http:// is for loopback.",
  ],
  HEADER_INVALID: [
    "A header value has control characters or a line break.",
    "Take them out; a file read with its final newline is the usual source.",
  ],
  CIDR_INVALID: [
    "An address range is such as 10.0.0.0/8, with no bits set past its prefix.",
    "Write the network's first address.",
  ],
  KEY_SET_URL_REFUSED: [
    "A key set comes over HTTPS, from a public address.",
    "For development: hookproof listen --allow-insecure-jwks.",
  ],
  KEY_STORE_INVALID: [
    "A file of the key store is not what was written.",
    "Bring it back from a backup; nothing was changed.",
  ],
  KEY_STORE_UNREADABLE: [
    "The files of the key store cannot be read or written.",
    "Look at their owner and at the disk; hookproof doctor checks modes.",
  ],
  KEY_STORE_NEWER: [
    "A newer version of hookproof wrote the key store.",
    "Use that version, or another --store.",
  ],
  KEY_STORE_EXPOSED: [
    "Others on this machine can read the private keys, or own the folder and can replace them.",
    "chmod 600 on the files, 700 on the folder, and both your own; and think of a rotation.",
  ],
  KEY_STORE_BUSY: ["Another process works on the key store.", "Wait for it to end."],
  KEY_STORE_PASSPHRASE: [
    "The key store is encrypted, and the passphrase is missing or wrong.",
    "Give --passphrase-file.",
  ],
  KEY_ID_REUSED: [
    "A kid names one key for ever; receivers keep key sets.",
    "Choose another kid, or leave it out.",
  ],
  KEY_IN_USE: [
    "The key signs, or its tokens may still be under way.",
    "Rotate first; then wait until it may go.",
  ],

  OUTBOX_LISTENER_UNKNOWN: [
    "An event names a listener that createOutbox was not given.",
    "Add the listener to createOutbox({ listeners }), or correct the name.",
  ],
  OUTBOX_UNAVAILABLE: [
    "The database is down, locked, full or not writable; nothing was stored.",
    "Let the caller's transaction fail and try again; workers go on by themselves once the database is back.",
  ],
  OUTBOX_OUTCOME_UNKNOWN: [
    "The answer of the database was late, or the connection was cut before it: the event may be stored or not.",
    "Enqueue it again under the error's eventId: what is stored already is left as it is. Inside a transaction, roll back and repeat all of it under that id.",
  ],
  OUTBOX_NEWER: [
    "A newer Hookproof has migrated the outbox's tables.",
    "Update this program; an older one must not write to them.",
  ],
  OUTBOX_KEY_MISSING: [
    "The event's body was encrypted with a key that this worker was not given.",
    "Give the worker every key that stored events were encrypted with; the event is tried again by itself.",
  ],
  OUTBOX_BODY_UNREADABLE: [
    "The stored body was changed, its key is another one than the id says, or it is not encrypted although the outbox has encryption; such an event is never sent.",
    "Look at who writes to the database. With the right key in place, redrive it; allowUnencrypted sends bodies from before encryption.",
  ],
  LEASE_LOST: [
    "A worker was killed or stopped too often while it had the event.",
    "Look at the attempts; redrive it under the same id, which is safe inside the window.",
  ],
  ADDRESS_REFUSED: [
    "The name leads to a private or reserved address.",
    "Only development needs such addresses, and says so.",
  ],
  CONNECTION_FAILED: ["The name was not found, or nobody listens at that port.", CONNECT],
  CONNECTION_LOST: [
    "The connection broke before the answer was complete; the event may have arrived.",
    "Send it again with the same id: 409 then means that it had.",
  ],
  TLS_FAILED: [
    "The certificate is not trusted, has expired, or is for another name.",
    "Name the CA with --ca or NODE_EXTRA_CA_CERTS; hookproof doctor <url> shows the certificate.",
  ],
  PROXY_FAILED: [
    "A proxy answered instead of opening a connection, or could not be used: a password that expired, a login page, a host it does not let through. The receiver never saw the event.",
    "Look at HTTPS_PROXY and NO_PROXY, or at the agent's own proxy; the status in the message is the proxy's. Retries go on by themselves.",
  ],
  RESPONSE_INVALID: [
    "What answers there does not speak HTTP as it should; the event may have arrived.",
    "Try hookproof doctor <url>. Then send it again with the same id: 409 means that it had arrived.",
  ],
  TIMED_OUT: [
    "There was no answer within --timeout; unless there was no connection either, the event may have arrived.",
    "Send it again with the same id: 409 then means that it had.",
  ],
  ABORTED: [
    "Somebody stopped it; what was under way may have arrived.",
    "Send it again with the same id: 409 then means that it had.",
  ],

  REQUEST_REFUSED: [
    "The receiver answered with a 4xx that another attempt would not change.",
    "The receiver's own code, in the output, says which check failed.",
  ],
  AUTHENTICATION_REFUSED: ["The receiver answered 401: secret, key or signature do not fit.", VERIFY],
  SOURCE_REFUSED: [
    "The receiver answered 403: it does not take requests from this address.",
    "Send from an allowed address.",
  ],
  LISTENER_NOT_FOUND: [
    "The receiver answered 404.",
    "Compare the listener's URL; look whether its automation is published.",
  ],
  REDIRECT_REFUSED: [
    "The receiver answered with a redirect. A signature belongs to one URL, so none is followed.",
    "Use the final URL; http:// and a missing www are the usual reasons.",
  ],
  RECEIVER_UNAVAILABLE: [
    "The receiver answered 5xx, 408, 425 or 429 at every attempt; after a 5xx the event may have arrived.",
    "Try later with the same id, for instance with hookproof replay.",
  ],
  WINDOW_CLOSED: [
    "Event ids are remembered for 7 days; a later attempt could run the event twice.",
    "Look whether the event arrived, and send a new one if not.",
  ],
} as const satisfies Record<ErrorCode, Explanation>;
