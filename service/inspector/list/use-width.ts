// Keeps how wide the list is, for the next time too.
import { useState } from "preact/hooks";

/** The bounds of the list's width, in hundredths of the page, and what it has at first. */
export const MIN = 20;
export const MAX = 70;
const FIRST = 36;

const KEY = "hookproof-list-width";

/** The list's width in hundredths of the page, and what changes it; no number stands for the first one. */
export function useWidth(): [number, (width: number) => void] {
  const [width, setWidth] = useState(() => within(Number(kept() ?? Number.NaN)));
  return [
    width,
    (wanted) => {
      const next = within(wanted);
      setWidth(next);
      try {
        localStorage.setItem(KEY, String(next));
      } catch {
        // A browser that keeps nothing shows it all the same.
      }
    },
  ];
}

function kept(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

function within(width: number): number {
  return Number.isFinite(width) ? Math.min(MAX, Math.max(MIN, width)) : FIRST;
}
