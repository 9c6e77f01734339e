import { useCallback, useEffect, useState } from "preact/hooks";

/** The number of the chosen request, kept in the address, so that it survives a reload and can be passed on. */
export function useChoice(): [number | undefined, (n: number | undefined) => void] {
  const [chosen, setChosen] = useState(fromAddress);
  useEffect(() => {
    const onHashChange = () => setChosen(fromAddress());
    addEventListener("hashchange", onHashChange);
    return () => removeEventListener("hashchange", onHashChange);
  }, []);
  const choose = useCallback((n: number | undefined) => {
    history.replaceState(null, "", n === undefined ? location.pathname : `#${n}`);
    setChosen(n);
  }, []);
  return [chosen, choose];
}

function fromAddress(): number | undefined {
  // The address that was opened has the token before it.
  const n = Number(/^#(?:t=[^&]*&n=)?([0-9]+)$/.exec(location.hash)?.[1]);
  return Number.isSafeInteger(n) && n > 0 ? n : undefined;
}
