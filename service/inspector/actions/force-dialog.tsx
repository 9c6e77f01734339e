import { useState } from "preact/hooks";
import { type ForcedAnswer, LIMITS, type ListenerInfo } from "../../src/inspector/contract.js";
import { Amount } from "../parts/amount.js";
import { Dialog } from "../parts/dialog.js";

interface ForceDialogProps {
  readonly listeners: readonly ListenerInfo[];
  onForce(answer: ForcedAnswer): void;
  onClose(): void;
}

/** Settles the next answers of a listener, to see what a sender makes of them. */
export function ForceDialog({ listeners, onForce, onClose }: ForceDialogProps) {
  const [listenerId, setListenerId] = useState(listeners[0]?.id ?? "");
  const [status, setStatus] = useState("503");
  const [seconds, setSeconds] = useState("0");
  const [times, setTimes] = useState("1");
  const [retryAfter, setRetryAfter] = useState("");

  const force = (event: Event) => {
    event.preventDefault();
    onForce({
      listenerId,
      times: Number(times),
      ...(status === "" ? {} : { status: Number(status) }),
      ...(Number(seconds) === 0 ? {} : { delayMs: Math.round(Number(seconds) * 1000) }),
      ...(retryAfter === "" ? {} : { retryAfterSeconds: Number(retryAfter) }),
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
          <Amount label="Status" value={status} min={200} max={599} hint="as decided" onInput={setStatus} />
          <Amount
            label="Wait before, in seconds"
            value={seconds}
            min={0}
            max={LIMITS.forcedDelayMs / 1000}
            step="any"
            onInput={setSeconds}
          />
        </div>
        <div class="pair">
          <Amount
            label="How many answers"
            value={times}
            min={1}
            max={LIMITS.forcedTimes}
            required
            onInput={setTimes}
          />
          <Amount
            label="Retry-After, in seconds"
            value={retryAfter}
            min={0}
            max={86_400}
            hint="none"
            onInput={setRetryAfter}
          />
        </div>
        <footer>
          <button type="submit" class="primary">
            Force
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
