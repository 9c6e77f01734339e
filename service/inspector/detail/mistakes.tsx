// Shows the mistakes behind a refusal and what to change.
import type { Mistake } from "../../src/inspector/contract.js";
import { Tabs } from "../parts/tabs.js";
import { VisibleText } from "../parts/visible-text.js";

/** The mistakes that explain a refusal, the likeliest first, and what to change. */
export function Mistakes({ mistakes }: { mistakes: readonly Mistake[] }) {
  if (mistakes.length === 0) return null;
  return (
    <section class="mistakes" aria-label="Why">
      {mistakes.map((mistake) => (
        <div key={mistake.id}>
          <p class="message">
            <VisibleText text={mistake.message} />
          </p>
          <Fix {...mistake} />
          <p class="note mono">{mistake.id}</p>
        </div>
      ))}
    </section>
  );
}

/** What to change: where code does it, in each language, the sender's own first. */
function Fix({ id, fix, fixes = [] }: Mistake) {
  if (fixes.length === 0)
    return (
      <p class="fix">
        <b>Fix</b> <VisibleText text={fix} />
      </p>
    );
  return (
    <div class="fix">
      <b>Fix</b>
      <Tabs
        label={`Fix of ${id} by language`}
        tabs={fixes.map((one) => ({ name: one.language, content: <VisibleText text={one.fix} /> }))}
      />
    </div>
  );
}
