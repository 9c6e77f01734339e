// Searches the requests on the server.
import { useEffect, useRef, useState } from "preact/hooks";
import { LIMITS, type RequestRow } from "../../src/inspector/contract.js";
import type { Api } from "../live/api.js";

const TYPING_MS = 120;
/** While requests pour in, the search is repeated no more often than this. */
const AGAIN_MS = 500;

/** What `search` finds for a text, newest first; undefined without one, and until the first answer. */
export function useSearch<Row>(
  search: (q: string) => Promise<readonly Row[]>,
  text: string,
  rows: readonly Row[],
): readonly Row[] | undefined {
  const [found, setFound] = useState<readonly Row[]>();
  const latest = useRef({ q: "", dueAt: 0 });
  const q = text.trim();

  // Rows come with every frame when they pour in; what is due is kept apart, so that they do not put it off.
  useEffect(() => {
    const now = Date.now();
    if (latest.current.q !== q) latest.current = { q, dueAt: now + TYPING_MS };
    if (q === "") return setFound(undefined);
    const timer = setTimeout(() => {
      latest.current.dueAt = Date.now() + AGAIN_MS;
      search(q).then(
        (all) => latest.current.q === q && setFound(all),
        () => {}, // the server is gone, which the page says elsewhere
      );
    }, latest.current.dueAt - now);
    return () => clearTimeout(timer);
  }, [search, q, rows]);

  return q === "" ? undefined : found;
}

/** Every request that has a text. */
export async function searchRequests(api: Api, q: string): Promise<RequestRow[]> {
  const all: RequestRow[] = [];
  for (let before: number | undefined; ; ) {
    const query = { q, limit: LIMITS.pageRows, ...(before === undefined ? {} : { before }) };
    const page = await api.requests(query);
    all.push(...page.rows);
    before = page.next;
    if (before === undefined) return all;
  }
}
