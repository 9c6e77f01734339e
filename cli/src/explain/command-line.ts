// Causes and fixes of the command line's own codes and exit codes.
import { EXIT } from "../failure.js";

/** Why something happens, and what to do about it. */
export type Explanation = readonly [cause: string, fix: string];

const CONNECT = "Run hookproof doctor <url>: it checks name, connection, certificate and clock.";
const VERIFY =
  "With the listener's secret, hookproof events export last | hookproof verify - --secret-file <path> names the mistake.";

/** The codes of the command line itself. */
export const COMMAND_LINE = {
  USAGE: ["The command line has a mistake.", "hookproof <command> --help has examples."],
  UNEXPECTED: [
    "An unexpected error, probably a defect of this program.",
    "Run it again with -vv, and report it.",
  ],
  FILE_UNREADABLE: ["The file does not exist, or this user cannot read it.", "Check its path and owner."],
  CAPTURE_INCOMPLETE: [
    "A captured request does not have the body as it was sent, so nothing is said about its proof.",
    "Capture it again in a form that keeps every byte, such as curl --trace or an export of hookproof listen's inspector; or give the body with --body @file.",
  ],
  TEXT_ENCODING: [
    "A file or standard input is text in UTF-16 or another encoding than UTF-8. PowerShell 5 writes UTF-16 with >.",
    "Save it as UTF-8; a byte order mark of UTF-8 does no harm.",
  ],
  FILE_UNWRITABLE: [
    "The file cannot be written, or what is there is no file of yours: a folder, a device, a pipe, another user's.",
    "Name another file; check its folder and the disk.",
  ],
  HEADER_RESERVED: [
    "--header, or a profile's headerFiles, names a header that belongs to the protocol: of the proof, the body or the connection.",
    "Leave it out: it is set by itself. Headers of your own have other names.",
  ],
  CERTIFICATE_INVALID: [
    "A file that should hold a certificate or its private key holds something else, or the two do not fit.",
    "Give both in PEM: the certificate first, and the key that it was made with.",
  ],
  FILE_MODE_TOO_WIDE: [
    "A file with a secret or key can be read by other users.",
    "chmod 600 <file>, and consider a rotation.",
  ],
  FILE_IS_LINK: [
    "A link lies in the place of a file that is written, such as one next to a database or a history, or the one of jwks export --out: its end would be written to.",
    "Look at who put it there, and remove it.",
  ],
  FILE_OWNER_OTHER: [
    "A file with a secret or key, or its folder, belongs to another user, who can replace it.",
    "Use a file of your own, and consider a rotation.",
  ],
  FOLDER_UNWRITABLE: ["The data folder cannot be written.", "Set HOOKPROOF_HOME to a writable folder."],
  HOME_MISSING: ["There is no home folder to keep data in.", "Set HOME or HOOKPROOF_HOME."],
  CONFIG_EXISTS: [
    "init does not replace an existing configuration.",
    "hookproof profile add changes it; --force replaces it.",
  ],
  CONFIG_INVALID: [
    "A configuration file or variable has a wrong value.",
    "The message names the field; hookproof.schema.json helps editors.",
  ],
  CONFIG_UNREADABLE: [
    "The configuration file does not exist, or this user cannot read it.",
    "hookproof profile path shows the places.",
  ],
  CONFIG_UNWRITABLE: ["The configuration file cannot be written.", "Check the folder's owner and mode."],
  PROFILE_UNKNOWN: ["No configuration file has a profile of this name.", "hookproof profile list"],
  SECRET_MISSING: [
    "Neither flag, environment nor profile gives a signing secret.",
    "hookproof secret set, --secret-file or HOOKPROOF_SECRET.",
  ],
  SECRET_OTHER_ORIGIN: [
    "A secret signs for the scheme, host and port it was stored for, and the target is another; or a folder's configuration names another audience than its target's origin for a token of your key.",
    "Compare both in the message; --allow-origin <url> lets a secret sign for that one too, and --audience or --config is your word for the audience.",
  ],
  SECRET_FILE_OUTSIDE: [
    "The configuration of a folder names a secret, key, key set, certificate, file of headers or key store outside of that folder, or the address of a key set.",
    "Name it yourself with --secret-file, --key, --jwks or --store; or name a configuration you trust with --config.",
  ],
  OUTBOX_HOST_REFUSED: [
    "The configuration of a folder names a database: your password would be sent there.",
    "Name it with --outbox, HOOKPROOF_OUTBOX, or in the user's own configuration; or name a configuration you trust with --config.",
  ],
  OUTBOX_OUTSIDE: [
    "The configuration of a folder names an outbox outside of that folder, or a link lies next to the outbox.",
    "Name it yourself with --outbox; or name a configuration you trust with --config.",
  ],
  OUTBOX_LISTENER_REFUSED: [
    "One configuration file names the outbox, and another one the listener's target.",
    "Name the outbox yourself with --outbox; or name a configuration you trust with --config.",
  ],
  SECRET_STORE_INVALID: ["The stored secret cannot be read.", "hookproof secret set writes it again."],
  SESSION_MISSING: [
    "No hookproof listener runs on that port, or it could not write its session file.",
    "hookproof listen --port <n>",
  ],
  INSPECTOR_MISSING: [
    "The local listener was started with --no-ui, so it keeps no requests.",
    "hookproof listen --port <n>, without --no-ui",
  ],
  REQUEST_UNKNOWN: [
    "The local listener keeps no request with this number: the oldest give way.",
    "Take a number from the list of its requests.",
  ],
  REPLAY_IMPOSSIBLE: [
    "The request was not read to its end, a secret in it is hidden, or no key is there to sign it again.",
    "Replay it exactly, or send a new event.",
  ],
  REPLAYS_BUSY: ["Too many replays are under way at the same time.", "Wait for one of them to end."],
  REPLAY_FAILED: ["The local listener gave no answer to the replay.", "Look whether it still runs."],
  LISTENERS_TOO_MANY: [
    "An assistant has started the most local listeners that it may.",
    "Stop one of them with the tool stop_listener.",
  ],
  LISTENER_NOT_OURS: [
    "An assistant stops only the local listeners that it started itself.",
    "Stop it where it was started.",
  ],
  TOOL_NOT_ALLOWED: [
    "hookproof mcp was not started with what this tool needs.",
    "Start it with --allow listen or --allow send, as the tool says.",
  ],
  TARGET_NOT_ALLOWED: [
    "An assistant may send to this machine, and to the profiles that --to names.",
    "Start it with hookproof mcp --allow send --to <profile>.",
  ],
  RESULT_TOO_LARGE: [
    "The result of a tool is longer than an assistant should read.",
    "Ask for fewer with limit, or for a narrower selection.",
  ],
  EVENT_NOT_RECORDED: ["The history keeps what hookproof send sent, for 7 days.", "hookproof events list"],
  OUTBOX_NOT_FOUND: [
    "There is no outbox at that place, or it cannot be opened.",
    "Check the file or URL; the program that enqueues makes the outbox.",
  ],
  DRIVER_MISSING: [
    "PostgreSQL is reached through the package pg, which is installed neither with this program nor in the folder where it runs.",
    "Install the package pg in the folder where the command runs, or globally where this program is.",
  ],
  LISTENERS_MISSING: [
    "A worker delivers to the profiles that have a target, and there is none.",
    "hookproof profile add <listener> --target <url>",
  ],
  EVENT_NOT_IN_OUTBOX: [
    "No event of the outbox has this id, or it was delivered and deleted since.",
    "hookproof outbox status shows what the outbox holds.",
  ],
  EXPORT_INVALID: [
    "The file is not what events export writes.",
    "hookproof events export last --out event.json",
  ],
  HISTORY_INVALID: [
    "The file of --history is not a history of the inspector.",
    "Choose another file; a missing file is made.",
  ],
  HISTORY_NEWER: ["A newer version wrote this history.", "Update hookproof, or choose another file."],
  HISTORY_UNREADABLE: [
    "The file of --history cannot be opened or made.",
    "Check its folder, its owner and the disk.",
  ],
  PORT_IN_USE: ["Another process listens on that port.", "Choose another with --port, or 0 for a free one."],
  PORT_REFUSED: ["Ports below 1024 belong to the system.", "Choose a higher one with --port."],
  S3_CREDENTIALS_MISSING: [
    "A bucket was named, and no credentials for it.",
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if they are temporary.",
  ],
  DATABASE_MISSING: [
    "The local service has no database there.",
    "hookproof service start makes one, or name another with --db.",
  ],
  DATABASE_NOT_EMPTY: [
    "The database already has data.",
    "--replace deletes that data; hookproof service reset --yes returns to what the database was filled with.",
  ],
  FILE_TOO_LARGE: [
    "A file of a paper secret is larger than the 8 MiB that an export with secrets takes.",
    "Export without --with-secrets, which names the file and does not read it.",
  ],
  DATABASE_UNUSABLE: [
    "The file cannot be opened as the local service's database, or a later version wrote it.",
    "Check its path and owner, or name another file with --db.",
  ],
  CONTROL_REFUSED: [
    "The running service refused a request of its remote control; the message says why.",
    "Look at the names, and whether the token is of the database that it runs with.",
  ],
  JOURNAL_DIFFERS: [
    "The running service received more, or fewer, of these requests than --expect.",
    "hookproof service journal without --expect lists them.",
  ],
  IDENTITY_MISSING: [
    "The file next to the service's database is missing, which the texts of its secrets are encrypted to.",
    "Put <database>.identity back, or remove the database to start again.",
  ],
  IDENTITY_WRONG: [
    "The file next to the service's database is another's: the texts of its secrets cannot be decrypted with it.",
    "Put the right <database>.identity back, or remove the database to start again.",
  ],
  FIXTURE_INVALID: [
    "A fixture has a mistake; the message names its line and field.",
    "service/fixture.schema.json of hookproof-service helps editors.",
  ],
  TOKEN_REFUSED: [
    "The service's token endpoint did not give a token.",
    "Check that the service runs with the database that the client secret belongs to.",
  ],
  DEMO_FAILED: [
    "A step of the demo got another status than expected.",
    "Run hookproof doctor, and report it.",
  ],
} as const satisfies Record<string, Explanation>;

/** A code of the command line. */
export type CommandLineCode = keyof typeof COMMAND_LINE;

/** What each exit code means. */
export const EXITS: Readonly<Record<number, Explanation>> = {
  [EXIT.ok]: [
    "Success; a 409 duplicate is success too.",
    "Nothing to do; with --fail-on-duplicate a duplicate exits with 9.",
  ],
  [EXIT.unexpected]: [
    "Unexpected failure: a full disk, or a defect of this program.",
    "The message says more.",
  ],
  [EXIT.usage]: [
    "Usage: unknown command or flag, bad value, or data that is refused before sending.",
    "hookproof <command> --help",
  ],
  [EXIT.setup]: [
    "Configuration, secret or key missing or unreadable, or a port in use.",
    "hookproof profile explain shows where values come from.",
  ],
  [EXIT.refused]: ["The listener refused permanently: a redirect, or a 4xx other than 409.", VERIFY],
  [EXIT.unavailable]: [
    "The listener answered 5xx, 408, 425 or 429 to the last attempt.",
    "Try later with the same id.",
  ],
  [EXIT.unreachable]: ["No answer to the last attempt: DNS, TCP, TLS or timeout.", CONNECT],
  [EXIT.checkFailed]: [
    "A check failed: verify, test, jwks check, doctor, --expect, or a replay that was not deduplicated.",
    "The output names the check.",
  ],
  [EXIT.notProved]: [
    "A test is no proof: answers were a rate limit (429), all were left open, every probe was skipped, or none was selected.",
    "The output says which; a listener is tested only by probes that it passes or fails.",
  ],
  [EXIT.duplicate]: ["Duplicate, and --fail-on-duplicate was given.", "A new event needs a new id."],
  [EXIT.interrupted]: ["Interrupted.", "Nothing to do."],
};
