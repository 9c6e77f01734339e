// Something that is shown on demand and not built before.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface FoldProps {
  readonly summary: ComponentChildren;
  readonly children: () => ComponentChildren;
}

/** Something that is shown on demand, and not even built before. */
export function Fold({ summary, children }: FoldProps) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open && children()}
    </details>
  );
}
