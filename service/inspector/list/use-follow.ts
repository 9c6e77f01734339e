// Follows the newest row.
import { useEffect, useRef, useState } from "preact/hooks";

/** While requests pour in, the newest is opened no more often than this. */
const STEP_MS = 400;

/** The newest row, as long as it is followed; it changes at most every 400 ms. */
export function useFollow(active: boolean, newest: number | undefined): number | undefined {
  const [followed, setFollowed] = useState<number>();
  const last = useRef(0);
  useEffect(() => {
    if (!active || newest === followed) return;
    const timer = setTimeout(
      () => {
        last.current = Date.now();
        setFollowed(newest);
      },
      Math.max(0, last.current + STEP_MS - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [active, newest, followed]);
  return active ? followed : undefined;
}
