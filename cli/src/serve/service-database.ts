// The local service's database and credentials, as commands open them.
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { generateSecret } from "hookproof";
import type {
  Fixture,
  S3Options,
  SeedOptions,
  SeedProgress,
  ServiceOptions,
  StateError,
} from "hookproof-service";
import type { Args, Context, Flag } from "../command.js";
import { requireCredentialUrl } from "../credentials/credential-url.js";
import { PLAIN_HTTP_FLAG } from "../credentials/flags.js";
import { CliError, EXIT, refuseIdle, usageError } from "../failure.js";
import {
  dataFolder,
  isLink,
  isOfFile,
  privateFolder,
  readTextFile,
  reasonOf,
  requirePrivate,
} from "../files/files.js";
import { writeOwnFile } from "../files/written-file.js";
import type { Io } from "../io.js";
import { wordOf } from "../shell-word.js";
import { startProgress } from "../terminal/progress.js";
import { readLoneFile } from "./own-file.js";

/** The client that a database begins with. Named here as well, so that help does not load the service. */
export const DEFAULT_CLIENT: typeof import("hookproof-service").DEFAULT_CLIENT = "local-admin";

/** The flag of every command that works on the service's database. */
export const DATABASE_FLAG = {
  db: {
    type: "string",
    value: "<file>",
    describe: "the service's database; the user's own by default",
    completes: "file",
  },
} as const satisfies Record<string, Flag>;

/** The flag of commands that reach a bucket and no running service. */
export const BUCKET_FLAG = {
  "plain-http": {
    ...PLAIN_HTTP_FLAG["plain-http"],
    describe:
      "in development: allow http:// to this container's name in HOOKPROOF_S3_ENDPOINT; anyone on the way can read files",
  },
} as const satisfies Record<string, Flag>;

/** The flags that say what a database is filled with. */
export const SEED_FLAGS = {
  seed: {
    type: "number",
    value: "<n>",
    range: [0, 999_999_999_999_999],
    describe: "the number that made-up data is generated from; 42 by default",
  },
  fixture: {
    type: "string",
    value: "<file>",
    describe: "a fixture in YAML instead, as service export writes it",
    completes: "file",
  },
  users: {
    type: "number",
    value: "<n>",
    range: [1, 999_999_999],
    describe: "how many users the made-up data has; 250 by default",
  },
} as const satisfies Record<string, Flag>;

/** The flags of every command that loads a state: what an automation of it may name. */
export const AUTOMATION_FLAGS = {
  "allow-insecure-jwks": {
    type: "boolean",
    describe: "allow key sets at private addresses, for development",
  },
  "cel-namespace": {
    type: "string",
    value: "<name>",
    describe: "what stands before look-ups in expressions, such as acme: acme.directory.users.v1.GetByID",
  },
} as const satisfies Record<string, Flag>;

/** What the flags let automations name. */
export function automationOptions(args: Args): { allowInsecure: boolean; celNamespace: string | undefined } {
  const celNamespace = args.text("cel-namespace");
  if (
    celNamespace !== undefined &&
    !/^(?!.{101})(?!(?:ctx|in|true|false|null|has)(?:\.|$))[A-Za-z_]\w{0,63}(?:\.[A-Za-z_]\w{0,63}){0,9}$/.test(
      celNamespace,
    )
  )
    throw usageError(
      `--cel-namespace must be a name, or names with dots between them, such as acme, in at most 100 characters, not ${JSON.stringify(celNamespace)}.`,
    );
  return { allowInsecure: args.flag("allow-insecure-jwks"), celNamespace };
}

/**
 * The database of the command line; the folder of the user's own database is made if it is missing. SQLite's name for a
 * database in memory is refused: what lies next to a database, and the other commands, need a file.
 */
export function databaseFile(io: Io, args: Args): string {
  const given = args.text("db");
  if (given === ":memory:")
    throw usageError(
      "--db must be a file: the other commands could not find a database in memory.",
      'For one that nobody keeps: --db "$(mktemp -d)/service.db"',
    );
  return given ?? join(privateFolder(join(dataFolder(io), "service")), "service.db");
}

/** Refuses a database in a folder that is not there or may not be written in, before anything is made next to it. */
export function requirePlace(db: string): void {
  try {
    accessSync(`${dirname(db)}/.`, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const words: Record<string, string> = {
      ENOENT: "there is no such folder",
      EACCES: "this user may not write in its folder",
    };
    const reason = words[code ?? ""] ?? reasonOf(error);
    const message = `${db} cannot be opened as the service's database: ${reason}.`;
    throw new CliError(EXIT.setup, "DATABASE_UNUSABLE", message);
  }
}

/** What the flags fill a database with. */
export async function sourceOf(args: Args): Promise<Pick<ServiceOptions, "seed" | "users" | "fixture">> {
  const file = args.text("fixture");
  if (file === undefined) return { seed: args.number("seed") ?? 42, users: args.number("users") };
  refuseIdle(args, ["seed", "users"], "is for made-up data, not for a fixture.");
  return { fixture: await fixtureOf(await readTextFile(file), file) };
}

/** A fixture from its text; `name` is what its mistakes are named with. */
export async function fixtureOf(text: string, name: string): Promise<Fixture> {
  const { parseFixture } = await import("hookproof-service");
  return onDatabase(() => parseFixture(text, name));
}

/** The file of the client's secret, next to the database. */
export function clientSecretFile(db: string): string {
  return `${db}.client-secret`;
}

/** The client's secret; a new one if there is none yet. */
export async function clientSecret(db: string): Promise<string> {
  return ownSecret(clientSecretFile(db));
}

/** The file of the control token, next to the database. */
export function controlTokenFile(db: string): string {
  return `${db}.control-token`;
}

/** The token of the remote control; a new one if there is none yet. */
export async function controlToken(db: string): Promise<string> {
  return ownSecret(controlTokenFile(db));
}

/** A secret of the service's own folder; a new one if there is none yet. */
async function ownSecret(file: string): Promise<string> {
  if (!existsSync(file) && !isLink(file)) await writeOwnFile(file, `${generateSecret()}\n`);
  return readOwnSecret(file);
}

/** A client secret or a token that lies next to a database: whoever made the folder could lead its name elsewhere. */
export function readOwnSecret(file: string): string {
  return withoutLineEnd(readLoneFile(file));
}

/** A client secret or a token from a private file that the user has named. */
export async function readClientSecret(file: string): Promise<string> {
  requirePrivate(file);
  return withoutLineEnd(await readTextFile(file));
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** The bucket that the environment names for the files of paper secrets. */
export async function bucketOf({
  io: { env },
  config,
}: Pick<Context, "io" | "config">): Promise<S3Options | undefined> {
  const { HOOKPROOF_S3_ENDPOINT: endpoint, HOOKPROOF_S3_BUCKET: bucket, AWS_REGION: region } = env;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!endpoint && !bucket) return undefined;
  if (endpoint) {
    await requireCredentialUrl(config, endpoint, "HOOKPROOF_S3_ENDPOINT");
  }
  if (endpoint && bucket && accessKeyId && secretAccessKey)
    return { endpoint, bucket, region: region || undefined, accessKeyId, secretAccessKey };
  throw usageError(
    "A bucket needs HOOKPROOF_S3_ENDPOINT, HOOKPROOF_S3_BUCKET, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
  );
}

const STATE_HINTS: Record<StateError["code"], string> = {
  DATABASE_MISSING: "hookproof service start makes one.",
  FILE_TOO_LARGE: "Without --with-secrets the file is named and not read.",
  DATABASE_NOT_EMPTY:
    "--replace deletes it; hookproof service reset --yes returns to what it was filled with.",
  IDENTITY_MISSING: "Put the file back, or remove the database to start again.",
  IDENTITY_WRONG: "Put the right file back, or remove the database to start again.",
};

/** Runs work on a database; known errors become failures with a hint. */
export async function onDatabase<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof CliError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const { FixtureError, StateError } = await import("hookproof-service");
    if (error instanceof StateError)
      throw new CliError(EXIT.setup, error.code, message, {
        hint: STATE_HINTS[error.code],
      });
    if (code === "FILE_MODE_TOO_WIDE") {
      const { file } = error as Error & { file?: unknown };
      throw new CliError(EXIT.setup, code, message, { hint: `chmod 600 ${wordOf(String(file))}` });
    }
    if (code === "FILE_OWNER_OTHER")
      throw new CliError(EXIT.setup, code, message, {
        hint: "Make your own copy of the database and what is next to it. Use chown only after reading the file.",
      });
    if (code === "FILE_IS_LINK") {
      throw new CliError(EXIT.setup, code, message, { hint: "Look at who put it there, and remove it." });
    }
    if (error instanceof FixtureError) throw new CliError(EXIT.usage, error.code, message);
    if (/ cannot be opened(?: as the service's database)?: /.test(message))
      throw new CliError(EXIT.setup, "DATABASE_UNUSABLE", `${message}.`);
    if (isOfFile(code)) {
      const { path = "The database" } = error as NodeJS.ErrnoException;
      throw new CliError(EXIT.setup, "DATABASE_UNUSABLE", `${path} cannot be used: ${reasonOf(error)}.`);
    }
    throw error;
  }
}

/** Fills the service's database with a progress bar; returns the number of users. */
export async function fillDatabase(
  context: Pick<Context, "io" | "config" | "global" | "out">,
  options: SeedOptions,
): Promise<number> {
  const { fixture, users = 250 } = options;
  const s3 = await bucketOf(context);
  const { seedDatabase } = await import("hookproof-service");
  const { onProgress, finish } = seedProgress(context, options);
  await onDatabase(() => seedDatabase({ ...options, s3, onProgress })).finally(finish);
  return fixture ? (fixture.users?.length ?? 0) : users;
}

/** Shows how far the loading of a state is. */
export function seedProgress(
  context: Pick<Context, "io" | "global" | "out">,
  { fixture, users = 250 }: Pick<SeedOptions, "fixture" | "users">,
): { onProgress: SeedProgress; finish: () => void } {
  const progress = startProgress(context, fixture ? undefined : users, "users");
  let seen = 0;
  return {
    onProgress(done) {
      progress.advance(done - seen);
      seen = done;
    },
    finish: () => progress.finish(),
  };
}
