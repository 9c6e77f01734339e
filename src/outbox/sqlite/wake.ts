import { preparedQueries, type SqliteDatabase } from "./sqlite-database.js";

/** Tells of new work: at once of what this process does, and soon of what other connections commit. */
export interface Waker {
  subscribe(wake: () => void): () => void;
  /** Calls back once this turn of the event loop is over, and with it a transaction of the caller's. */
  wakeSoon(): void;
  stop(): void;
}

/**
 * @param pollMs how often it asks whether another connection has written, which costs a few microseconds
 * @param checkFile throws if the file was deleted or replaced
 */
export function createWaker(
  db: SqliteDatabase,
  { pollMs, checkFile }: { pollMs: number; checkFile: () => void },
): Waker {
  const ask = preparedQueries(db, { version: "PRAGMA data_version" });
  const wakes = new Set<() => void>();
  let seen: number | undefined;
  let isDue = false;
  let timer: ReturnType<typeof setInterval> | undefined;

  /** Undefined when it cannot be read; whoever is woken then meets the same failure, and can tell of it. */
  function versionNow(): number | undefined {
    try {
      checkFile();
      return ask<{ data_version: number }>("version")[0]?.data_version;
    } catch {
      return undefined;
    }
  }

  const wakeAll = () => {
    isDue = false;
    for (const wake of wakes) wake();
  };
  const look = () => {
    const version = versionNow();
    if (version !== undefined && version === seen) return;
    seen = version;
    wakeAll();
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    subscribe(wake) {
      wakes.add(wake);
      timer ??= setInterval(look, pollMs);
      timer.unref?.();
      return () => {
        wakes.delete(wake);
        if (wakes.size === 0) stop();
      };
    },
    wakeSoon() {
      if (isDue || wakes.size === 0) return;
      isDue = true;
      setImmediate(wakeAll);
    },
    stop,
  };
}
