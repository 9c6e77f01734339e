// Shows what the application behind the listener answered.
import type { Forwarded } from "../../src/inspector/contract.js";
import { CodeBlock } from "../parts/code-block.js";
import { Icon } from "../parts/icon.js";
import { Section } from "../parts/section.js";
import { VisibleText } from "../parts/visible-text.js";

/** Whether an application has the event: it took it, or it had it before. */
export function isTaken(status: number): boolean {
  return (status >= 200 && status < 300) || status === 409;
}

/** What the application answered to the request that was forwarded to it. */
export function ForwardedCard({ forwarded }: { forwarded: Forwarded }) {
  const { url } = forwarded;
  if ("error" in forwarded)
    return (
      <Section title="Forwarded" note={<VisibleText text={url} />} class="forwarded-to">
        <p class="refused">
          <Icon name="failed" /> No answer: <VisibleText text={forwarded.error} />
        </p>
        <p>This listener accepts it; your application did not answer.</p>
      </Section>
    );
  const { status, body = "", ms } = forwarded;
  const taken = isTaken(status);
  return (
    <Section title="Forwarded" note={<VisibleText text={url} />} class="forwarded-to">
      <p class={taken ? "accepted" : "refused"}>
        <Icon name={taken ? "accepted" : "refused"} /> → <b>{status}</b>
        {ms !== undefined && ` in ${Math.round(ms)} ms`}
      </p>
      {!taken && <p>This listener accepts it; your application refuses it.</p>}
      {body !== "" && (
        <CodeBlock label="What the application answered">
          <VisibleText text={body} />
        </CodeBlock>
      )}
    </Section>
  );
}
