// Whether list and detail fit side by side.
import { useEffect, useState } from "preact/hooks";

const wide = matchMedia("(min-width: 900px)");

/** Whether list and detail stand side by side. */
export function useWide(): boolean {
  const [isWide, setWide] = useState(wide.matches);
  useEffect(() => {
    const changed = () => setWide(wide.matches);
    wide.addEventListener("change", changed);
    return () => wide.removeEventListener("change", changed);
  }, []);
  return isWide;
}
