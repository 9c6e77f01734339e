// Gives each piece of work that one signal ends a signal of its own.

const underWay = new WeakMap<AbortSignal, Set<AbortController>>();

/**
 * Runs work with a signal of its own, which aborts with a signal that any number of other pieces may share: Node warns of
 * a leak when one signal has more than ten listeners, and Node 20 does leak with every `AbortSignal.any` over a signal
 * that lives for long.
 */
export async function abortedWith<Value>(
  shared: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const all = underWay.get(shared) ?? allOf(shared);
  const own = new AbortController();
  if (shared.aborted) own.abort(shared.reason);
  all.add(own);
  try {
    return await work(own.signal);
  } finally {
    all.delete(own);
  }
}

function allOf(shared: AbortSignal): Set<AbortController> {
  const all = new Set<AbortController>();
  underWay.set(shared, all);
  const abortAll = () => all.forEach((one) => void one.abort(shared.reason));
  shared.addEventListener("abort", abortAll, { once: true });
  return all;
}
