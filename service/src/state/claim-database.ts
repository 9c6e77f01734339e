// Makes the file of a database, and takes it back where the start fails.
import { closeSync, existsSync, openSync, rmSync } from "node:fs";

/** What lies next to a database: SQLite's own files, the identity of its texts, the files of its secrets. */
const BESIDE = ["", "-wal", "-shm", ".identity", ".objects", ".running"];

/**
 * Makes a database's file if it is not there; gives what takes back everything that was made, for a start that fails.
 * Of several processes that start at once, only the one that made the file takes it back.
 */
export function claimDatabase(db: string | undefined): () => void {
  if (db === undefined) return () => {};
  const before = new Set(BESIDE.filter((ending) => existsSync(db + ending)));
  try {
    closeSync(openSync(db, "wx", 0o600));
  } catch {
    // It is there, or cannot be made: opening it says what is wrong.
    return () => {};
  }
  return () => {
    for (const ending of BESIDE)
      if (!before.has(ending)) rmSync(db + ending, { recursive: true, force: true });
  };
}
