import { setTimeout as wait } from "node:timers/promises";
import type { ReceiverAnswer } from "hookproof/receiver";
import type { ForcedAnswer } from "./contract.js";

/** The answers that somebody asked for from the page. */
export interface ForcedAnswers {
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
  const closing = new AbortController();

  function use(listenerId: string): ForcedAnswer | undefined {
    const forced = byListener.get(listenerId);
    if (!forced) return undefined;
    const times = (forced.times ?? 1) - 1;
    if (times > 0) byListener.set(listenerId, { ...forced, times });
    else byListener.delete(listenerId);
    onChange();
    return forced;
  }

  return {
    get current() {
      return [...byListener.values()];
    },
    set(answer) {
      byListener.set(answer.listenerId, answer);
      onChange();
    },
    remove(listenerId) {
      if (byListener.delete(listenerId)) onChange();
    },
    async apply(listenerId, answer) {
      const forced = use(listenerId);
      if (!forced) return answer;
      const { delayMs = 0, status, retryAfterSeconds } = forced;
      if (delayMs > 0) await wait(delayMs, undefined, { signal: closing.signal }).catch(() => {});
      const headers = answer.headers.filter(
        ([name]) => retryAfterSeconds === undefined || name !== "Retry-After",
      );
      return {
        ...answer,
        headers:
          retryAfterSeconds === undefined
            ? headers
            : [...headers, ["Retry-After", String(retryAfterSeconds)]],
        ...(status === undefined ? {} : { status, body: bodyFor(status) }),
      };
    },
    close: () => closing.abort(),
  };
}

function bodyFor(status: number): string {
  if (status < 300) return "{}";
  return JSON.stringify({ code: "ANSWER_FORCED", message: "The inspector was asked for this answer." });
}
