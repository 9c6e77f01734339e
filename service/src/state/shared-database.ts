// Tells whether another service runs over the same database.
import { closeSync, openSync, realpathSync, rmSync } from "node:fs";
import { openSqlite } from "hookproof/node";

/** A mark on a database for as long as a service runs over it. */
interface Mark {
  /** Whether another service had its mark there, in this process or in another one. */
  readonly isShared: boolean;
  remove(): void;
}

const NO_MARK: Mark = { isShared: false, remove() {} };

/**
 * Marks a database as one that a service runs over. The mark is a lock on a file next to it, which the system takes away
 * with the process, however that ends.
 */
export function markDatabase(db: string | undefined): Mark {
  if (db === undefined || db === ":memory:") return NO_MARK;
  let driver: ReturnType<typeof openSqlite> | undefined;
  try {
    const file = `${realpathSync(db)}.running`;
    makeFile(file);
    const lock = openSqlite(file, { from: import.meta.url });
    driver = lock;
    const isShared = !isAlone(lock);
    // What everybody has at the same time; whoever comes next finds that it is not alone.
    lock.exec("PRAGMA busy_timeout = 1000");
    lock.exec("BEGIN");
    lock.prepare("SELECT count(*) FROM sqlite_master").all();
    return {
      isShared,
      remove() {
        lock.exec("ROLLBACK");
        if (isAlone(lock)) rmSync(file, { force: true });
        lock.close();
      },
    };
  } catch {
    // A folder that takes no file: the service runs all the same, and nothing is known.
    driver?.close();
    return NO_MARK;
  }
}

/** Makes the file if it is missing. One that is there is not opened here: closing it would take this process's locks away. */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Whether nobody else holds the file. */
function isAlone(lock: ReturnType<typeof openSqlite>): boolean {
  try {
    lock.exec("PRAGMA busy_timeout = 0");
    lock.exec("BEGIN EXCLUSIVE");
    lock.exec("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}
