// Says that the server was started again.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";

interface RestartProps {
  readonly restarts: number;
  readonly historyFile: string | undefined;
}

/** Says that the server was started again, and what became of the list. */
export function RestartNote({ restarts, historyFile }: RestartProps) {
  const [seen, setSeen] = useState(0);
  if (restarts === seen) return null;
  return (
    <div class="restart" role="status">
      <p>
        The server was started again.{" "}
        {historyFile === undefined ? (
          <>
            What it had received was in memory, and is gone; <code>--history FILE</code> keeps it.
          </>
        ) : (
          <>What it had received is still here: {historyFile} has it.</>
        )}
      </p>
      <button type="button" class="quiet" aria-label="Close" onClick={() => setSeen(restarts)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
