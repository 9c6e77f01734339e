import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** Something that is shown on demand, and not even built before. */
export function Fold({ summary, children }: { summary: string; children: () => ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open && children()}
    </details>
  );
}
