// Runs an automation again with the body of a request, step by step.
import { useState } from "preact/hooks";
import type { DebuggedExpression, DebuggedRun } from "../../src/inspector/contract.js";
import type { Api } from "../live/api.js";
import { CodeBlock } from "../parts/code-block.js";
import { Icon } from "../parts/icon.js";
import { Problem } from "../parts/problem.js";
import { VisibleText } from "../parts/visible-text.js";
import { fromBase64 } from "../text/bytes.js";

const SIGNS: Readonly<Record<string, "accepted" | "refused">> = {
  STEP_STATUS_SUCCEEDED: "accepted",
  STEP_STATUS_FAILED: "refused",
};

interface DebugRunProps {
  readonly automationId: string;
  readonly bodyBase64: string;
  readonly debug: Api["debug"];
}

/** A button that runs the automation as it is now, and what each expression saw, gave and took. */
export function DebugRun({ automationId, bodyBase64, debug }: DebugRunProps) {
  const [run, setRun] = useState<DebuggedRun>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function start(): Promise<void> {
    setBusy(true);
    try {
      setRun(await debug(automationId, new TextDecoder().decode(fromBase64(bodyBase64))));
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <p>
        <button
          type="button"
          disabled={isBusy}
          title="Nothing is sent, and nothing is kept"
          onClick={() => void start()}
        >
          Run step by step
        </button>
      </p>
      <Problem text={problem} />
      {run && (
        <ol class="run-steps" aria-label="Step by step">
          {run.steps.map(({ name, status, expressions, failure }) => (
            <li key={name}>
              <Icon name={SIGNS[status] ?? "not-reached"} />
              <b>
                <VisibleText text={name} />
              </b>{" "}
              <span class="note">{status.replace("STEP_STATUS_", "").toLowerCase()}</span>
              {expressions.map((expression, at) => (
                <Expression key={at} {...expression} />
              ))}
              {failure !== undefined && expressions.at(-1)?.failure === undefined && (
                <CodeBlock label={`Why ${name} failed`}>
                  <VisibleText text={`${failure.code}  ${failure.message}`} />
                </CodeBlock>
              )}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function Expression({ path, expression, value, failure, failed, parts, usedMs }: DebuggedExpression) {
  const lines = [
    expression,
    ...parts.map(
      (part) =>
        `${part.place}  ${part.expression}  is  ${part.value}${part.times > 1 ? `  (${part.times} times; the last)` : ""}`,
    ),
    ...(value === undefined ? [] : [`gave  ${value}`]),
    ...(failure === undefined ? [] : [`${failure.code}  ${failure.message}`]),
    ...(failed === undefined ? [] : [`at ${failed.place}  ${failed.expression}`]),
    ...(failed?.on ?? []).map((on) => `where  ${on.expression}  is  ${on.value}`),
  ];
  return (
    <>
      <p class="note">
        <VisibleText text={path} /> · {usedMs.toFixed(1)} ms
      </p>
      <CodeBlock label={`What ${path} saw and gave`}>
        <VisibleText text={lines.join("\n")} />
      </CodeBlock>
    </>
  );
}
