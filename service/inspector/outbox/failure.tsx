// What failed last and why, in words.
import type { Failure } from "../../src/outbox/contract.js";
import { Age } from "../parts/age.js";
import { VisibleText } from "../parts/visible-text.js";

interface FailureProps {
  readonly failure: Failure;
  nowMs(): number;
  onEvent(id: string): void;
}

/** What failed last and why, in the words of the diagnosis; what the receiver said stands below. */
export function FailureText({ failure, nowMs, onEvent }: FailureProps) {
  const { at, code, status, answer, words, eventId } = failure;
  return (
    <div class="failure">
      <p class="message">
        <VisibleText text={words?.message ?? code} />
      </p>
      {words && (
        <p>
          <b>Fix</b> {words.fix}
        </p>
      )}
      {answer !== undefined && (
        <p class="answer">
          <span class="note">it answered</span>{" "}
          <span class="mono">
            <VisibleText text={answer} />
          </span>
        </p>
      )}
      <p class="note">
        <VisibleText text={[status, words?.code, words?.code !== code && code].filter(Boolean).join(" · ")} />{" "}
        · <Age at={at} nowMs={nowMs} />
        {eventId !== undefined && (
          <>
            {" "}
            · <EventLink id={eventId} onEvent={onEvent} />
          </>
        )}
      </p>
    </div>
  );
}

/** An event's id, shortened; it opens the event. */
export function EventLink({ id, onEvent }: { id: string; onEvent(id: string): void }) {
  return (
    <button type="button" class="link mono" title={id} onClick={() => onEvent(id)}>
      <VisibleText text={id.slice(0, 8)} />
      <span class="visually-hidden"> (event)</span>
    </button>
  );
}
