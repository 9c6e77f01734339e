// Workers and their last signs of life in the memory store.
import { MAX_WORKERS, WORKER_KEPT_MS } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";

type SeenWorker = Awaited<ReturnType<OutboxStore["workers"]>>[number];

/** The workers that were seen and not stopped. */
export class MemoryWorkers {
  readonly #seen = new Map<string, Omit<SeenWorker, "silentMs">>();

  alive(
    { id, name, runsForMs }: Parameters<OutboxStore["alive"]>[0],
    isGone: boolean | undefined,
    now: number,
  ): void {
    for (const one of this.#seen.values())
      if (one.lastSeenAt < now - WORKER_KEPT_MS) this.#seen.delete(one.id);
    if (isGone) this.#seen.delete(id);
    else this.#seen.set(id, { id, name, startedAt: now - Math.round(runsForMs), lastSeenAt: now });
  }

  all(now: number): SeenWorker[] {
    return [...this.#seen.values()]
      .sort((a, b) => b.lastSeenAt - a.lastSeenAt)
      .slice(0, MAX_WORKERS)
      .map((one) => ({ ...one, silentMs: now - one.lastSeenAt }));
  }

  /** Follows a clock that was last seen at `seenAt` and was put back to `now`. */
  followClock(seenAt: number, now: number): void {
    const backMs = seenAt - now;
    for (const { startedAt, lastSeenAt, ...one } of this.#seen.values())
      if (lastSeenAt > now)
        this.#seen.set(one.id, {
          ...one,
          startedAt: startedAt - backMs,
          lastSeenAt: Math.min(now, lastSeenAt - backMs),
        });
  }
}
