// Keeps in the address what the page shows.
import { useCallback, useEffect, useState } from "preact/hooks";

/** What the page shows: webhooks, or calls of an API; and of those the chosen one. */
export interface Choice {
  readonly view: "requests" | "calls";
  readonly n?: number | undefined;
}

/** The choice, kept in the address, so that it survives a reload and can be passed on. */
export function useChoice(): [Choice, (choice: Choice) => void] {
  const [choice, setChoice] = useState(fromAddress);
  useEffect(() => {
    const onHashChange = () => setChoice(fromAddress());
    addEventListener("hashchange", onHashChange);
    return () => removeEventListener("hashchange", onHashChange);
  }, []);
  const choose = useCallback((next: Choice) => {
    history.replaceState(null, "", addressOf(next));
    setChoice(next);
  }, []);
  return [choice, choose];
}

/** The end of the page's address that stands for a choice; its path where there is none. */
function addressOf({ view, n }: Choice): string {
  const parts = [...(view === "calls" ? [view] : []), ...(n === undefined ? [] : [n])];
  return parts.length === 0 ? location.pathname : `#${parts.join("/")}`;
}

function fromAddress(): Choice {
  // The address that was opened has the token before it.
  const [, calls, number] = /^#(?:t=[^&]*&n=)?(calls)?\/?([0-9]*)$/.exec(location.hash) ?? [];
  const n = Number(number);
  return {
    view: calls === undefined ? "requests" : "calls",
    ...(Number.isSafeInteger(n) && n > 0 ? { n } : {}),
  };
}
