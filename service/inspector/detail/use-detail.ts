import { useEffect, useState } from "preact/hooks";
import type { RequestDetail, RequestRow } from "../../src/inspector/contract.js";
import { type Api, ApiError } from "../live/api.js";

/** Everything about the chosen request; loaded again when its row changes. The one before stays until then. */
export function useDetail(
  api: Api,
  n: number | undefined,
  row: RequestRow | undefined,
): RequestDetail | "gone" | undefined {
  const [detail, setDetail] = useState<RequestDetail | "gone">();
  useEffect(() => {
    if (n === undefined) return setDetail(undefined);
    const aborter = new AbortController();
    api.request(n, aborter.signal).then(setDetail, (error) => {
      if (error instanceof ApiError && error.status === 404) setDetail("gone");
    });
    return () => aborter.abort();
  }, [api, n, row]);
  return detail;
}
