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
  const all = underWay.get(shared) ?? allOf(shared);
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
  }
}

function allOf(shared: AbortSignal): Piece[] {
  const all: Piece[] = [];
  underWay.set(shared, all);
  const abortAll = () => {
    for (const { own } of [...all]) own.abort(shared.reason);
  };
  shared.addEventListener("abort", abortAll, { once: true });
  return all;
}
