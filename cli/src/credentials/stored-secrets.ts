// Keeps signing secrets of profiles in private files.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type GivenFlags, nextStep } from "../config/next-step.js";
import { CliError, EXIT } from "../failure.js";
import { dataFolder, requireOwned, requirePrivate, writePrivateFile } from "../files/files.js";
import type { Io } from "../io.js";
import { sessionPorts } from "../serve/sessions.js";

/** The owner of a stored secret: a profile of the user, or one of a project's configuration file. */
export interface SecretOwner {
  readonly profile: string;
  /** The project's file, by its real path; undefined for the user's own profiles. */
  readonly project?: string | undefined;
}

/** The stored secrets of a profile. */
export interface StoredSecrets {
  /** The newest first. */
  readonly secrets: readonly string[];
  /** Scheme, host and port that may be signed for; undefined where none was known when it was stored. */
  readonly origin: string | undefined;
}

/** A profile's secret is in the user's data folder, separate for each project, readable by its owner only. */
function secretPath(io: Io, { profile, project }: SecretOwner): string {
  const folder = join(dataFolder(io), "secrets");
  if (project === undefined) return join(folder, `${profile}.json`);
  const name = createHash("sha256").update(project).digest("hex").slice(0, 32);
  return join(folder, "projects", name, `${profile}.json`);
}

/** Whether a secret is stored for a profile. */
export function hasStoredSecret(io: Io, owner: SecretOwner): boolean {
  try {
    return existsSync(secretPath(io, owner));
  } catch {
    return false;
  }
}

/** The stored secrets of a profile; undefined when there is none. */
export function storedSecrets(io: Io, args: GivenFlags, owner: SecretOwner): StoredSecrets | undefined {
  let path: string;
  let text: string;
  try {
    path = secretPath(io, owner);
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "HOME_MISSING") return undefined;
    throw new CliError(
      EXIT.setup,
      "SECRET_STORE_INVALID",
      `The secret of profile ${owner.profile} cannot be read.`,
    );
  }
  const top = resolve(dataFolder(io));
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    requireOwned(folder);
    if (folder === top || folder === dirname(folder)) break;
  }
  requirePrivate(path);
  const stored = parsed(text);
  if (stored) return stored;
  throw new CliError(EXIT.setup, "SECRET_STORE_INVALID", `${path} is not a stored secret.`, {
    hint: `Write it again with: ${nextStep(args, `hookproof secret set --profile ${owner.profile}`)}`,
  });
}

function parsed(text: string): StoredSecrets | undefined {
  try {
    const { v, secrets, origin } = JSON.parse(text) as { v?: unknown; secrets?: unknown; origin?: unknown };
    const isRight =
      v === 1 &&
      Array.isArray(secrets) &&
      secrets.length > 0 &&
      secrets.every((secret) => typeof secret === "string" && secret);
    if (!isRight || !(origin === undefined || typeof origin === "string")) return undefined;
    return { secrets, origin };
  } catch {
    return undefined;
  }
}

/** Stores the secrets of a profile, and the origin that they may sign for. */
export async function storeSecrets(
  io: Io,
  owner: SecretOwner,
  { secrets, origin }: StoredSecrets,
): Promise<void> {
  const { project } = owner;
  const document = { v: 1, secrets, ...(origin ? { origin } : {}), ...(project ? { project } : {}) };
  await writePrivateFile(secretPath(io, owner), `${JSON.stringify(document)}\n`);
}

/** Removes the stored secrets of a profile. */
export function removeSecrets(io: Io, owner: SecretOwner): void {
  rmSync(secretPath(io, owner), { force: true });
}

/** The stored secrets of a profile, or a refusal that says how to store one. */
export function requireStored(io: Io, args: GivenFlags, owner: SecretOwner): StoredSecrets {
  const stored = storedSecrets(io, args, owner);
  if (stored) return stored;
  const making = ["set", "generate"]
    .map((verb) => nextStep(args, `hookproof secret ${verb} --profile ${owner.profile}`))
    .join(", or: ");
  throw new CliError(EXIT.setup, "SECRET_MISSING", `${ownerInWords(owner)} has no stored secret.`, {
    hint:
      sessionPorts(io).length === 0
        ? making
        : `${making}. A local listener has a secret of its own, which hookproof listen --write-secret <file> writes down.`,
  });
}

/** The owner of a secret, to begin a sentence with. */
function ownerInWords({ profile, project }: SecretOwner): string {
  return project === undefined ? `Profile ${profile}` : `Profile ${profile} of ${project}`;
}

/** Where a stored secret came from, in words: `profile staging, for https://tenant.example.com`. */
export function ownerInShort({ profile }: SecretOwner, origin: string | undefined): string {
  return `profile ${profile}, for ${origin ?? "no target yet"}`;
}
