/** The known word that a mistyped one is closest to, if it is close at all. */
export function closest(given: string, known: Iterable<string>): string | undefined {
  let best: { word: string; distance: number } | undefined;
  // One letter or digit is close to every other.
  if (given.length < 2) return undefined;
  for (const word of known) {
    const distance = editDistance(given.toLowerCase(), word.toLowerCase());
    if (distance <= Math.max(1, Math.floor(word.length / 3)) && (!best || distance < best.distance))
      best = { word, distance };
  }
  return best?.word;
}

/** A hint for a mistyped word. */
export function didYouMean(given: string, known: Iterable<string>, prefix = ""): string | undefined {
  const word = closest(given, known);
  return word === undefined ? undefined : `Did you mean ${prefix}${word}?`;
}

/** Insertions, deletions, substitutions and swaps of neighbours between two words. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let cost = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    before = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
