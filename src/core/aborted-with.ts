// Gives each piece of work that one signal ends a signal of its own.

/** A piece of work under way, and its place among them. */
interface Piece {
  readonly own: AbortController;
  place: number;
}

/** Not Sets, whose tables of before keep what was deleted alive: half a kilobyte for each piece (S26). */
const underWay = new WeakMap<AbortSignal, Piece[]>();

/**
 * Runs work with a signal of its own, which aborts with a signal that any number of other pieces may share: Node warns of
 * a leak when one signal has more than ten listeners, and Node 20 does leak with every `AbortSignal.any` over a signal
 * that lives for long.
 */
export async function abortedWith<Value>(
  shared: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  let all = underWay.get(shared);
  if (!all) {
    all = [];
    underWay.set(shared, all);
    shared.addEventListener("abort", abortAll);
  }
  const piece: Piece = { own: new AbortController(), place: all.length };
  if (shared.aborted) piece.own.abort(shared.reason);
  all.push(piece);
  try {
    return await work(piece.own.signal);
  } finally {
    // The last one takes its place.
    const last = all.pop();
    if (last && last !== piece) {
      all[piece.place] = last;
      last.place = piece.place;
    }
    // Node keeps a composed signal, and one with a time, for as long as somebody listens.
    if (all.length === 0) {
      underWay.delete(shared);
      shared.removeEventListener("abort", abortAll);
    }
  }
}

function abortAll({ target }: Event): void {
  const shared = target as AbortSignal;
  for (const { own } of [...(underWay.get(shared) ?? [])]) own.abort(shared.reason);
}
