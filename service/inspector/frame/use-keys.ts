// Calls what a key of the keyboard stands for.
import { useLayoutEffect } from "preact/hooks";

/** Calls what a key stands for, unless somebody is typing or a dialog is open. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const run = keys[event.key];
      if (!run || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as HTMLElement;
      if (target.closest("input, textarea, select, dialog")) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
