import { fixedClock } from "hookproof/testing";

/** A clock that stands still, and waits that end when it is moved far enough. */
export function steppedClock(time: number | string = "2026-01-01T00:00:00Z") {
  const clock = fixedClock(time);
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    now: clock.now,
    monotonic: clock.monotonic,
    /** Puts the time of day forward or back; no time passes, and no wait ends. */
    adjust: clock.adjust,
    /** Lets time pass, and returns whether a wait has ended. */
    advance(ms: number): boolean {
      clock.advance(ms);
      const due = [...sleepers].filter(({ until }) => until <= clock.monotonic());
      for (const one of due) one.wake();
      return due.length > 0;
    },
    wait: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        const one = {
          until: clock.monotonic() + ms,
          wake() {
            sleepers.delete(one);
            signal?.removeEventListener("abort", one.wake);
            resolve();
          },
        };
        sleepers.add(one);
        signal?.addEventListener("abort", one.wake, { once: true });
        if (signal?.aborted || ms <= 0) one.wake();
      }),
  };
}

export type SteppedClock = ReturnType<typeof steppedClock>;
