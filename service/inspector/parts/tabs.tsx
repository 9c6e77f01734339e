// A few texts of which one is shown, each under its name.
import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";

interface TabsProps {
  /** What they have in common. */
  readonly label: string;
  /** The first is shown until another one is chosen. */
  readonly tabs: readonly { readonly name: string; readonly content: ComponentChildren }[];
}

/** A few texts of which one is shown; arrow keys go from one to the next. */
export function Tabs({ label, tabs }: TabsProps) {
  const id = useId();
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + tabs.length) % tabs.length;
    setAt(next);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <div class="by-language">
      <div role="tablist" aria-label={label} ref={list}>
        {tabs.map(({ name }, index) => (
          <button
            type="button"
            role="tab"
            key={name}
            id={`${id}-${index}`}
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setAt(index)}
            onKeyDown={move}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${at}`}>
        {tabs[at]?.content}
      </div>
    </div>
  );
}
