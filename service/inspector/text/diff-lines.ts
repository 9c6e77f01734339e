// Finds what two lists of lines share.
/** One line of a comparison. */
export interface DiffLine {
  readonly text: string;
  /** In which of the two it stands. */
  readonly side: "both" | "first" | "this";
}

/** More lines than this on both sides are compared as a block, so that the page stays quick. */
const MAX = 1_000;

/** What two lists of lines share, in order, and what stands in one of them only. */
export function diffLines(first: readonly string[], now: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < first.length && start < now.length && first[start] === now[start]) start++;
  let end = 0;
  while (
    end < first.length - start &&
    end < now.length - start &&
    first[first.length - 1 - end] === now[now.length - 1 - end]
  )
    end++;
  return [
    ...first.slice(0, start).map((text) => ({ text, side: "both" }) as const),
    ...middle(first.slice(start, first.length - end), now.slice(start, now.length - end)),
    ...first.slice(first.length - end).map((text) => ({ text, side: "both" }) as const),
  ];
}

function middle(first: readonly string[], now: readonly string[]): DiffLine[] {
  if (first.length > MAX || now.length > MAX)
    return [
      ...first.map((text) => ({ text, side: "first" }) as const),
      ...now.map((text) => ({ text, side: "this" }) as const),
    ];
  const width = now.length + 1;
  // common[i * width + j]: the most lines that first from i and now from j have in common.
  const common = new Uint16Array((first.length + 1) * width);
  for (let i = first.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] =
        first[i] === now[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < first.length || j < now.length) {
    const [a, b] = [first[i], now[j]];
    if (a !== undefined && a === b) {
      lines.push({ text: a, side: "both" });
      i++;
      j++;
    } else if (
      a !== undefined &&
      (b === undefined || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      lines.push({ text: a, side: "first" });
      i++;
    } else {
      lines.push({ text: b ?? "", side: "this" });
      j++;
    }
  }
  return lines;
}
