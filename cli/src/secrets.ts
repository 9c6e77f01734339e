import { resolve } from "node:path";
import { secretWarnings } from "hookproof";
import type { Context } from "./command.js";
import { SETTINGS } from "./config/settings.js";
import { CliError, EXIT, usageError } from "./failure.js";
import type { CredentialReference } from "./history-record.js";
import { type Io, readStdin } from "./io.js";
import type { Output } from "./output.js";
import { readTextFile, requirePrivate } from "./private-file.js";
import { storedSecrets } from "./stored-secrets.js";

/** Signing secrets and where they came from. */
export interface FoundSecrets {
  readonly secrets: readonly string[];
  readonly credential: CredentialReference;
}

/**
 * The secrets of a command: flag, environment, then `local` (a local listener's own), the profile's files, and
 * the profile's stored secret; undefined when there is none.
 */
export async function findSecrets(
  { args, io, out, config }: Pick<Context, "args" | "io" | "out" | "config">,
  local?: FoundSecrets,
): Promise<FoundSecrets | undefined> {
  const files = config.find("secretFiles");
  const fromFiles = async () => ({
    secrets: await readSecrets(io, out, config.texts("secretFiles")),
    credential: { kind: "secret-files", files: config.texts("secretFiles").map(absolute) } as const,
  });
  if (args.isGiven("secret-file")) return fromFiles();
  if (io.env.HOOKPROOF_SECRET) {
    for (const warning of secretWarnings(io.env.HOOKPROOF_SECRET)) out.warn(warning);
    return { secrets: [io.env.HOOKPROOF_SECRET], credential: { kind: "environment" } };
  }
  if (files?.origin === SETTINGS.secretFiles.env) return fromFiles();
  if (local) return local;
  if (files) return fromFiles();
  const { name } = config.profile;
  const stored = storedSecrets(io, name);
  return stored.length === 0
    ? undefined
    : { secrets: stored, credential: { kind: "profile", profile: name } };
}

function absolute(file: string): string {
  return file === "-" ? file : resolve(file);
}

/** The secrets in files; `-` is standard input. */
export async function readSecrets(io: Io, out: Output, files: readonly string[]): Promise<string[]> {
  if (files.filter((file) => file === "-").length > 1)
    throw usageError("--secret-file - can be given once: there is one standard input.");
  const secrets: string[] = [];
  for (const file of files) secrets.push(await readSecret(io, file));
  for (const warning of secrets.flatMap(secretWarnings)) out.warn(warning);
  return secrets;
}

async function readSecret(io: Io, file: string): Promise<string> {
  if (file !== "-") requirePrivate(file);
  const text = file === "-" ? (await readStdin(io)).toString("utf8") : await readTextFile(file);
  // Editors and echo end a file with one newline; anything further would be part of the key.
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "")
    throw new CliError(
      EXIT.setup,
      "SECRET_INVALID",
      `The secret in ${file === "-" ? "standard input" : file} is empty.`,
    );
  return secret;
}
