// Opens what paper secrets need: identity, vault and object store.
import { createHash, randomBytes } from "node:crypto";
import { link, rm, writeFile } from "node:fs/promises";
import type { Clock } from "hookproof";
import { createLocalObjects, type LocalObjects } from "../storage/local-objects.js";
import { readOwnFile } from "../storage/private-file.js";
import { createS3Objects, type S3Options } from "../storage/s3-objects.js";
import type { SecretVault } from "./age.js";
import type { SecretTools } from "./create-secret.js";

/** Where paper secrets are kept. */
interface SecretsOptions {
  /** The database's file; next to it are the identity that its texts are encrypted to, and the folder of files. */
  db?: string | undefined;
  /** Keeps files in a bucket instead. */
  s3?: S3Options | undefined;
  clock: Clock;
  /** The address of the download route. */
  downloadsAt: () => string;
}

/** The file of an identity, and a hash that tells it from others; undefined where there is no file. */
export type IdentityFile = () => { readonly file: string; readonly fingerprint: string | undefined };

/** Opens what paper secrets need; `downloads` is the store whose files this service hands out itself. */
export function openSecrets({
  db,
  s3,
  clock,
  downloadsAt,
}: SecretsOptions): SecretTools & { downloads: LocalObjects | undefined; identity: IdentityFile } {
  // Here, as the vault is opened when it is first used: a request is too late to learn of it.
  if (db !== undefined) readOwnFile(identityOf(db));
  const vault = lazyVault(db);
  const identity = () => fingerprintOf(db);
  if (s3) return { vault, objects: createS3Objects(s3, clock), downloads: undefined, identity };
  const folder = db === undefined ? undefined : `${db}.objects`;
  const objects = createLocalObjects({ folder, downloadsAt, clock });
  return { vault, objects, downloads: objects, identity };
}

/** A vault that is opened when it is first used: its cryptography takes longer to load than the service to start. */
function lazyVault(db: string | undefined): SecretVault {
  let opened: Promise<SecretVault> | undefined;
  const vault = () => {
    opened ??= import("./age.js").then(async ({ newIdentity, openVault }) =>
      openVault(db === undefined ? await newIdentity() : await identityBeside(db, newIdentity)),
    );
    return opened;
  };
  return {
    isRecipient: async (text) => (await vault()).isRecipient(text),
    seal: async (text) => (await vault()).seal(text),
    open: async (stored) => (await vault()).open(stored),
    sealFor: async (recipient, stored) => (await vault()).sealFor(recipient, stored),
  };
}

function fingerprintOf(db: string | undefined): ReturnType<IdentityFile> {
  if (db === undefined) return { file: "", fingerprint: undefined };
  const file = identityOf(db);
  const text = readOwnFile(file);
  return { file, fingerprint: text && createHash("sha256").update(text.trim()).digest("base64url") };
}

function identityOf(db: string): string {
  return `${db}.identity`;
}

/** The identity of a database, in a file of its own: whoever gets the database alone cannot read its texts. */
async function identityBeside(db: string, newIdentity: () => Promise<string>): Promise<string> {
  const file = identityOf(db);
  const known = readOwnFile(file);
  if (known !== undefined) return known.trim();
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  await writeFile(temporary, `${await newIdentity()}\n`, { mode: 0o600, flag: "wx" });
  try {
    // Of two processes that start at once, both use the file that was there first.
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(temporary);
  }
  return (readOwnFile(file) ?? "").trim();
}
