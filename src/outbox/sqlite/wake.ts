import { preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";

/** Wakes the dispatcher for new work: at once for work of this process, soon for commits of other connections. */
export interface Waker {
  subscribe(wake: () => void): () => void;
  /** Wakes after this turn of the event loop, when a synchronous transaction of the caller has ended. */
  wakeSoon(): void;
  stop(): void;
}

/**
 * @param pollMs how often it asks whether another connection has written, which takes a few microseconds
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

  /** `undefined` if it cannot be read. The dispatcher, once awake, meets the same error and reports it. */
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
