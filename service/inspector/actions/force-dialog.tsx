// Sets the next answers of a listener, to see what a sender makes of them.
import { useState } from "preact/hooks";
import { type ForcedAnswer, LIMITS, type ListenerInfo } from "../../src/inspector/contract.js";
import { Amount } from "../parts/amount.js";
import { Dialog } from "../parts/dialog.js";
import { headersOf } from "../text/header-lines.js";

interface ForceDialogProps {
  readonly listeners: readonly ListenerInfo[];
  onForce(answer: ForcedAnswer): void;
  onClose(): void;
}

const EMPTY = {
  status: "503",
  wait: "0",
  times: "1",
  seconds: "60",
  retryAfter: "",
  body: "",
  headers: "",
};

/** Settles the next answers of a listener, to see what a sender makes of them. */
export function ForceDialog({ listeners, onForce, onClose }: ForceDialogProps) {
  const [listenerId, setListenerId] = useState(listeners[0]?.id ?? "");
  const [given, setGiven] = useState(EMPTY);
  const [isTimed, setTimed] = useState(false);
  const [problem, setProblem] = useState("");
  const set = (name: keyof typeof EMPTY) => (value: string) => setGiven({ ...given, [name]: value });

  const force = (event: Event) => {
    event.preventDefault();
    const headers = headersOf(given.headers);
    if (typeof headers === "string") return setProblem(headers);
    onForce({
      listenerId,
      ...(isTimed ? { seconds: Number(given.seconds) } : { times: Number(given.times) }),
      ...(given.status === "" ? {} : { status: Number(given.status) }),
      ...(Number(given.wait) === 0 ? {} : { delayMs: Math.round(Number(given.wait) * 1000) }),
      ...(given.retryAfter === "" ? {} : { retryAfterSeconds: Number(given.retryAfter) }),
      ...(headers.length === 0 ? {} : { headers }),
      ...(given.body === "" ? {} : { body: given.body }),
    });
  };

  return (
    <Dialog title="Force the next answers" onClose={onClose}>
      <form onSubmit={force}>
        <p>
          The checks and the run take place as always; only the answer is another one. So you see whether a
          sender tries again, and when.
        </p>
        {listeners.length > 1 && (
          <label>
            Listener
            <select value={listenerId} onChange={(event) => setListenerId(event.currentTarget.value)}>
              {listeners.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          </label>
        )}
        <div class="pair">
          <Amount
            label="Status"
            value={given.status}
            min={200}
            max={599}
            hint="as decided"
            onInput={set("status")}
          />
          <Amount
            label="Wait before, in seconds"
            value={given.wait}
            min={0}
            max={LIMITS.forcedDelayMs / 1000}
            step="any"
            onInput={set("wait")}
          />
        </div>
        <div class="pair">
          <label>
            For
            <select
              value={isTimed ? "time" : "count"}
              onChange={(event) => setTimed(event.currentTarget.value === "time")}
            >
              <option value="count">a number of answers</option>
              <option value="time">a time</option>
            </select>
          </label>
          {isTimed ? (
            <Amount
              label="How many seconds"
              value={given.seconds}
              min={1}
              max={LIMITS.forcedSeconds}
              required
              onInput={set("seconds")}
            />
          ) : (
            <Amount
              label="How many answers"
              value={given.times}
              min={1}
              max={LIMITS.forcedTimes}
              required
              onInput={set("times")}
            />
          )}
        </div>
        <details>
          <summary>Body and header lines</summary>
          <Amount
            label="Retry-After, in seconds"
            value={given.retryAfter}
            min={0}
            max={86_400}
            hint="none"
            onInput={set("retryAfter")}
          />
          <Lines
            label="Body"
            value={given.body}
            hint="one that says that the answer was forced"
            onInput={set("body")}
          />
          <Lines
            label="Header lines"
            value={given.headers}
            hint="Content-Type: text/plain"
            onInput={set("headers")}
          />
        </details>
        {problem && (
          <p role="alert" class="problem">
            {problem}
          </p>
        )}
        <footer>
          <button type="submit" class="primary">
            Force
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface LinesProps {
  readonly label: string;
  readonly value: string;
  readonly hint: string;
  onInput(value: string): void;
}

function Lines({ label, value, hint, onInput }: LinesProps) {
  return (
    <label>
      {label}
      <textarea
        class="mono"
        rows={3}
        spellcheck={false}
        placeholder={hint}
        maxLength={LIMITS.forcedBodyCharacters}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}
