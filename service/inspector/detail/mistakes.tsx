// Shows the mistakes behind a refusal and what to change.
import type { Mistake } from "../../src/inspector/contract.js";
import { VisibleText } from "../parts/visible-text.js";

/** The mistakes that explain a refusal, the likeliest first, and what to change. */
export function Mistakes({ mistakes }: { mistakes: readonly Mistake[] }) {
  if (mistakes.length === 0) return null;
  return (
    <section class="mistakes" aria-label="Why">
      {mistakes.map(({ id, message, fix }) => (
        <div key={id}>
          <p class="message">
            <VisibleText text={message} />
          </p>
          <p class="fix">
            <b>Fix</b> <VisibleText text={fix} />
          </p>
          <p class="note mono">{id}</p>
        </div>
      ))}
    </section>
  );
}
