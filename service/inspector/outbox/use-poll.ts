// Reads again and again while the page is in sight.
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError } from "../live/call.js";

/** What was read last, and what is wrong with reading. */
interface Polled<Value> {
  readonly value?: Value;
  /** Why the last reading failed; `locked` without the token of this run of the server. */
  readonly problem?: string;
  readonly locked?: true;
  again(): void;
}

/** Reads again and again, as long as the page is in sight. */
export function usePoll<Value>(read: () => Promise<Value>, everyMs: number): Polled<Value> {
  const [state, setState] = useState<Omit<Polled<Value>, "again">>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const next = async () => {
      if (!document.hidden)
        try {
          const value = await read();
          if (!isOver) setState({ value });
        } catch (error) {
          if (!isOver)
            setState(({ value }) => ({ ...(value === undefined ? {} : { value }), ...failed(error) }));
        }
      if (!isOver) timer = setTimeout(next, everyMs);
    };
    void next();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [read, everyMs, round]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, again };
}

function failed(error: unknown): { problem: string; locked?: true } {
  if (!(error instanceof ApiError)) return { problem: "server gone, trying again" };
  return error.status === 403
    ? { problem: error.message, locked: true }
    : { problem: "the outbox cannot be read, trying again" };
}
