// Shows bytes and code.
import type { ComponentChildren } from "preact";

/** Bytes and code. It can have the focus, so that the keyboard can scroll it. */
export function CodeBlock({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable without a mouse
    <section class="code" aria-label={label} tabIndex={0}>
      <pre>{children}</pre>
    </section>
  );
}
