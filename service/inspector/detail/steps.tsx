// Shows the verdict step by step.
import type { Step } from "../../src/inspector/contract.js";
import { Fold } from "../parts/fold.js";
import { Icon } from "../parts/icon.js";
import { Section } from "../parts/section.js";
import { VisibleText } from "../parts/visible-text.js";

const SIGNS = { passed: "accepted", failed: "refused", "not-reached": "not-reached" } as const;
const WORDS = { passed: "passed", failed: "failed", "not-reached": "not reached" } as const;

/** The verdict, step by step, in the order in which the service looks; only what failed is unfolded. */
export function Steps({ steps }: { steps: readonly Step[] }) {
  const of = (state: Step["state"]) => steps.filter((step) => step.state === state);
  const [passed, failed, notReached] = [of("passed"), of("failed"), of("not-reached")];
  const all = passed.length === steps.length;
  return (
    <Section title="Checks" class="checks">
      {passed.length > 0 && (
        <Fold
          summary={
            <>
              <Icon name="accepted" /> {all ? `All ${steps.length} checks passed` : `${passed.length} passed`}
            </>
          }
        >
          {() => <StepList steps={passed} />}
        </Fold>
      )}
      {failed.length > 0 && <StepList steps={failed} />}
      {notReached.length > 0 && (
        <Fold summary={`${notReached.length} not reached`}>{() => <StepList steps={notReached} />}</Fold>
      )}
    </Section>
  );
}

function StepList({ steps }: { steps: readonly Step[] }) {
  return (
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
          <p>{step.fact ?? step.rule}</p>
          {step.state === "failed" && (
            <dl>
              <Fact name="code" value={step.code} />
              <Fact name="received" value={step.seen} />
              <Fact name="expected" value={step.wanted} />
            </dl>
          )}
        </li>
      ))}
    </ol>
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
