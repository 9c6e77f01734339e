// Sets a duplicate next to the delivery that was accepted.
import type { RequestDetail } from "../../src/inspector/contract.js";
import { Section } from "../parts/section.js";
import { timeOfDay } from "../text/time.js";
import { BodyDiff } from "./body-diff.js";

interface FirstDeliveryProps {
  readonly first: NonNullable<RequestDetail["first"]>;
  readonly bodyBase64: string;
  onChoose(n: number): void;
}

/** A duplicate against the delivery that was accepted. */
export function FirstDelivery({ first, bodyBase64, onChoose }: FirstDeliveryProps) {
  const note = (
    <button type="button" class="link" onClick={() => onChoose(first.n)}>
      #{first.n}, {timeOfDay(first.at)}
    </button>
  );
  return (
    <Section title="First delivery" note={note}>
      {first.bodyBase64 === bodyBase64 ? (
        <p>The same bytes as the delivery that was accepted.</p>
      ) : (
        <BodyDiff
          label="Differences to the first delivery"
          first={first.bodyBase64}
          now={bodyBase64}
          words="The accepted delivery had another body: − stood there, + stands here. The automation ran with the first one."
        />
      )}
    </Section>
  );
}
