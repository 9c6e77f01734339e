// Looks for the mistakes behind refusals, one at a time.
import { setTimeout as wait } from "node:timers/promises";
import type { Mistake } from "hookproof/diagnose";
import type { Entry } from "./entry.js";
import { statusOfVerdict } from "./reason.js";
import type { WatchedListener } from "./watched-listener.js";

/** Looks for the mistakes behind refusals, one at a time and next to the requests. */
interface Diagnoses {
  /**
   * Looks when there is time; a burst of refusals is looked at in part. `isHidden` says that the entry that is kept
   * has something hidden which this one shows.
   */
  queue(entry: Entry, isHidden: boolean): void;
  /** Looks now. */
  mistakesIn(entry: Entry): Promise<readonly Mistake[]>;
}

/** A diagnosis takes some 10 ms of computing: more than these are not worth the listener's time. */
const MAX_WAITING = 50;

/** After a diagnosis there is this many times its duration of rest. */
const REST = 10;

/** Statuses that a mistake in the request itself leads to. */
const EXPLAINED: ReadonlySet<number> = new Set([400, 401, 415]);

/** Diagnoses for the listeners that `listenerOf` knows; `onFound` gets what was looked for. */
export function createDiagnoses(
  listenerOf: (id: string | undefined) => WatchedListener | undefined,
  onFound: (n: number, mistakes: readonly Mistake[]) => void,
): Diagnoses {
  const waiting = new Map<number, Entry>();
  let isRunning = false;

  async function lookAt(entry: Entry): Promise<readonly Mistake[]> {
    const { row, headers, body, target, checks, clockAhead = 0 } = entry;
    const listener = listenerOf(row.listenerId);
    const isWhole = checks.some(({ step, ok }) => step === "size" && ok);
    if (!listener || !isWhole || row.code === undefined || !EXPLAINED.has(statusOfVerdict(row))) return [];
    const request = { method: row.method, url: target, headers, body };
    try {
      return await listener.mistakesIn(request, row.at + clockAhead);
    } catch {
      // A key resolver of somebody else's may throw anything; the request is shown all the same.
      return [];
    }
  }

  async function run(): Promise<void> {
    isRunning = true;
    for (const [n, entry] of waiting) {
      const started = performance.now();
      onFound(n, await lookAt(entry));
      waiting.delete(n);
      // In a storm of refusals the listener gets most of the time.
      await wait(REST * (performance.now() - started), undefined, { ref: false });
    }
    isRunning = false;
  }

  return {
    queue(entry, isHidden) {
      // Later nobody could see any more what was hidden in it, so for those there is more room.
      if (waiting.size >= (isHidden ? 2 * MAX_WAITING : MAX_WAITING)) return;
      waiting.set(entry.row.n, entry);
      if (!isRunning) void run();
    },
    mistakesIn: async (entry) => entry.mistakes ?? lookAt(waiting.get(entry.row.n) ?? entry),
  };
}
