import { HookproofError } from "../errors.js";

/** The longest time `setTimeout` can count; past it, it fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Resolves after a time, or as soon as the signal aborts. */
export function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
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

/** Somebody else's work, which may take this long and no longer. */
export async function within<Value>(
  work: PromiseLike<Value>,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<Value> {
  const limit = new AbortController();
  const stop = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
  const ended = waitFor(ms, stop).then(() => {
    if (signal?.aborted) throw new HookproofError("ABORTED", "The caller aborted before anything was sent.");
    throw new HookproofError("TIMED_OUT", `No signature within ${Math.ceil(ms)} ms.`);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    ended.catch(() => {}); // the race has been decided
    limit.abort();
  }
}

/** A caller's own wait; where it fails, the time passes all the same. */
export function steadyWait(wait: typeof waitFor | undefined): typeof waitFor {
  if (!wait) return waitFor;
  return async (ms, signal) => {
    try {
      await wait(ms, signal);
    } catch {
      await waitFor(ms, signal);
    }
  };
}
