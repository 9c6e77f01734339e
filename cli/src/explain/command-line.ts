import { EXIT } from "../failure.js";
import { CLAIM, CONNECT, type Explanation, VERIFY } from "./explanation.js";

/** The codes of the command line itself. */
export const COMMAND_LINE = {
  USAGE: ["The command line makes no sense.", "hookproof <command> --help has examples."],
  UNEXPECTED: ["Something happened that nobody thought of.", "Run it again with -vv, and report it."],
  FILE_UNREADABLE: ["The file is not there, or not for this user.", "Look at path and owner."],
  FILE_UNWRITABLE: ["The file cannot be written.", "Look at its folder and the disk."],
  FILE_MODE_TOO_WIDE: [
    "A file with a secret or key can be read by other users.",
    "chmod 600 <file>, and think of a rotation.",
  ],
  FILE_OWNER_OTHER: [
    "A file with a secret or key, or its folder, belongs to another user, who can put another one there.",
    "Use a file of your own; think of a rotation.",
  ],
  FOLDER_UNWRITABLE: ["The data folder cannot be written.", "Set HOOKPROOF_HOME to a folder that can."],
  HOME_MISSING: ["There is no home folder to keep data in.", "Set HOME or HOOKPROOF_HOME."],
  CONFIG_EXISTS: [
    "init does not replace a configuration by itself.",
    "hookproof profile add changes it; --force replaces it.",
  ],
  CONFIG_INVALID: [
    "A configuration file or variable has a value that cannot be.",
    "The message names the field; hookproof.schema.json helps editors.",
  ],
  CONFIG_UNREADABLE: [
    "The configuration file is not there, or not for this user.",
    "hookproof config path shows the places.",
  ],
  CONFIG_UNWRITABLE: ["The configuration file cannot be written.", "Look at the folder's owner and mode."],
  PROFILE_UNKNOWN: ["No configuration file has a profile of this name.", "hookproof profile list"],
  SECRET_MISSING: [
    "Neither flag, environment nor profile gives a signing secret.",
    "hookproof secret set, --secret-file or HOOKPROOF_SECRET.",
  ],
  SECRET_OTHER_ORIGIN: [
    "A secret signs for the scheme, host and port it was stored for, and the target is another.",
    "Compare both in the message; --allow-origin <url> signs for that one too.",
  ],
  SECRET_FILE_OUTSIDE: [
    "The configuration of a folder names a secret, key or key store outside of that folder.",
    "--secret-file, --key or --store names it yourself; --config names a configuration you trust.",
  ],
  OUTBOX_HOST_REFUSED: [
    "The configuration of a folder names a database on another machine or with parameters, and your password would go where it says.",
    "--outbox, HOOKPROOF_OUTBOX or the user's own configuration names it.",
  ],
  OUTBOX_OUTSIDE: [
    "The configuration of a folder names an outbox outside of that folder, whose events are not the folder's.",
    "--outbox names it yourself; --config names a configuration you trust.",
  ],
  OUTBOX_LISTENER_REFUSED: [
    "The outbox and the listener's target are said by two configuration files, and one file's events are not the other's.",
    "--outbox names the outbox yourself; --config names a configuration you trust.",
  ],
  SECRET_STORE_INVALID: ["The stored secret cannot be read.", "hookproof secret set writes it again."],
  SESSION_MISSING: [
    "No local listener runs on that port, or it could not leave its session.",
    "hookproof listen --port <n>",
  ],
  EVENT_NOT_RECORDED: ["The history keeps what hookproof send sent, for 7 days.", "hookproof events list"],
  OUTBOX_NOT_FOUND: [
    "There is no outbox at that place, or it cannot be opened.",
    "Compare file or URL; the program that enqueues makes the outbox.",
  ],
  DRIVER_MISSING: [
    "PostgreSQL is reached through the package pg, which is not installed with this program.",
    "npm install pg",
  ],
  LISTENERS_MISSING: [
    "A worker delivers to the profiles that have a target, and there is none.",
    "hookproof profile add <listener> --target <url>",
  ],
  EVENT_NOT_IN_OUTBOX: [
    "No event of the outbox has this id, or it was delivered and forgotten.",
    "hookproof outbox status shows what the outbox holds.",
  ],
  EXPORT_INVALID: [
    "The file is not what events export writes.",
    "hookproof events export last --out event.json",
  ],
  HISTORY_INVALID: [
    "The file of --history is no history of the inspector.",
    "Choose another file; it is made where there is none.",
  ],
  HISTORY_NEWER: ["A newer version wrote this history.", "Update hookproof, or choose another file."],
  HISTORY_UNREADABLE: [
    "The file of --history cannot be opened or made.",
    "Look at its folder, its owner and the disk.",
  ],
  PORT_IN_USE: ["Another process listens on that port.", "Choose another with --port, or 0 for a free one."],
  PORT_REFUSED: ["Ports below 1024 belong to the system.", "Choose a higher one with --port."],
  DATABASE_MISSING: [
    "The local service has no database there.",
    "hookproof service start makes one, or name another with --db.",
  ],
  DATABASE_NOT_EMPTY: [
    "The database has a state that would be lost.",
    "--replace if that is what you want; hookproof service reset goes back to what it was filled with.",
  ],
  DATABASE_UNUSABLE: [
    "The file cannot be opened as the local service's database, or is of a later version.",
    "Look at path and owner, or name another with --db.",
  ],
  FIXTURE_INVALID: [
    "A fixture has a mistake; the message names its line and field.",
    "service/fixture.schema.json of hookproof-service helps editors.",
  ],
  TOKEN_REFUSED: [
    "The service's token endpoint did not give a token.",
    "Look whether it runs with the database that the client secret belongs to.",
  ],
  DEMO_FAILED: ["A step of the demo did not get its status.", "Run hookproof doctor, and report it."],
} as const satisfies Record<string, Explanation>;

/** A code of the command line. */
export type CommandLineCode = keyof typeof COMMAND_LINE;

/** What the mistakes have in common that verify names; their ids begin with these words. */
export const CAUSES: Readonly<Record<string, Explanation>> = {
  secret: [
    "The key of the HMAC is the secret's text, byte for byte.",
    "Neither decode nor trim it, and keep no prefix: createHmac('sha256', secret).",
  ],
  body: [
    "The bytes that were signed are not the bytes that arrived.",
    "Serialise once, sign those bytes, send those bytes; on the receiving side, take the body before any parser.",
  ],
  timestamp: [
    "Webhook-Timestamp is Unix time in whole seconds, the same in the header and in what is signed.",
    "const timestamp = Math.floor(Date.now() / 1000), once.",
  ],
  "event-id": [
    "Webhook-Event-Id is a UUID of version 4, the same in the header and in what is signed.",
    "const id = crypto.randomUUID(), once.",
  ],
  parts: [
    "What is signed is {timestamp}.{event_id}.{body}: these parts, in this order, with periods.",
    "hookproof sign prints what it should be.",
  ],
  signature: [
    "The signature is HMAC-SHA256 in base64url without padding, 43 characters.",
    "createHmac('sha256', secret).update(...).digest('base64url')",
  ],
  header: ["A header is missing, misnamed or stands twice.", "Set each of the three headers once."],
  hmac: [
    "Key and message are mixed up, or another hash is used.",
    "createHmac('sha256', secret), then the signing input as the message",
  ],
  hash: [
    "A plain hash is not an HMAC.",
    "createHmac('sha256', secret), then the signing input as the message",
  ],
  claim: ["A claim of the token is not what the listener expects.", CLAIM],
  token: [
    "The token's form, header or signature is not what the listener takes.",
    "Sign with RS256, ES256 or EdDSA, and put the kid of a published key into the header.",
  ],
};

export const EXITS: Readonly<Record<number, Explanation>> = {
  [EXIT.ok]: [
    "Success; a 409 duplicate is success too.",
    "Nothing to do; --fail-on-duplicate tells duplicates apart.",
  ],
  [EXIT.unexpected]: [
    "Unexpected failure: a port in use, or something nobody thought of.",
    "The message says more.",
  ],
  [EXIT.usage]: [
    "Usage: unknown command or flag, bad value, or data that is refused before sending.",
    "hookproof <command> --help",
  ],
  [EXIT.setup]: [
    "Configuration, secret or key missing or unreadable.",
    "hookproof config explain shows where values come from.",
  ],
  [EXIT.refused]: ["The receiver refused for good: a redirect, or a 4xx other than 409.", VERIFY],
  [EXIT.unavailable]: [
    "The receiver answered 5xx, or 408, 425 or 429, to the last attempt.",
    "Try later with the same id.",
  ],
  [EXIT.unreachable]: ["No answer to the last attempt: DNS, TCP, TLS or timeout.", CONNECT],
  [EXIT.checkFailed]: [
    "A check failed: verify, test, jwks check, doctor, --expect, or a replay that was not deduplicated.",
    "The output names the check.",
  ],
  [EXIT.duplicate]: ["Duplicate, and --fail-on-duplicate was given.", "A new event needs a new id."],
  [EXIT.interrupted]: ["Interrupted.", "Nothing to do."],
};
