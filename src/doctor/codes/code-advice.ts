// Why each error code usually happens, and what to do about it.
import type { ErrorCode } from "../../core/errors.js";

const CHECK_CONNECTION = "Run hookproof doctor <url>: it checks name, connection, certificate and clock.";
const VERIFY = "Capture the request and run hookproof verify, or call diagnose: both name the mistake.";
const SIGN_FOR_LISTENER =
  "Sign at every attempt, for the listener's exact URL; hookproof verify --jwks shows both values.";

/** Why each error code usually happens, and what to do about it. */
export const CODE_ADVICE = {
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
    "Send fewer headers, or set the server's maxHeadersCount to 0.",
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
    "Sign again at every attempt; hookproof doctor <url> measures the difference between the clocks.",
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
    "Run hookproof jwks check <url> for a key set, hookproof keys list for a key store.",
  ],
  KEY_SET_UNAVAILABLE: [
    "The key set's host did not answer in time, or answered with a redirect or an error.",
    "Run hookproof jwks check <url>.",
  ],
  KEY_SET_INVALID: [
    "The key set is not JSON, too large, or holds a private key.",
    "Run hookproof jwks check <url>.",
  ],
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
    "Sign at every attempt; hookproof doctor <url> compares the clocks.",
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
    "Send it again after the time in Retry-After; the sender does so by itself.",
  ],
  REPLAY_STORE_UNAVAILABLE: [
    "The store of processed event ids cannot be reached.",
    "Send it again later with the same id.",
  ],
  RESERVATION_LOST: [
    "The run took longer than its reservation, and another request has taken the event id since.",
    "Set reservationMs longer than the longest run, and roll back the transaction of this run.",
  ],
  RUN_FAILED: [
    "The function that handles the event threw an error.",
    "Send it again later with the same id.",
  ],

  PAYLOAD_NOT_JSON: [
    "The payload is not JSON: a text without its quotes, or a value of which JSON would lose something, such as a Promise without await or a Map.",
    "Do what the message says at the place that it names; on the command line --data '\"text\"' or --data @file.",
  ],
  PAYLOAD_NOT_UTF8: [
    "The bytes are in another encoding, such as Latin-1 or UTF-16.",
    "Encode them as UTF-8, for instance with iconv -t UTF-8.",
  ],
  PAYLOAD_TOO_LARGE: [
    "The service takes 64 KB at most.",
    "Send a reference to the data instead of the data.",
  ],
  EVENT_INVALID: [
    "The payload's type is not in the catalogue `events`, or the payload does not fit the type's schema.",
    "Mend the payload at the path that the message names; a new type of event needs a schema in the catalogue.",
  ],
  EVENT_ID_INVALID: [
    "The id is not a UUID of version 4.",
    "Leave out eventId (--event-id), and one is generated; an id of your own belongs in the payload.",
  ],
  EVENT_ID_REUSED: [
    "The same id was used with other bytes.",
    "A new event needs a new id; a repeated one needs the same bytes.",
  ],
  TIMESTAMP_INVALID: [
    "A timestamp is a whole number of seconds since 1970.",
    "Use Math.floor(Date.now() / 1000).",
  ],
  SECRET_INVALID: [
    "The secret is empty, or not text that UTF-8 can carry.",
    "Copy the secret again; the command line stores it with hookproof secret set.",
  ],
  KEY_UNFIT: [
    "The key does not fit its algorithm, is too short or of low order, or has a key id that is not allowed.",
    "Generate one with generateKey({ alg }) or hookproof keys generate, or choose another kid.",
  ],
  SIGNER_FAILED: [
    "The external signer threw an error, or returned something that is no signature.",
    "Look at the error's cause; a key service (KMS) may have refused.",
  ],
  LISTENER_URL_INVALID: [
    "A listener's URL ends in /api/v1/webhooks/incoming/{listener_id}, without query or user.",
    "Copy the whole URL from the listener's settings.",
  ],
  BASE_URL_MISMATCH: [
    "The listener's URL does not begin with the base URL.",
    "Leave out baseUrl (--base-url) unless the tenant is served below a path.",
  ],
  TLS_REQUIRED: [
    "With plain HTTP everybody on the way can read the event.",
    "Use https://; http:// is allowed on loopback only.",
  ],
  HEADER_INVALID: [
    "A header value has control characters or a line break.",
    "Remove them; most often a value was read from a file with its final line break.",
  ],
  CIDR_INVALID: [
    "An address range looks like 10.0.0.0/8, without any bit set after its prefix.",
    "Use the first address of the network.",
  ],
  KEY_SET_URL_REFUSED: [
    "A key set must be served over HTTPS, from a public address.",
    "For development use allowInsecureLoopback and allowPrivateNetwork; the command is hookproof listen --allow-insecure-jwks.",
  ],
  KEY_STORE_INVALID: [
    "A file of the key store was changed or is damaged.",
    "Restore it from a backup; nothing was written to it.",
  ],
  KEY_STORE_UNREADABLE: [
    "The files of the key store cannot be read or written.",
    "Check their owner and the disk; hookproof doctor checks the modes.",
  ],
  KEY_STORE_NEWER: [
    "A newer version of hookproof wrote the key store.",
    "Use that version, or another store.",
  ],
  KEY_STORE_EXPOSED: [
    "Others on this machine can read the private keys, or own the folder and can replace them.",
    "Make files and folder your own, with modes 600 and 700, and consider to rotate the keys.",
  ],
  KEY_STORE_BUSY: ["Another process holds the lock of the key store.", "Wait until it has finished."],
  KEY_STORE_PASSPHRASE: [
    "The key store is encrypted, and the passphrase is missing or wrong.",
    "Give the right passphrase (--passphrase-file on the command line).",
  ],
  KEY_STORE_PUBLISHED: [
    "A store's key set is proved at one URL, and hookproof jwks publish names another one.",
    "Give the URL that the message names, or let go of it first: hookproof jwks publish --release.",
  ],
  KEY_SET_UPLOAD_FAILED: [
    "The folder, the command or the bucket that the key set goes to refused it. The old key signs on, and nothing retires.",
    "Mend what the message names and run hookproof jwks publish again: it goes on where it stopped.",
  ],
  KEY_SET_NOT_PUBLISHED: [
    "The URL shows another key set than the one that was uploaded: a cache still has the old one, or the file is another one. The old key signs on.",
    "Wait for as long as the cache keeps it, or purge the cache; then run hookproof jwks publish again.",
  ],
  BEHAVIOUR_INVALID: [
    "The file is no behaviour profile, was changed by hand, or is of a newer version.",
    "Record it anew: hookproof test <target> --record <file>.",
  ],
  KEY_ID_REUSED: [
    "A kid names one key for ever, because receivers keep copies of key sets.",
    "Choose another kid, or leave it out, and one is made.",
  ],
  KEY_IN_USE: [
    "The key is the signing key, or tokens that it signed may still be on their way.",
    "Rotate first, then wait until the key is retired.",
  ],

  LISTENER_NAME_UNKNOWN: [
    "An event names a listener that is not in the map of listeners, or that the function of listeners does not give.",
    "Add the listener to createOutbox({ listeners }) or to what the function reads, or correct the name.",
  ],
  OUTBOX_UNAVAILABLE: [
    "The database is down, locked, full or not writable; nothing was stored.",
    "Let the caller's transaction fail, and try again; workers continue by themselves when the database is back.",
  ],
  OUTBOX_OUTCOME_UNKNOWN: [
    "The database answered too late, or the connection was lost before the answer: the event may be stored or not.",
    "Enqueue it again with the error's eventId: a stored event stays as it is. Inside a transaction, roll back and repeat everything with that id.",
  ],
  OUTBOX_NEWER: [
    "A newer version of Hookproof has migrated the outbox's tables.",
    "Update this program; an older version must not write to them.",
  ],
  OUTBOX_ENCODING: [
    "The database was made with another encoding, which cannot hold every answer, key and name: one of them would stop the deliveries of all.",
    "Make the outbox's database with CREATE DATABASE app ENCODING 'UTF8' TEMPLATE template0; SHOW server_encoding shows what it has.",
  ],
  OUTBOX_KEY_MISSING: [
    "The event's body was encrypted with a key that this worker does not have.",
    "Give the worker every key that stored events were encrypted with; it then tries the event again by itself.",
  ],
  OUTBOX_BODY_UNREADABLE: [
    "The stored body was changed, the key under its id is another one, or the body is not encrypted although the outbox has encryption. Such an event is never sent.",
    "Find out who writes to the database. With the right key, redrive the event; allowUnencrypted sends bodies that were stored before encryption.",
  ],
  LEASE_LOST: [
    "Workers were killed or stopped too often while they had the event.",
    "Look at its attempts, and redrive it: it keeps its id, which is safe within the window of 7 days.",
  ],
  ADDRESS_REFUSED: [
    "The name resolves to a private or reserved address.",
    "Use a public address; only for development allow private ones (allowPrivateNetwork).",
  ],
  CONNECTION_FAILED: ["The name was not found, or nothing listens on that port.", CHECK_CONNECTION],
  CONNECTION_LOST: [
    "The connection was lost before the answer was complete; the event may have arrived.",
    "Send it again with the same id: 409 means that it had arrived.",
  ],
  TLS_FAILED: [
    "The certificate is not trusted, has expired, or is for another name.",
    "Trust its certificate authority with NODE_EXTRA_CA_CERTS or --ca; hookproof doctor <url> shows the certificate.",
  ],
  PROXY_FAILED: [
    "A proxy answered instead of opening a connection, or could not be used: an expired password, a login page, a host that it does not allow. The receiver never saw the event.",
    "Check HTTPS_PROXY and NO_PROXY, or the agent's own proxy; the status in the message is the proxy's. Retries continue by themselves.",
  ],
  RESPONSE_INVALID: [
    "The answer is not valid HTTP; the event may have arrived.",
    "Run hookproof doctor <url>, then send it again with the same id: 409 means that it had arrived.",
  ],
  TIMED_OUT: [
    "There was no answer within the timeout (timeoutMs, --timeout). If there was a connection, the event may have arrived.",
    "Send it again with the same id: 409 means that it had arrived.",
  ],
  ABORTED: [
    "The signal of the call was aborted, or the program was interrupted; the event may have arrived.",
    "Send it again with the same id: 409 means that it had arrived.",
  ],

  REQUEST_REFUSED: [
    "The receiver answered with a 4xx status that another attempt would not change.",
    "Look at the receiver's answer: its code says which check failed.",
  ],
  AUTHENTICATION_REFUSED: [
    "The receiver answered 401: the secret, the key or the signature is wrong.",
    VERIFY,
  ],
  SOURCE_REFUSED: [
    "The receiver answered 403: it does not accept requests from this address.",
    "Send from an allowed address.",
  ],
  LISTENER_NOT_FOUND: [
    "The receiver answered 404.",
    "Compare the listener's URL, and check that its automation is published.",
  ],
  REDIRECT_REFUSED: [
    "The receiver answered with a redirect. Redirects are not followed, because a signed request is for one URL.",
    "Use the final URL; the usual reasons are http://, a missing www, and a login or maintenance page in front. An outbox waits meanwhile.",
  ],
  RECEIVER_UNAVAILABLE: [
    "The receiver answered 5xx, 408, 425 or 429 at every attempt; after a 5xx the event may have arrived.",
    "Send it later with the same id, for instance with hookproof replay.",
  ],
  WINDOW_CLOSED: [
    "Receivers remember event ids for 7 days; a later attempt could run the automation twice.",
    "Find out whether the event arrived, and send a new one if it did not.",
  ],
} as const satisfies Record<ErrorCode, readonly [cause: string, fix: string]>;
