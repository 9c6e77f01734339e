// The time, once a second while somebody looks.
import { useEffect, useState } from "preact/hooks";

/** The time, again every second while somebody looks. */
export function useNow(nowMs: () => number, active = true): number {
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    if (!active) return;
    setNow(nowMs());
    const timer = setInterval(() => setNow(nowMs()), 1000);
    return () => clearInterval(timer);
  }, [active, nowMs]);
  return now;
}
