// The answers that somebody asked for from the page.
import { setTimeout as wait } from "node:timers/promises";
import type { ReceiverAnswer } from "hookproof/receiver";
import type { ForcedAnswer } from "./contract.js";

interface ForcedAnswers {
  readonly current: readonly ForcedAnswer[];
  set(answer: ForcedAnswer): void;
  remove(listenerId: string): void;
  /** The answer as it is to be sent: forced, or as it was decided. */
  apply(listenerId: string, answer: ReceiverAnswer): Promise<ReceiverAnswer>;
  /** Ends every wait that is under way. */
  close(): void;
}

/** Forced answers, one for each listener; `onChange` is told when they are set, used and used up. */
export function forcedAnswers(onChange: () => void): ForcedAnswers {
  const byListener = new Map<string, ForcedAnswer>();
  const timers = new Map<string, NodeJS.Timeout>();
  const closing = new AbortController();

  function remove(listenerId: string): void {
    clearTimeout(timers.get(listenerId));
    if (byListener.delete(listenerId)) onChange();
  }

  function use(listenerId: string): ForcedAnswer | undefined {
    const forced = byListener.get(listenerId);
    if (forced?.times === undefined) return forced;
    const times = forced.times - 1;
    if (times === 0) remove(listenerId);
    else {
      byListener.set(listenerId, { ...forced, times });
      onChange();
    }
    return forced;
  }

  return {
    get current() {
      return [...byListener.values()];
    },
    set({ listenerId, seconds, times = seconds === undefined ? 1 : undefined, ...answer }) {
      clearTimeout(timers.get(listenerId));
      if (seconds !== undefined)
        timers.set(listenerId, setTimeout(remove, seconds * 1000, listenerId).unref());
      byListener.set(listenerId, {
        ...answer,
        listenerId,
        ...(times === undefined ? {} : { times }),
        ...(seconds === undefined ? {} : { seconds, until: Date.now() + seconds * 1000 }),
      });
      onChange();
    },
    remove,
    async apply(listenerId, answer) {
      const forced = use(listenerId);
      if (!forced) return answer;
      const { delayMs = 0 } = forced;
      if (delayMs > 0) await wait(delayMs, undefined, { signal: closing.signal }).catch(() => {});
      return changed(answer, forced);
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer);
      closing.abort();
    },
  };
}

/** An answer with what was forced in place of what was decided. */
function changed(
  answer: ReceiverAnswer,
  { status, body, headers = [], retryAfterSeconds }: ForcedAnswer,
): ReceiverAnswer {
  const own = [
    ...headers,
    ...(retryAfterSeconds === undefined ? [] : [["Retry-After", String(retryAfterSeconds)] as const]),
  ];
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  const text = body ?? (status === undefined ? undefined : bodyFor(status));
  return {
    ...answer,
    headers: [...answer.headers.filter(([name]) => !names.has(name.toLowerCase())), ...own],
    ...(status === undefined ? {} : { status }),
    ...(text === undefined ? {} : { body: text }),
  };
}

function bodyFor(status: number): string {
  if (status < 300) return "{}";
  return JSON.stringify({ code: "ANSWER_FORCED", message: "The inspector was asked for this answer." });
}
