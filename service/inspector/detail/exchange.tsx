// Shows the lines of a request and its answer.
import type { RequestDetail } from "../../src/inspector/contract.js";
import { CodeBlock } from "../parts/code-block.js";
import { Section } from "../parts/section.js";
import { VisibleText } from "../parts/visible-text.js";
import { Headers } from "./headers.js";

/** The request's lines and the answer's. */
export function Exchange({ detail }: { detail: RequestDetail }) {
  const { method, target, sourceAddress, headers, status, answer } = detail;
  return (
    <>
      <Section title="Request" note={sourceAddress && `from ${sourceAddress}`}>
        <p class="mono target">
          <b>
            <VisibleText text={method} />
          </b>{" "}
          <VisibleText text={target} />
        </p>
        <Headers headers={headers} />
      </Section>
      <Section title="Answer" note={`status ${status}`}>
        <Headers headers={answer.headers} />
        {answer.body !== "" && (
          <CodeBlock label="Body of the answer">
            <VisibleText text={answer.body} />
          </CodeBlock>
        )}
      </Section>
    </>
  );
}
