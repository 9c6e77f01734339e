// Sets the next answers of a listener, to see what a sender makes of them.
import { useState } from "preact/hooks";
import { type ForcedAnswer, LIMITS, type ListenerInfo } from "../../src/inspector/contract.js";
import { Amount } from "../parts/amount.js";
import { Choice } from "../parts/choice.js";
import { Dialog } from "../parts/dialog.js";
import { Lines } from "../parts/lines.js";
import { Problem } from "../parts/problem.js";
import { headersOf } from "../text/header-lines.js";

interface ForceDialogProps {
  readonly listeners: readonly ListenerInfo[];
  onForce(answer: ForcedAnswer): void;
  onClose(): void;
}

const EMPTY = {
  status: "503",
  wait: "0",
  unit: "count" as "count" | "time",
  times: "1",
  seconds: "60",
  retryAfter: "",
  body: "",
  headers: "",
};

type Given = typeof EMPTY;

/** What an input needs of a member of the form. */
type Field = (name: Exclude<keyof Given, "unit">) => { value: string; onInput(value: string): void };

/** Settles the next answers of a listener, to see what a sender makes of them. */
export function ForceDialog({ listeners, onForce, onClose }: ForceDialogProps) {
  const [listenerId, setListenerId] = useState(listeners[0]?.id ?? "");
  const [given, setGiven] = useState(EMPTY);
  const [problem, setProblem] = useState("");
  const field: Field = (name) => ({
    value: given[name],
    onInput: (value) => setGiven({ ...given, [name]: value }),
  });

  const force = (event: Event) => {
    event.preventDefault();
    const headers = headersOf(given.headers);
    if (typeof headers === "string") setProblem(headers);
    else onForce({ listenerId, ...answerOf(given), ...(headers.length === 0 ? {} : { headers }) });
  };

  return (
    <Dialog title="Force the next answers" onClose={onClose}>
      <form onSubmit={force}>
        <p>
          The checks and the run take place as always; only the answer is another one. So you see whether a
          sender tries again, and when.
        </p>
        {listeners.length > 1 && (
          <Choice
            label="Listener"
            value={listenerId}
            options={listeners.map(({ id }) => ({ value: id }))}
            onChoose={setListenerId}
          />
        )}
        <div class="pair">
          <Amount label="Status" min={200} max={599} hint="as decided" {...field("status")} />
          <Amount
            label="Wait before, in seconds"
            min={0}
            max={LIMITS.forcedDelayMs / 1000}
            step="any"
            {...field("wait")}
          />
        </div>
        <div class="pair">
          <Choice
            label="For"
            value={given.unit}
            options={[
              { value: "count", words: "a number of answers" },
              { value: "time", words: "a time" },
            ]}
            onChoose={(unit) => setGiven({ ...given, unit })}
          />
          <HowLong unit={given.unit} field={field} />
        </div>
        <Rest field={field} />
        <Problem text={problem} />
        <footer>
          <button type="submit" class="primary">
            Force
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function HowLong({ unit, field }: { unit: Given["unit"]; field: Field }) {
  return unit === "time" ? (
    <Amount label="How many seconds" min={1} max={LIMITS.forcedSeconds} required {...field("seconds")} />
  ) : (
    <Amount label="How many answers" min={1} max={LIMITS.forcedTimes} required {...field("times")} />
  );
}

/** What few need. */
function Rest({ field }: { field: Field }) {
  const area = { rows: 3, maxLength: LIMITS.forcedBodyCharacters };
  return (
    <details>
      <summary>Body and header lines</summary>
      <Amount label="Retry-After, in seconds" min={0} max={86_400} hint="none" {...field("retryAfter")} />
      <Lines label="Body" hint="one that says that the answer was forced" {...area} {...field("body")} />
      <Lines label="Header lines" hint="Content-Type: text/plain" {...area} {...field("headers")} />
    </details>
  );
}

/** The answer that the form asks for, without its headers. */
function answerOf(given: Given): Omit<ForcedAnswer, "listenerId" | "headers"> {
  const { status, wait, retryAfter, body } = given;
  return {
    ...(given.unit === "time" ? { seconds: Number(given.seconds) } : { times: Number(given.times) }),
    ...(status === "" ? {} : { status: Number(status) }),
    ...(Number(wait) === 0 ? {} : { delayMs: Math.round(Number(wait) * 1000) }),
    ...(retryAfter === "" ? {} : { retryAfterSeconds: Number(retryAfter) }),
    ...(body === "" ? {} : { body }),
  };
}
