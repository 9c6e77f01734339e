import type { RequestDetail } from "../../src/inspector/contract.js";
import { CodeBlock } from "../parts/code-block.js";
import { Section } from "../parts/section.js";
import { VisibleText } from "../parts/visible-text.js";
import { fromBase64 } from "../text/bytes.js";
import { diffLines } from "../text/diff-lines.js";
import { timeOfDay } from "../text/time.js";
import { prettyLines } from "./pretty-bytes.js";

interface FirstDeliveryProps {
  readonly first: NonNullable<RequestDetail["first"]>;
  readonly bodyBase64: string;
  onChoose(n: number): void;
}

const SIGNS = { both: " ", first: "−", this: "+" } as const;

/** A duplicate against the delivery that was accepted. */
export function FirstDelivery({ first, bodyBase64, onChoose }: FirstDeliveryProps) {
  const note = (
    <button type="button" class="link" onClick={() => onChoose(first.n)}>
      #{first.n}, {timeOfDay(first.at)}
    </button>
  );
  if (first.bodyBase64 === bodyBase64)
    return (
      <Section title="First delivery" note={note}>
        <p>The same bytes as the delivery that was accepted.</p>
      </Section>
    );
  const lines = diffLines(prettyLines(fromBase64(first.bodyBase64)), prettyLines(fromBase64(bodyBase64)));
  const isLayout = lines.every(({ side }) => side === "both");
  return (
    <Section title="First delivery" note={note}>
      <p>
        {isLayout
          ? "The same JSON in other bytes: only white space differs."
          : "The body is another one than the delivery that was accepted had; − stood there, + stands here. The automation ran with the first one."}
      </p>
      <CodeBlock label="Differences to the first delivery">
        {lines.map(({ text, side }) => (
          <span class={`diff-${side}`}>
            {SIGNS[side]} <VisibleText text={text} />
          </span>
        ))}
      </CodeBlock>
    </Section>
  );
}
