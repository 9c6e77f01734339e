import type { Step } from "../../src/inspector/contract.js";
import { Icon } from "../parts/icon.js";
import { Section } from "../parts/section.js";
import { VisibleText } from "../parts/visible-text.js";

const SIGNS = { passed: "accepted", failed: "refused", "not-reached": "not-reached" } as const;
const WORDS = { passed: "passed", failed: "failed", "not-reached": "not reached" } as const;

/** The verdict, step by step, in the order in which the service looks. */
export function Steps({ steps }: { steps: readonly Step[] }) {
  const passed = steps.filter(({ state }) => state === "passed").length;
  return (
    <Section title="Checks" note={`${passed} of ${steps.length} passed`} class="checks">
      <ol>
        {steps.map((step) => (
          <li key={step.step} class={step.state}>
            <Icon name={SIGNS[step.state]} />
            <b>{step.step}</b>
            <span class="visually-hidden">{WORDS[step.state]}</span>
            {step.seen !== undefined && step.state === "passed" && (
              <span class="seen mono">
                <VisibleText text={step.seen} />
              </span>
            )}
            <p title={step.rule}>{step.rule}</p>
            {step.state === "failed" && (
              <dl>
                <Fact name="code" value={step.code} />
                <Fact name="seen" value={step.seen} />
                <Fact name="wanted" value={step.wanted} />
              </dl>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Fact({ name, value }: { name: string; value: string | undefined }) {
  if (value === undefined) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd class="mono">
        <VisibleText text={value} />
      </dd>
    </>
  );
}
