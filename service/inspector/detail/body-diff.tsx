// Shows two bodies line by line, with what differs.
import { CodeBlock } from "../parts/code-block.js";
import { VisibleText } from "../parts/visible-text.js";
import { fromBase64 } from "../text/bytes.js";
import { diffLines } from "../text/diff-lines.js";
import { prettyLines } from "./pretty-bytes.js";

interface BodyDiffProps {
  readonly label: string;
  readonly first: string;
  readonly now: string;
  /** What is said where the lines differ. */
  readonly words: string;
}

const SIGNS = { both: " ", first: "−", this: "+" } as const;

/** Two bodies that are not the same bytes, in base64, line by line. */
export function BodyDiff({ label, first, now, words }: BodyDiffProps) {
  const lines = diffLines(prettyLines(fromBase64(first)), prettyLines(fromBase64(now)));
  const isLayout = lines.every(({ side }) => side === "both");
  return (
    <>
      <p>{isLayout ? "The same JSON in other bytes: only white space differs." : words}</p>
      <CodeBlock label={label}>
        {lines.map(({ text, side }) => (
          <span class={`diff-${side}`}>
            {SIGNS[side]} <VisibleText text={text} />
          </span>
        ))}
      </CodeBlock>
    </>
  );
}
