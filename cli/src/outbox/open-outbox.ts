import { statSync } from "node:fs";
import { type OpenSqliteDatabase, openSqlite, sqliteStore } from "hookproof/node";
import type { OutboxStore } from "hookproof/outbox";
import type { Context, Flag } from "../command.js";
import { isOfFolder, requireInside } from "../config/folder-file.js";
import { SETTINGS } from "../config/settings.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { isLoopback } from "../origin-rule.js";
import { openPostgresOutbox } from "./open-postgres-outbox.js";

/** The flags of every outbox command. */
export const OUTBOX_FLAGS = {
  outbox: {
    type: "string",
    value: "<file|url>",
    describe: "a SQLite file, or the URL of a PostgreSQL database",
    completes: "file",
  },
  schema: {
    type: "string",
    value: "<name>",
    default: "hookproof",
    describe: "the schema of the outbox's tables in PostgreSQL",
  },
} as const satisfies Record<string, Flag>;

/** What every outbox command may end with, beside success. */
export const OUTBOX_EXITS: readonly (readonly [number, string])[] = [
  [3, "there is no outbox, or it cannot be read"],
];

/** An outbox that another program made and may be filling. */
export interface OpenOutbox {
  readonly store: OutboxStore;
  /** The file or URL; it holds no password. */
  readonly name: string;
  close(): Promise<void>;
}

/** Opens the outbox that flag, environment or configuration names; never makes one. */
export async function openOutbox({ args, config }: Pick<Context, "args" | "config">): Promise<OpenOutbox> {
  const found = config.find("outbox");
  const place = found === undefined ? undefined : String(found.value);
  if (place === undefined)
    throw usageError(
      "The outbox is missing.",
      "Give --outbox app.db or --outbox postgres://host/database, or set it in the configuration.",
    );
  if (!/^postgres(?:ql)?:\/\//.test(place)) {
    requireInside(config, "outbox", { code: "OUTBOX_OUTSIDE", what: "outbox", flag: "--outbox" });
    return openFile(place);
  }
  const url = new URL(place);
  if (url.password !== "" && found?.origin !== SETTINGS.outbox.env)
    throw usageError(
      "A database's password is refused there: command lines and configurations are read by others.",
      "Use PGPASSWORD, ~/.pgpass, or the whole URL in the variable HOOKPROOF_OUTBOX.",
    );
  requireTrustedHost(config, url);
  return openPostgresOutbox(url, args.text("schema") ?? "");
}

/**
 * A database is shown this user's password (PGPASSWORD, ~/.pgpass), so a folder's file does not choose its machine.
 * Parameters are refused one and all: ?host=, ?port=, ?user= and others come before what the URL itself says.
 */
function requireTrustedHost(config: Context["config"], url: URL): void {
  if (!isOfFolder(config, "outbox")) return;
  const hint = "Give it with --outbox, HOOKPROOF_OUTBOX, or in your own configuration.";
  const refusal = (message: string) =>
    new CliError(EXIT.setup, "OUTBOX_HOST_REFUSED", `${config.projectPath} names ${message}.`, { hint });
  if (!isLoopback(`http://${url.host}`))
    throw refusal(`the database ${url.host}, which would be shown your password`);
  if (url.search !== "" || url.hash !== "")
    throw refusal("a database with parameters, which could send your password elsewhere");
}

function openFile(file: string): OpenOutbox {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CliError(EXIT.setup, "OUTBOX_NOT_FOUND", `There is no file ${file}.`, {
      hint: "The program that enqueues makes it.",
    });
  const open = () => openSqlite(file, { from: import.meta.url });
  requireOutbox(open(), file);
  const store = sqliteStore({ open });
  return { store, name: file, close: () => store.close() };
}

/** Refuses a file without an outbox: opening it would put one there. */
function requireOutbox(db: OpenSqliteDatabase, file: string): void {
  const isThere = () =>
    db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'hookproof_outbox_version'").all().length > 0;
  try {
    if (isThere()) return;
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new CliError(EXIT.setup, "OUTBOX_NOT_FOUND", `${file} cannot be read: ${words}.`);
  } finally {
    db.close();
  }
  throw new CliError(EXIT.setup, "OUTBOX_NOT_FOUND", `${file} holds no outbox.`, {
    hint: "The program that enqueues makes its tables.",
  });
}
