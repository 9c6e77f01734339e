// Loads the details of the chosen row.
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../live/call.js";

/** Everything about the chosen row; loaded again when the row changes. The one before stays until then. */
export function useDetail<Detail>(
  load: (n: number, signal: AbortSignal) => Promise<Detail>,
  n: number | undefined,
  row: unknown,
): Detail | "gone" | undefined {
  const [detail, setDetail] = useState<Detail | "gone">();
  useEffect(() => {
    if (n === undefined) return setDetail(undefined);
    const aborter = new AbortController();
    load(n, aborter.signal).then(setDetail, (error) => {
      if (error instanceof ApiError && error.status === 404) setDetail("gone");
    });
    return () => aborter.abort();
  }, [load, n, row]);
  return detail;
}
