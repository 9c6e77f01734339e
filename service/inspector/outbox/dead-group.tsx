// Dead letters that failed alike, as one card.
import { useState } from "preact/hooks";
import type { DeadGroup, RedriveOrder, RedriveResult } from "../../src/outbox/contract.js";
import { VisibleText } from "../parts/visible-text.js";
import { dateAndTime } from "../text/time.js";
import { EventLink, FailureText } from "./failure.js";

interface DeadGroupProps {
  readonly group: DeadGroup;
  readonly canRedrive: boolean;
  nowMs(): number;
  redrive(order: RedriveOrder): Promise<RedriveResult | undefined>;
  onEvent(id: string): void;
}

const REASONS: Readonly<Record<DeadGroup["reason"], string>> = {
  refused: "refused permanently",
  attempts: "no attempts left",
  window: "its window has closed",
  unsendable: "cannot be sent",
};

/** Dead letters that failed alike; how many would come back is counted before any does. */
export function DeadGroupCard({ group, canRedrive, nowMs, redrive, onEvent }: DeadGroupProps) {
  const { listener, reason, code, count, oldestAt, newestAt, failure, ids } = group;
  const [counted, setCounted] = useState<RedriveResult>();
  const [newIds, setNewIds] = useState(false);
  const ask = async (dryRun: boolean, withNewIds: boolean) => {
    const result = await redrive({ listener, reason, code, dryRun, newIds: withNewIds });
    setCounted(dryRun ? result : undefined);
  };
  return (
    <section class="card dead" aria-label={`${count} dead letters of ${listener}, ${code}`}>
      <header>
        <h3>
          {count} × <VisibleText text={code} />
        </h3>
        <span class="note">
          <VisibleText text={listener} /> · {REASONS[reason]}
        </span>
      </header>
      <FailureText failure={failure} nowMs={nowMs} onEvent={onEvent} />
      <p class="note">
        {oldestAt === newestAt
          ? dateAndTime(newestAt)
          : `from ${dateAndTime(oldestAt)} to ${dateAndTime(newestAt)}`}
      </p>
      <p class="ids">
        {ids.map((id) => (
          <EventLink key={id} id={id} onEvent={onEvent} />
        ))}
        {count > ids.length && <span class="note">and {count - ids.length} more</span>}
      </p>
      {counted && (
        <p role="status">
          <b>{counted.redriven}</b> would be delivered again
          {counted.pastWindow > 0 && `, ${counted.pastWindow} are past their window and need new ids`}.
        </p>
      )}
      <footer>
        {counted && (counted.pastWindow > 0 || newIds) && (
          <label class="check">
            <input
              type="checkbox"
              checked={newIds}
              onChange={(event) => {
                setNewIds(event.currentTarget.checked);
                void ask(true, event.currentTarget.checked);
              }}
            />
            with new ids; an event that has arrived runs twice
          </label>
        )}
        <button type="button" onClick={() => ask(true, newIds)}>
          How many would come back?
        </button>
        {canRedrive && counted && counted.redriven > 0 && (
          <button type="button" class="primary" onClick={() => ask(false, newIds)}>
            Deliver {counted.redriven} again
          </button>
        )}
      </footer>
    </section>
  );
}
