// Why each error code usually happens, and what to do about it.
import type { ErrorCode } from "../../core/errors.js";
import { ANSWER_ADVICE } from "./answer-advice.js";
import type { SurfaceText } from "./surface.js";
import {
  CHECK_CONNECTION,
  GIVE_KEYS,
  ITS_WAIT,
  LATER,
  PROXY,
  REDIRECT,
  REDRIVE,
  SAME_ID,
  VERIFY,
} from "./texts-by-surface.js";

export const CODE_ADVICE = {
  ...ANSWER_ADVICE,
  RESERVATION_LOST: [
    "The run took longer than its reservation, and another request has taken the event id since.",
    {
      library: "Set reservationMs longer than the longest run, and roll back the transaction of this run.",
      command: "A receiver needs a reservation that is longer than its longest run.",
    },
  ],
  PAYLOAD_NOT_JSON: [
    "The payload is not JSON: a text without its quotes, or a value of which JSON would lose something, such as a Promise without await or a Map.",
    {
      library: "Do what the message says at the place that it names.",
      command: "Give JSON: --data '\"text\"' for a text, or --data @file.",
    },
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
    "Correct the payload at the path that the message names; a new type of event needs a schema in the catalogue.",
  ],
  EVENT_ID_INVALID: [
    "The id is not a UUID of version 4; or, where an id of its own form was asked for, it has not 1 to 256 visible ASCII characters, or the scheme's receivers refuse its form.",
    {
      library:
        'Leave out eventId, and one is generated. Another scheme than the default one takes an id of your own with idForm: "own"; with the default one it belongs in the payload.',
      command:
        "Leave out --event-id, and one is generated. Another scheme than the default one takes an id of your own with --id-form own; with the default one it belongs in the payload.",
    },
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
    {
      library: "Copy the secret again, as it is.",
      command: "Copy the secret again, and store it with hookproof secret set.",
    },
  ],
  KEY_UNFIT: [
    "The key does not fit its algorithm, is too short or of low order, or has a key id that is not allowed.",
    {
      library: "Generate one with generateKey({ alg }) of hookproof/jwks, or choose another kid.",
      command: "Generate one with hookproof keys generate, or choose another kid.",
    },
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
    {
      library: "Leave out baseUrl unless the tenant is served below a path.",
      command: "Leave out --base-url unless the tenant is served below a path.",
    },
  ],
  TLS_REQUIRED: [
    "With plain HTTP everybody on the way can read the event.",
    {
      library: "Use https://; in development plainHttpHosts allows http:// for names that no public DNS has.",
      command: "Use https://; in development --plain-http allows http:// for names that no public DNS has.",
      outbox: "Give the listener a URL with https://.",
    },
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
    {
      library: "For development use allowInsecureLoopback and allowPrivateNetwork.",
      command:
        "For development: hookproof listen --jwks <url> --allow-insecure-jwks takes a private address. Plain HTTP is for this machine alone.",
    },
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
    "A newer version of Hookproof wrote the key store.",
    "Use that version, or another store.",
  ],
  KEY_STORE_EXPOSED: [
    "Others on this machine can read the private keys, or own the folder and can replace them.",
    "Make files and folder your own, with modes 600 and 700, and consider rotating the keys.",
  ],
  KEY_STORE_BUSY: ["Another process holds the lock of the key store.", "Wait until it has finished."],
  KEY_STORE_PASSPHRASE: [
    "The key store is encrypted, and the passphrase is missing or wrong.",
    { library: "Give the right passphrase.", command: "Give the right one with --passphrase-file <file>." },
  ],
  KEY_STORE_PUBLISHED: [
    "A store's key set is proved at one URL, and another one was named.",
    {
      library:
        "Publish at the URL that the message names, or end the publication at the old one first: store.publication.end().",
      command:
        "Give the URL that the message names, or let go of it first: hookproof jwks publish --release.",
    },
  ],
  KEY_SET_UPLOAD_FAILED: [
    "The folder, the command or the bucket that the key set goes to refused it. The old key keeps signing, and nothing retires.",
    {
      library: "Correct what the message names and publish again: it goes on where it stopped.",
      command:
        "Correct what the message names and run hookproof jwks publish again: it goes on where it stopped.",
    },
  ],
  KEY_SET_NOT_PUBLISHED: [
    "The URL shows another key set than the one that was uploaded: a cache still has the old one, or the file is another one. The old key keeps signing.",
    {
      library: "Wait for as long as the cache keeps it, or purge the cache; then publish again.",
      command:
        "Wait for as long as the cache keeps it, or purge the cache; then run hookproof jwks publish again.",
    },
  ],
  BEHAVIOUR_INVALID: [
    "The file is no behaviour profile, was changed by hand, or is of a newer version.",
    {
      library: "Record it again: recordBehaviour of hookproof/probes.",
      command: "Record it again: hookproof test <target> --record <file>",
    },
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
    {
      library:
        "Add the listener to createOutbox({ listeners }) or to what the function reads, or correct the name.",
      command: "hookproof profile add <listener> --target <url> adds it, or correct the name.",
      outbox: "Add the listener where the worker takes its listeners from; its events wait for it.",
      dead: `Add the listener where the worker takes its listeners from, ${REDRIVE}`,
    },
  ],
  OUTBOX_UNAVAILABLE: [
    "The database is down, locked, full or not writable; nothing was stored.",
    "Let the caller's transaction fail, and try again; workers continue by themselves when the database is back.",
  ],
  OUTBOX_OUTCOME_UNKNOWN: [
    "The database answered too late, or the connection was lost before the answer: the event may be stored or not.",
    {
      library:
        "Enqueue it again with the error's eventId: a stored event stays as it is. Inside a transaction, roll back and repeat everything with that id.",
      command: "Run the command again: a stored event stays as it is.",
    },
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
    GIVE_KEYS,
  ],
  OUTBOX_BODY_UNREADABLE: [
    "The stored body was changed, the key under its id is another one, or the body is not encrypted although the outbox has encryption. Such an event is never sent.",
    {
      library:
        "Find out who writes to the database. With the right key, redrive the event; allowUnencrypted sends bodies that were stored before encryption.",
      command: "Find out who writes to the database; with the right key: hookproof outbox redrive <event id>",
      outbox: "Find out who writes to the database. With the right key, redrive the event.",
    },
  ],
  LEASE_LOST: [
    "Workers were killed or stopped too often while they had the event.",
    "Look at its attempts, and redrive it: it keeps its id, which is safe within the window of 7 days.",
  ],
  ADDRESS_REFUSED: [
    "The name resolves to a private or reserved address.",
    {
      library: "Use a public address; only for development allow private ones: allowPrivateNetwork.",
      command: "Use a public address.",
    },
  ],
  CONNECTION_FAILED: [
    "The name was not found, or nothing listens on that port.",
    {
      library: CHECK_CONNECTION,
      command: CHECK_CONNECTION,
      outbox: `See whether the listener runs. ${ITS_WAIT}`,
      dead: `See whether the listener runs, ${REDRIVE}`,
    },
  ],
  CONNECTION_LOST: [
    "The connection was lost before the answer was complete; the event may have arrived.",
    SAME_ID,
  ],
  TLS_FAILED: [
    "The certificate is not trusted, has expired, or is for another name.",
    {
      library:
        "Trust its certificate authority with NODE_EXTRA_CA_CERTS; hookproof doctor <url> shows the certificate.",
      command:
        "Trust its certificate authority with --ca <file>; hookproof doctor <url> shows the certificate.",
      outbox:
        "Correct the listener's certificate, or have the worker trust its authority with NODE_EXTRA_CA_CERTS.",
    },
  ],
  PROXY_FAILED: [
    "A proxy answered instead of opening a connection, or could not be used: an expired password, a login page, a host that it does not allow. The receiver never saw the event.",
    PROXY,
  ],
  RESPONSE_INVALID: [
    "The answer is not valid HTTP; the event may have arrived.",
    {
      library:
        "Run hookproof doctor <url>, then send it again with the same id: 409 means that it had arrived.",
      command: "Run hookproof doctor <url>, then hookproof replay last: 409 means that it had arrived.",
      outbox: `See what answers in the listener's place. ${ITS_WAIT}`,
      dead: `See what answers in the listener's place, ${REDRIVE}`,
    },
  ],
  TIMED_OUT: [
    "There was no answer within the timeout. If there was a connection, the event may have arrived.",
    SAME_ID,
  ],
  ABORTED: [
    "The signal of the call was aborted, or the program was interrupted; the event may have arrived.",
    SAME_ID,
  ],

  REQUEST_REFUSED: [
    "The receiver answered with a 4xx status that another attempt would not change.",
    "Look at the receiver's answer: its code says which check failed.",
  ],
  AUTHENTICATION_REFUSED: [
    "The receiver answered 401: the listener did not accept the proof, or something in front of it asks for one of its own.",
    VERIFY,
  ],
  SOURCE_REFUSED: [
    "The receiver answered 403: the listener does not accept requests from this address, or something in front of it refuses them.",
    "Look at the answer's text. If it is the listener's own, send from an address that its settings allow.",
  ],
  LISTENER_NOT_FOUND: [
    "The receiver answered 404.",
    "Compare the listener's URL, and check that its automation is published.",
  ],
  REDIRECT_REFUSED: [
    "The receiver answered with a redirect. Redirects are not followed, because a signed request is for one URL.",
    REDIRECT,
  ],
  RECEIVER_UNAVAILABLE: [
    "The receiver answered 5xx, 408, 425 or 429 at every attempt; after a 5xx the event may have arrived.",
    LATER,
  ],
  WINDOW_CLOSED: [
    "Receivers remember event ids for 7 days; a later attempt could run the automation twice.",
    "Find out whether the event arrived, and send a new one if it did not.",
  ],
} as const satisfies Record<ErrorCode, readonly [cause: string, fix: SurfaceText]>;
