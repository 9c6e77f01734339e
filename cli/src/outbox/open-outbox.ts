// Opens the outbox that flag, environment or configuration names.
import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { HookproofError } from "hookproof";
import type { OpenSqliteDatabase } from "hookproof/node";
import type { OutboxEntry } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import type { Context, Flag } from "../command.js";
import { requireInside } from "../config/folder-file.js";
import { nextStep } from "../config/next-step.js";
import { isAddress, SETTINGS } from "../config/settings.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { isLink, reasonOf } from "../files/files.js";

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

/** What every outbox command may end with, besides success. */
export const OUTBOX_EXITS: readonly (readonly [number, string])[] = [
  [3, "there is no outbox, or it cannot be read"],
];

/** An outbox that another program made and may be filling. */
interface OpenOutbox {
  readonly store: OutboxStore;
  /** The file or URL; it holds no password. */
  readonly name: string;
  close(): Promise<void>;
}

/** The error for an id of which the outbox has no event, or only those for other listeners. */
export function notInOutbox(id: string, others: readonly OutboxEntry[] = []): CliError {
  if (others.length > 0)
    return new CliError(
      EXIT.setup,
      "EVENT_NOT_IN_OUTBOX",
      `The outbox has the event ${id} for ${others.map(({ listener }) => JSON.stringify(listener)).join(", ")} only.`,
    );
  return new CliError(EXIT.setup, "EVENT_NOT_IN_OUTBOX", `The outbox has no event ${id}.`, {
    hint: "Delivered events are deleted after 7 days, unless the program sets another time.",
  });
}

/** Opens the outbox that flag, environment or configuration names; makes one only with `create`. */
export async function openOutbox(
  { args, config }: Pick<Context, "args" | "config">,
  { create = false } = {},
): Promise<OpenOutbox> {
  const found = config.find("outbox");
  const place = found === undefined ? undefined : String(found.value);
  const making = { create, creating: nextStep(args, "hookproof outbox create") };
  if (place === undefined)
    throw usageError(
      "The outbox is missing.",
      "Give --outbox app.db or --outbox postgres://host/database, or set it in the configuration.",
    );
  if (!isAddress("outbox", place)) {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(place)) throw notOutbox(place);
    requireInside(config, "outbox", { code: "OUTBOX_OUTSIDE", what: "outbox", flag: "--outbox" });
    return openFile(place, making);
  }
  const url = URL.canParse(place) ? new URL(place) : undefined;
  if (url === undefined) throw notOutbox(place);
  const { env, envFile } = SETTINGS.outbox;
  if (url.password !== "" && found?.origin !== env && found?.origin !== envFile)
    throw usageError(
      "A database password is refused on command lines and in configurations: others can read them.",
      PASSWORD_HINT,
    );
  // A database is handed this user's password (PGPASSWORD, ~/.pgpass), on this machine too: anybody can hold a port of it.
  requireInside(config, "outbox", { code: "OUTBOX_HOST_REFUSED", what: "outbox", flag: "--outbox" });
  // What the user names for this one call, and not what was merely found, leads to code of the folder.
  const isTyped =
    found?.origin === "--outbox" || (config.isProjectNamed && found?.file === config.projectPath);
  return openPostgresOutbox(url, args.text("schema") ?? "", { ...making, isTyped });
}

function notOutbox(place: string): CliError {
  const shown = place.replace(/\/\/[^@/]*@/, "//…@");
  return usageError(
    `--outbox must be a SQLite file or the URL of a PostgreSQL database, not ${JSON.stringify(shown)}.`,
    "Give --outbox app.db or --outbox postgres://host/database.",
  );
}

const PASSWORD_HINT =
  "Use PGPASSWORD, ~/.pgpass, or the whole URL in the variable HOOKPROOF_OUTBOX or the file of HOOKPROOF_OUTBOX_FILE.";

/** Whether the outbox is made where there is none, and the command that makes it. */
interface Making {
  readonly create: boolean;
  readonly creating: string;
}

async function openFile(file: string, making: Making): Promise<OpenOutbox> {
  if (file === ":memory:")
    throw usageError(
      "--outbox must be a file: the other commands could not find an outbox in memory.",
      'For one that nobody keeps: --outbox "$(mktemp -d)/outbox.db"',
    );
  const isThere = isFile(file);
  if (!making.create && !isThere)
    throw new CliError(EXIT.setup, "OUTBOX_NOT_FOUND", `There is no file ${file}.`, {
      hint: `The program that enqueues makes it, and so does: ${making.creating}`,
    });
  const [{ openSqlite }, { sqliteStore }] = await Promise.all([
    import("hookproof/node"),
    import("hookproof/outbox/sqlite"),
  ]);
  const path = resolve(file);
  const link = ["-wal", "-shm", "-journal"].find((end) => isLink(`${path}${end}`));
  if (link !== undefined)
    throw new CliError(
      EXIT.setup,
      "OUTBOX_OUTSIDE",
      `${file}${link} is a link, and SQLite would write to its end.`,
      { hint: "Look at who put it there, and remove it." },
    );
  // The driver for a Node without one of its own comes with the service, once for both.
  const from = createRequire(import.meta.url).resolve("hookproof-service/package.json");
  const open = () => openedFile(file, () => openSqlite(path, { from }));
  if (isThere) {
    refuseOtherFile(file);
    requireOutbox(open, file, making);
  }
  try {
    const store = sqliteStore({ open });
    return { store, name: file, close: () => store.close() };
  } catch (error) {
    const { cause } = error as Error;
    throw cause instanceof CliError ? cause : error; // ours, which the store took for a driver's
  }
}

/** The smallest page of SQLite, and so the smallest file that holds anything. */
const MIN_BYTES = 512;

/**
 * Refuses a file of something else: SQLite takes one that is shorter than its header for an empty database, and says of all
 * others itself what they are. The file is not opened for it: closing it again would drop the locks of all connections of
 * this process, and another process could then delete the log while they use it.
 */
function refuseOtherFile(file: string): void {
  const { size } = openedFile(file, () => statSync(file));
  openedFile(file, () => accessSync(file, constants.R_OK)); // of which a driver may have no word
  if (size > 0 && size < MIN_BYTES) throw unusable(file, "file is not a database");
}

/** Whether there is a file; refused where something else is there, or the path leads nowhere. */
function isFile(file: string): boolean {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (stats.isFile()) return true;
  } catch (error) {
    throw unusable(file, reasonOf(error));
  }
  throw unusable(file, "it is no file");
}

/** The driver's own words say nothing of the option. */
function openedFile<Database>(file: string, open: () => Database): Database {
  try {
    return open();
  } catch (error) {
    throw unusable(file, error instanceof HookproofError ? error.message : reasonOf(error));
  }
}

function unusable(file: string, reason: string): CliError {
  return new CliError(EXIT.setup, "OUTBOX_NOT_FOUND", `--outbox ${file} cannot be opened: ${reason}.`);
}

/** Refuses a file without an outbox, as opening it would put one there; with `create`, only what is no database. */
function requireOutbox(open: () => OpenSqliteDatabase, file: string, { create, creating }: Making): void {
  let db: OpenSqliteDatabase | undefined;
  try {
    db = open();
    db.exec("PRAGMA busy_timeout = 5000"); // whoever closes the file last holds it for a moment
    const found = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'hookproof_outbox_version'").all();
    if (found.length > 0 || create) return;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw unusable(file, error instanceof Error ? error.message : String(error));
  } finally {
    db?.close();
  }
  throw new CliError(EXIT.setup, "OUTBOX_NOT_FOUND", `${file} holds no outbox.`, {
    hint: `The program that enqueues makes its tables, and so does: ${creating}`,
  });
}

/**
 * The driver next to this program, or that of the folder in which it runs: an application that enqueues has one. A folder
 * that was cloned may have anything under that name, so its code is run only where the user has named the outbox there.
 *
 * @throws {CliError} DRIVER_MISSING
 */
async function driver(isTyped: boolean): Promise<typeof import("pg")["default"]> {
  const folder = process.cwd();
  const found = (await importedDriver()) ?? (isTyped ? requiredDriver(folder) : undefined);
  if (typeof found?.Pool === "function") return found;
  const orHere = isTyped
    ? `Type npm install pg in the folder ${folder}, or npm install --global pg where this program is installed globally.`
    : `Type npm install --global pg where this program is installed globally. In your own application's folder, whose pg may be run, name the outbox with --outbox.`;
  throw new CliError(EXIT.setup, "DRIVER_MISSING", "An outbox on PostgreSQL needs the package pg.", {
    hint: orHere,
  });
}

async function importedDriver(): Promise<typeof import("pg")["default"] | undefined> {
  try {
    return (await import("pg")).default;
  } catch {
    return undefined; // not installed with it
  }
}

function requiredDriver(folder: string): typeof import("pg")["default"] | undefined {
  try {
    return createRequire(join(folder, "package.json"))("pg");
  } catch {
    return undefined;
  }
}

/** Opens an outbox on PostgreSQL; the driver is loaded only here, and is not installed with this program. */
async function openPostgresOutbox(
  url: URL,
  schema: string,
  { create, creating, isTyped }: Making & { readonly isTyped: boolean },
): Promise<OpenOutbox> {
  const pg = await driver(isTyped);
  const name = `${url.protocol}//${url.host}${url.pathname}`;
  const unopened = (words: string, hint?: string | undefined) =>
    new CliError(EXIT.setup, "OUTBOX_NOT_FOUND", `The outbox ${name} cannot be opened: ${words}.`, { hint });
  const { Socket } = await import("node:net");
  const sockets = new Set<InstanceType<typeof Socket>>();
  let pool: InstanceType<typeof pg.Pool> | undefined;
  try {
    pool = new pg.Pool({
      connectionString: url.href,
      connectionTimeoutMillis: 10_000,
      stream: () => {
        const socket = new Socket();
        sockets.add(socket.once("close", () => sockets.delete(socket)));
        return socket;
      },
    });
    pool.on("error", () => {}); // the next query fails with it
    // The tables are made when they are asked for: by the program that enqueues, or by `outbox create`.
    const { rows } = await pool.query("SELECT pg_catalog.to_regclass($1::text) AS found", [
      `"${schema}".event`,
    ]);
    if (!create && rows[0]?.found === null)
      throw unopened(`it has no outbox in the schema ${schema} (${creating} makes one)`);
  } catch (error) {
    await pool?.end().catch(() => {});
    // The driver leaves a connection open that it could not sign in on, and this process with it.
    for (const socket of sockets) socket.destroy();
    if (error instanceof CliError) throw error;
    const { reasonOfDriver } = await import("./driver-reasons.js");
    throw unopened(...reasonOfDriver(error, PASSWORD_HINT));
  }
  const opened = pool;
  const { postgresStore } = await import("hookproof/outbox/postgres");
  // An index of a large table takes longer than a call to the outbox may.
  const store = postgresStore({ pool: opened, schema, ...(create && { timeoutMs: 600_000 }) });
  return {
    store,
    name,
    async close() {
      await store.close();
      await opened.end();
    },
  };
}
