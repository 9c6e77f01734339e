// Shows what a signature by another scheme covers, and the header lines that should have come.
import type { SignedDetail, Step } from "../../src/inspector/contract.js";
import { CodeBlock } from "../parts/code-block.js";
import { Section } from "../parts/section.js";
import { VisibleBytes } from "../parts/visible-bytes.js";
import { VisibleText } from "../parts/visible-text.js";
import { fromBase64 } from "../text/bytes.js";

const WORDS: Readonly<Record<Step["state"], string>> = {
  passed: "The check “signature” passed.",
  failed: "The check “signature” failed.",
  "not-reached": "The check “signature” was not reached.",
};

/** What the signature covers, and each line that the listener's own signer makes next to the one that came. */
export function SignedBy({ signed, steps }: { signed: SignedDetail; steps: readonly Step[] }) {
  const { coveredBase64, lines } = signed;
  const check = steps.find(({ step }) => step === "signature");
  return (
    <Section title="Signature">
      <CodeBlock label="Signing input">
        <VisibleBytes bytes={fromBase64(coveredBase64)} marking="bytes" />
      </CodeBlock>
      {lines.map(({ name, expected, received }) => (
        <div key={name}>
          <p class="note mono">
            <VisibleText text={name} />
          </p>
          <dl class="comparison">
            <dt>expected</dt>
            <dd class="mono">
              <VisibleText text={expected} marking="bytes" />
            </dd>
            <dt>received</dt>
            <dd class="mono">
              {received === undefined ? (
                <i>none, or several</i>
              ) : (
                <VisibleText text={received} marking="bytes" />
              )}
            </dd>
          </dl>
        </div>
      ))}
      {lines.length > 0 && (
        <p class="note">
          Expected is what this listener’s own signer makes for the same id, time and body; another sender may
          name other parameters.
        </p>
      )}
      {check && <p class="note">{WORDS[check.state]}</p>}
    </Section>
  );
}
