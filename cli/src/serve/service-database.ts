import { existsSync } from "node:fs";
import { join } from "node:path";
import { generateSecret } from "hookproof";
import {
  FixtureError,
  readFixture,
  type S3Options,
  type ServiceOptions,
  StateError,
} from "hookproof-service";
import type { Args, Flag } from "./command.js";
import { CliError, EXIT, usageError } from "./failure.js";
import { dataFolder, privateFolder } from "./folders.js";
import type { Io } from "./io.js";
import { readTextFile, requirePrivate, writeOwnFile } from "./private-file.js";

/** The flag of every command that works on the service's database. */
export const DATABASE_FLAG = {
  db: {
    type: "string",
    value: "<file>",
    describe: "the service's database; the user's own by default",
    completes: "file",
  },
} as const satisfies Record<string, Flag>;

/** The flags that say what a database is filled with. */
export const SEED_FLAGS = {
  seed: {
    type: "string",
    value: "<n|file>",
    describe: "the number of a made-up state, 42 by default, or a fixture in YAML",
    completes: "file",
  },
  users: {
    type: "number",
    value: "<n>",
    range: [1, 999_999_999],
    describe: "how many users a made-up state has; 250 by default",
  },
} as const satisfies Record<string, Flag>;

/** The database a command line means; the folder of the user's own is made if it is not there. */
export function databaseFile(io: Io, args: Args): string {
  return args.text("db") ?? join(privateFolder(join(dataFolder(io), "service")), "service.db");
}

/** What a database is filled with, from the flags. */
export async function sourceOf(args: Args): Promise<Pick<ServiceOptions, "seed" | "users" | "fixture">> {
  const [seed, users] = [args.text("seed"), args.number("users")];
  if (seed === undefined || /^[0-9]{1,15}$/.test(seed)) return { seed: Number(seed ?? 42), users };
  if (users !== undefined)
    throw usageError("--users belongs to a number of a made-up state, not to a fixture.");
  await readTextFile(seed);
  return { fixture: await onDatabase(() => readFixture(seed)) };
}

/** The file of the client's secret, beside the database. */
export function clientSecretFile(db: string): string {
  return `${db}.client-secret`;
}

/** The client's secret; a new one where there is none yet. */
export async function clientSecret(db: string): Promise<string> {
  const file = clientSecretFile(db);
  if (!existsSync(file)) await writeOwnFile(file, `${generateSecret()}\n`);
  return readClientSecret(file);
}

/** A client secret from a private file. */
export async function readClientSecret(file: string): Promise<string> {
  requirePrivate(file);
  return (await readTextFile(file)).replace(/\r?\n$/, "");
}

/** The bucket that the environment names for the files of paper secrets. */
export function bucketOf({ env }: Io): S3Options | undefined {
  const { HOOKPROOF_S3_ENDPOINT: endpoint, HOOKPROOF_S3_BUCKET: bucket, AWS_REGION: region } = env;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!endpoint && !bucket) return undefined;
  if (endpoint && bucket && accessKeyId && secretAccessKey)
    return { endpoint, bucket, region: region || undefined, accessKeyId, secretAccessKey };
  throw usageError(
    "A bucket needs HOOKPROOF_S3_ENDPOINT, HOOKPROOF_S3_BUCKET, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
  );
}

/** Works on a database, or says in words why it cannot. */
export async function onDatabase<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof CliError) throw error;
    const { code, message, name } = error as NodeJS.ErrnoException;
    if (error instanceof StateError)
      throw new CliError(EXIT.setup, error.code, message, {
        hint:
          error.code === "DATABASE_NOT_EMPTY"
            ? "--replace loses it; hookproof service reset goes back to what it was filled with."
            : "hookproof service start makes one.",
      });
    if (code === "FILE_MODE_TOO_WIDE") {
      const { file } = error as Error & { file?: unknown };
      throw new CliError(EXIT.setup, code, message, { hint: `chmod 600 ${file}` });
    }
    if (error instanceof FixtureError) throw new CliError(EXIT.usage, error.code, message);
    if (name === "ApiError") throw new CliError(EXIT.usage, "FIXTURE_INVALID", message);
    const isFile = ["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EROFS", "EPERM"].includes(code ?? "");
    if (isFile || message.includes("cannot be opened as the service's database"))
      throw new CliError(EXIT.setup, "DATABASE_UNUSABLE", `The database cannot be used: ${message}.`);
    throw error;
  }
}
