// Shows what the automation did with the event.
import type { RunDetail } from "../../src/inspector/contract.js";
import type { Api } from "../live/api.js";
import { CodeBlock } from "../parts/code-block.js";
import { Fold } from "../parts/fold.js";
import { Icon } from "../parts/icon.js";
import { Section } from "../parts/section.js";
import { VisibleText } from "../parts/visible-text.js";
import { fromBase64 } from "../text/bytes.js";
import { DebugRun } from "./debug-run.js";
import { PrettyBytes } from "./pretty-bytes.js";

const SIGNS = {
  succeeded: "accepted",
  failed: "refused",
  skipped: "not-reached",
  waiting: "not-reached",
} as const;

interface RunProps {
  readonly run: RunDetail;
  readonly bodyBase64: string;
  readonly debug: Api["debug"];
}

/** What the automation did with the event. */
export function Run({ run, bodyBase64, debug }: RunProps) {
  return (
    <Section
      title="Run"
      note={<VisibleText text={[run.automation, run.id, run.state].filter(Boolean).join(" · ")} />}
    >
      {run.steps.length > 0 && (
        <ol class="run-steps">
          {run.steps.map(({ name, state, output, error }) => (
            <li key={name}>
              <Icon name={SIGNS[state]} />
              <b>
                <VisibleText text={name} />
              </b>{" "}
              <span class="note">{state}</span>
              {(error ?? output) !== undefined && (
                <CodeBlock label={`What ${name} gave`}>
                  <VisibleText text={error ?? output ?? ""} />
                </CodeBlock>
              )}
            </li>
          ))}
        </ol>
      )}
      {run.automationId !== undefined && (
        <DebugRun automationId={run.automationId} bodyBase64={bodyBase64} debug={debug} />
      )}
      <Fold summary="What the automation received">
        {() => (
          <CodeBlock label="What the automation received">
            <PrettyBytes bytes={fromBase64(bodyBase64)} />
          </CodeBlock>
        )}
      </Fold>
    </Section>
  );
}
