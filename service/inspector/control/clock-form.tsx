// Moves and stops the service's clock.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { ClockState } from "../../src/inspector/contract.js";
import type { Api } from "../live/api.js";
import { Amount } from "../parts/amount.js";

/** The service's clock: what it shows, and how it is moved. */
export function ClockForm({ clock, onChange }: { clock: ClockState; onChange: Api["control"] }) {
  const [to, setTo] = useState("");
  const [seconds, setSeconds] = useState("3600");
  const shown = useShownTime(clock);
  const move = (change: object) => onChange("POST", "clock", change);
  return (
    <form
      aria-label="Clock"
      onSubmit={(event) => {
        event.preventDefault();
        void move({ to: to.trim() });
      }}
    >
      <h3>Clock</h3>
      <p class="line">
        <time class="mono" dateTime={shown}>
          {shown}
        </time>
        <span class="note">{clock.frozen ? "stopped" : "going on"}</span>
        <button type="button" onClick={() => move({ frozen: !clock.frozen })}>
          {clock.frozen ? "Let it go on" : "Stop it"}
        </button>
      </p>
      <div class="pair with-button">
        <label>
          Set it to
          <input
            type="text"
            class="mono"
            required
            placeholder="2030-01-01T00:00:00Z"
            value={to}
            onInput={(event) => setTo(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Set</button>
      </div>
      <div class="pair with-button">
        <Amount label="Move it on by, in seconds" min={-1e9} max={1e9} value={seconds} onInput={setSeconds} />
        <button type="button" onClick={() => move({ advanceMs: Math.round(Number(seconds) * 1000) })}>
          Move
        </button>
      </div>
    </form>
  );
}

/** The time it is by the clock, renewed every second. */
function useShownTime(clock: ClockState): string {
  const aheadMs = useMemo(() => Date.parse(clock.now) - Date.now(), [clock]);
  const [, tick] = useState(0);
  useEffect(() => {
    if (clock.frozen) return;
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [clock]);
  if (clock.frozen) return clock.now;
  const now = new Date(Date.now() + aheadMs);
  return Number.isNaN(now.getTime()) ? clock.now : now.toISOString().replace(/\.[0-9]+Z$/, "Z");
}
