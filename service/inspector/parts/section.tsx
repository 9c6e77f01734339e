// A titled part of the detail.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export function Section({
  title,
  note,
  class: name = "",
  children,
}: {
  title: string;
  note?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}) {
  const heading = useId();
  return (
    <section class={`card ${name}`} aria-labelledby={heading}>
      <header>
        <h3 id={heading}>{title}</h3>
        {note && <span class="note">{note}</span>}
      </header>
      {children}
    </section>
  );
}
