// Refuses files that others can read.
import { statSync } from "node:fs";

/** A file with secrets in it that other users of the machine can read. */
class FileModeError extends Error {
  override readonly name = "FileModeError";
  readonly code = "FILE_MODE_TOO_WIDE";
  readonly file: string;

  constructor(file: string) {
    super(`${file} can be read by others.`);
    this.file = file;
  }
}

/**
 * Refuses files that others can read; one that is not there is none of them.
 *
 * @throws {FileModeError}
 */
export function requirePrivate(...files: string[]): void {
  if (process.platform === "win32") return;
  for (const file of files) {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() && (stats.mode & 0o077) !== 0) throw new FileModeError(file);
  }
}
