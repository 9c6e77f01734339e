// Clocks, waits, and work that is awaited for a limited time.
import { dropped } from "./options.js";

/** The source of time, everywhere in the library. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Milliseconds since any moment, which only grow, also when the time of day is changed. Durations and waits are
   * measured with it; without it, with `now`.
   */
  monotonic?(): number;
}

/** The clocks of the machine. */
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => Math.floor(performance.now()) };

/** A clock's time for durations; the difference of two is how long something took. */
export function monotonicMs(clock: Clock): number {
  return clock.monotonic ? clock.monotonic() : clock.now();
}

/** The time of day of a caller's clock, or a throw. */
export function timeOf(clock: Clock): number {
  return numberOf(clock.now());
}

/** A caller's clock that gives numbers or throws. */
export function checkedClock(clock: Clock): Clock {
  return {
    now: () => numberOf(clock.now()),
    ...(clock.monotonic ? { monotonic: () => numberOf(clock.monotonic?.()) } : {}),
  };
}

/** A clock that is `async` by mistake gives a promise, which is refused. */
function numberOf(time: unknown): number {
  if (typeof time === "number") return time;
  dropped(time);
  throw new TypeError("a clock must give milliseconds, as a number");
}

/** The whole seconds a `Webhook-Timestamp` and a token's `exp` count in. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(timeOf(clock) / 1000);
}

/** The longest time `setTimeout` can count; past it, it fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Resolves after a time, or as soon as the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
    if (signal?.aborted) done();
  });
}

/** Lets everything else run that is ready: work that never waits for anything would keep the event loop to itself. */
export function nextTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (done: () => void) => unknown }; // not in workerd
  return new Promise((resolve) => {
    if (setImmediate) setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** The caller's own way to sleep; where it fails, ours is used, so that the time passes all the same. */
export function steadySleep(given: typeof sleep | undefined): typeof sleep {
  if (!given) return sleep;
  return async (ms, signal) => {
    try {
      await given(ms, signal);
    } catch {
      await sleep(ms, signal);
    }
  };
}

/**
 * Awaits work for at most `ms` and until the signal aborts; then it rejects with what `late` makes. The work
 * itself goes on, and how it ends is ignored.
 */
export function within<Value>(
  work: PromiseLike<Value>,
  ms: number,
  late: () => Error,
  signal?: AbortSignal,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const settled = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
    const stop = () => {
      settled();
      reject(late());
    };
    const timer = setTimeout(stop, Math.max(0, ms));
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    Promise.resolve(work).then(
      (value) => {
        settled();
        resolve(value);
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
  });
}

/** How long a callback of the application may take that nothing else limits. */
export const CALLBACK_MS = 10_000;

/** Awaits what a caller's function of listeners says of a name, for at most 10 seconds. */
export function lookedUp<Found>(
  lookup: (name: string) => Found | PromiseLike<Found>,
  name: string,
): Promise<Found> {
  return within(
    Promise.resolve(lookup(name)),
    CALLBACK_MS,
    () => new Error(`The look-up took more than ${CALLBACK_MS} ms.`),
  );
}
