import type { BossDatabase } from "./pg-boss-database.js";

const TRY_AGAIN_MS = 5_000;

/**
 * Listens for notifications of new work, which only make it come sooner. Where there is no listening, as behind
 * some connection poolers, workers find it by asking.
 */
export function listenForWork(database: BossDatabase, channel: string, wake: () => void): () => void {
  let stopped = false;
  let close: (() => unknown) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function listen(): Promise<void> {
    try {
      const handle = await database.listen?.(channel, wake, wake);
      if (stopped) await handle?.close();
      else close = () => handle?.close();
    } catch {
      if (!stopped) timer = setTimeout(listen, TRY_AGAIN_MS);
    }
  }

  void listen();
  return () => {
    stopped = true;
    clearTimeout(timer);
    close?.();
  };
}
