import { statSync } from "node:fs";
import { HookproofError, messageOf } from "../errors.js";
import type { SqliteDatabase } from "./sqlite-database.js";

/**
 * Tells a file that was deleted or replaced: SQLite goes on with the old one, which nobody finds any more, and what
 * was acknowledged would be gone with this process. To be called with an open connection; what it gives throws
 * OUTBOX_UNAVAILABLE while another file, or none, has the file's name.
 */
export function watchFile(db: SqliteDatabase): () => void {
  const files = db.prepare("PRAGMA database_list").all() as { name: string; file: string | null }[];
  const file = files.find(({ name }) => name === "main")?.file;
  if (!file) return () => {};
  const opened = identityOf(file);
  return () => {
    const now = identityOf(file);
    if (now !== undefined && now === opened) return;
    const words = `The file was ${now === undefined ? "deleted" : "replaced"} while it was open: ${file}`;
    throw new HookproofError("OUTBOX_UNAVAILABLE", `${messageOf("OUTBOX_UNAVAILABLE")} ${words}`);
  };
}

/** What names a file whatever it is called; `undefined` where there is none. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}
