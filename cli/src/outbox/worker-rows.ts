// The workers of an outbox in words: when each was last seen.
import type { OutboxStore } from "hookproof/outbox/store";
import { exactTime, shownAge, shownTime } from "../times.js";

type SeenWorkers = Awaited<ReturnType<OutboxStore["workers"]>>;

/** A worker says each 10 seconds that it is alive; one that has not for so long stands out. */
const SILENT_MS = 60_000;

/** The workers, where they may be read: a role may lack the right to read them, and sees what waits all the same. */
export async function seenWorkers(store: OutboxStore): Promise<SeenWorkers | undefined> {
  return store.workers().catch(() => undefined);
}

/** What programs are told of a worker. */
export function workerFields(worker: SeenWorkers[number]): Record<string, unknown> {
  const { name, startedAt, lastSeenAt, silentMs } = worker;
  return { name, startedAt: exactTime(startedAt), lastSeenAt: exactTime(lastSeenAt), silentMs };
}

/** Name, start and last sign, as the cells of a table. */
export function workerRow({ name, startedAt, silentMs }: SeenWorkers[number]): string[] {
  return [name, shownTime(startedAt), lastSign(silentMs)];
}

/** A time ahead of the store's clock is of before that was put back, and no worker has followed it. */
function lastSign(silentMs: number): string {
  if (silentMs <= -SILENT_MS) return "not seen since the clock was put back";
  const age = shownAge(Math.max(0, silentMs));
  return silentMs < SILENT_MS ? `${age} ago` : `not seen for ${age}`;
}
