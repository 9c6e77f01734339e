import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CliError, EXIT } from "./failure.js";
import { dataFolder, writePrivateFile } from "./folders.js";
import type { Io } from "./io.js";
import { requirePrivate } from "./private-file.js";

/** Where a profile's secret is kept: in the user's data folder, readable by its owner only. */
export function secretPath(io: Io, profile: string): string {
  return join(dataFolder(io), "secrets", `${profile}.json`);
}

/** Whether a secret is stored for a profile. */
export function hasStoredSecret(io: Io, profile: string): boolean {
  try {
    return existsSync(secretPath(io, profile));
  } catch {
    return false;
  }
}

/** The stored secrets of a profile, the newest first; empty when there is none. */
export function storedSecrets(io: Io, profile: string): readonly string[] {
  let path: string;
  let text: string;
  try {
    path = secretPath(io, profile);
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "HOME_MISSING") return [];
    throw new CliError(
      EXIT.setup,
      "SECRET_STORE_INVALID",
      `The secret of profile ${profile} cannot be read.`,
    );
  }
  requirePrivate(path);
  const secrets = parsed(text);
  if (secrets) return secrets;
  throw new CliError(EXIT.setup, "SECRET_STORE_INVALID", `${path} is not a stored secret.`, {
    hint: `Write it again with: hookproof secret set --profile ${profile}`,
  });
}

function parsed(text: string): string[] | undefined {
  try {
    const { v, secrets } = JSON.parse(text) as { v?: unknown; secrets?: unknown };
    return v === 1 &&
      Array.isArray(secrets) &&
      secrets.every((secret) => typeof secret === "string" && secret)
      ? secrets
      : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the secrets of a profile, the newest first. */
export async function storeSecrets(io: Io, profile: string, secrets: readonly string[]): Promise<void> {
  await writePrivateFile(secretPath(io, profile), `${JSON.stringify({ v: 1, secrets })}\n`);
}

/** Forgets the secrets of a profile. */
export function removeSecrets(io: Io, profile: string): void {
  rmSync(secretPath(io, profile), { force: true });
}

/** The stored secrets of a profile, or a refusal that says how to store one. */
export function requireStored(io: Io, profile: string): readonly string[] {
  const secrets = storedSecrets(io, profile);
  if (secrets.length > 0) return secrets;
  throw new CliError(EXIT.setup, "SECRET_MISSING", `Profile ${profile} has no stored secret.`, {
    hint: `hookproof secret set --profile ${profile}, or: hookproof secret generate --profile ${profile}`,
  });
}
