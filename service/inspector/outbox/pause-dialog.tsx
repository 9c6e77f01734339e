// Asks why a listener is paused.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { VisibleText } from "../parts/visible-text.js";

interface PauseProps {
  readonly listener: string;
  onPause(reason: string): void;
  onClose(): void;
}

export function PauseDialog({ listener, onPause, onClose }: PauseProps) {
  const [reason, setReason] = useState("");
  const pause = (event: Event) => {
    event.preventDefault();
    onPause(reason.trim());
  };
  return (
    <Dialog title="Pause a listener" onClose={onClose}>
      <form onSubmit={pause}>
        <p>
          No worker delivers to <b>{<VisibleText text={listener} />}</b> until it is resumed. Its events wait,
          and what is under way goes on.
        </p>
        <label>
          Why, for anyone who looks here
          <input maxLength={200} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        <footer>
          <button type="submit" class="primary">
            Pause
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
