import { fixedClock } from "hookproof/testing";

/** A clock that stands still, and waits that end when it is moved far enough. */
export function steppedClock(time: number | string = "2026-01-01T00:00:00Z") {
  const clock = fixedClock(time);
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    now: clock.now,
    advance(ms: number) {
      clock.advance(ms);
      for (const one of sleepers) if (one.until <= clock.now()) one.wake();
    },
    wait: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        const one = {
          until: clock.now() + ms,
          wake() {
            sleepers.delete(one);
            signal?.removeEventListener("abort", one.wake);
            resolve();
          },
        };
        sleepers.add(one);
        signal?.addEventListener("abort", one.wake, { once: true });
        if (signal?.aborted) one.wake();
      }),
  };
}

export type SteppedClock = ReturnType<typeof steppedClock>;
