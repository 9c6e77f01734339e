import { type Stats, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { secretWarnings } from "hookproof";
import { CliError, EXIT, usageError } from "./failure.js";
import { type Io, readStdin } from "./io.js";
import type { Output } from "./output.js";

/** Refuses a file with a secret in it that others can read. */
export function requirePrivate(path: string): void {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch {
    throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${path} cannot be read.`);
  }
  if (process.platform === "win32" || !stats.isFile() || (stats.mode & 0o077) === 0) return;
  throw new CliError(EXIT.setup, "FILE_MODE_TOO_WIDE", `${path} can be read by others.`, {
    hint: `chmod 600 ${path}`,
  });
}

/** A text file, or a refusal that says which one. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${path} cannot be read.`);
  }
}

/** The secrets that `--secret-file` (several during a rotation) or HOOKPROOF_SECRET give; empty when neither does. */
export async function givenSecrets(io: Io, out: Output, files: readonly string[]): Promise<string[]> {
  if (files.filter((file) => file === "-").length > 1)
    throw usageError("--secret-file - can be given once: there is one standard input.");
  const secrets: string[] = [];
  for (const file of files) secrets.push(await readSecret(io, file));
  if (secrets.length === 0 && io.env.HOOKPROOF_SECRET) secrets.push(io.env.HOOKPROOF_SECRET);
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
