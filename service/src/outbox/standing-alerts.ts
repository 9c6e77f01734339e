// Which alerts would stand for an outbox, by what its page reads anyway.
import type { OutboxAlert, OutboxWatch } from "hookproof/alerts";
import type { ListenerStats } from "hookproof/outbox";
import type { AlertView } from "./contract.js";

/** Which alerts would stand, with the thresholds that `watchOutbox` has by default. */
interface StandingAlerts {
  /** Looks at what was just read; reads nothing itself. */
  after(stats: readonly ListenerStats[]): Promise<readonly AlertView[]>;
}

/** The page asks; nothing looks in between. */
const NEVER_BY_ITSELF_MS = 2 ** 31 - 1;

/** Begins with no alert. */
export function standingAlerts(): StandingAlerts {
  const standing = new Map<string, AlertView>();
  let latest: readonly ListenerStats[] = [];
  let watch: OutboxWatch | undefined;

  function onAlert({ kind, listener, state, at }: OutboxAlert): void {
    const name = JSON.stringify([kind, listener]);
    if (state === "ended") standing.delete(name);
    else standing.set(name, { kind, at, ...(listener === undefined ? {} : { listener }) });
  }

  return {
    async after(stats) {
      latest = stats;
      // Loaded with the first page, so that a start without one reads less.
      const { watchOutbox } = await import("hookproof/alerts");
      watch ??= watchOutbox({ stats: async () => latest }, { onAlert, everyMs: NEVER_BY_ITSELF_MS });
      await watch.look();
      return [...standing.values()];
    },
  };
}
