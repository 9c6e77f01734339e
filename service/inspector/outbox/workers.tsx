// Shows the workers of an outbox and when each was last seen.
import { LIMITS, type WorkerView } from "../../src/outbox/contract.js";
import { useNow } from "../frame/use-now.js";
import { Icon } from "../parts/icon.js";
import { VisibleText } from "../parts/visible-text.js";
import { ago, dateAndTime } from "../text/time.js";
import { span } from "./span.js";

/** A worker says each 10 seconds that it is alive; one that has not for so long stands out. */
const SILENT_MS = 60_000;

/** The workers, with their last signs of life. */
export function Workers({ workers, nowMs }: { workers: readonly WorkerView[]; nowMs(): number }) {
  const now = useNow(nowMs);
  return (
    <section aria-labelledby="workers">
      <h2 id="workers">Workers</h2>
      {workers.length === 0 && <p class="note">No worker says that it runs.</p>}
      <ul class="alerts">
        {workers.map(({ id, name, startedAt, lastSeenAt }) => (
          <li key={id}>
            <LastSign ms={now - lastSeenAt} />{" "}
            <b>
              <VisibleText text={name} />
            </b>{" "}
            <span class="note">since {dateAndTime(startedAt)}</span>
          </li>
        ))}
      </ul>
      {workers.length === LIMITS.workers && <p class="note">Those that were seen last.</p>}
    </section>
  );
}

/** A time ahead of the clock is of before that was put back, and no worker has followed it. */
function LastSign({ ms }: { ms: number }) {
  const kind = Math.abs(ms) < SILENT_MS ? "accepted" : "malformed";
  return (
    <span class={`state ${kind}`}>
      <Icon name={kind} />
      {ms <= -SILENT_MS
        ? "not seen since the clock was put back"
        : ms < SILENT_MS
          ? `last seen ${ago(ms)}`
          : `not seen for ${span(ms)}`}
    </span>
  );
}
