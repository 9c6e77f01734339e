// Where one event stands at each of its listeners.
import { useEffect, useState } from "preact/hooks";
import type { EventView } from "../../src/outbox/contract.js";
import { type AnswerKind, kindOf } from "../parts/answer-kind.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Problem } from "../parts/problem.js";
import { StatusBadge } from "../parts/status-badge.js";
import { VisibleText } from "../parts/visible-text.js";
import { dateAndTime } from "../text/time.js";
import { span } from "./span.js";

interface EventProps {
  readonly id: string;
  read(id: string): Promise<readonly EventView[]>;
  onClose(): void;
}

/** Where one event stands at each of its listeners, with every attempt. */
export function EventDialog({ id, read, onClose }: EventProps) {
  const [entries, setEntries] = useState<readonly EventView[]>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    read(id).then(setEntries, (error: Error) => setProblem(error.message));
  }, [id]);
  return (
    <Dialog title="Event" onClose={onClose}>
      <p class="mono event-id">
        <VisibleText text={id} />
      </p>
      <Problem text={problem} />
      {entries?.map((entry) => (
        <TimeOfEvent key={entry.listener} entry={entry} />
      ))}
    </Dialog>
  );
}

const KINDS: Readonly<Record<EventView["state"], AnswerKind>> = {
  pending: "malformed",
  "in-flight": "duplicate",
  delivered: "accepted",
  dead: "refused",
  cancelled: "duplicate",
};

function TimeOfEvent({ entry }: { entry: EventView }) {
  const { listener, state, enqueuedAt, orderingKey, waitsBehind, dueAt, attempts } = entry;
  const kind = KINDS[state];
  let before = enqueuedAt;
  return (
    <section class="event">
      <h3>
        <VisibleText text={listener} />{" "}
        <span class={`state ${kind}`}>
          <Icon name={kind} />
          {state}
        </span>
      </h3>
      {orderingKey !== undefined && (
        <p class="note">
          ordering key <VisibleText text={orderingKey} />
        </p>
      )}
      <ol class="timeline">
        <li>
          <span class="note">{dateAndTime(enqueuedAt)}</span> enqueued
        </li>
        {attempts.map(({ number, startedAt, durationMs, status, code, words, answer, corrected }) => {
          const gap = startedAt - before;
          before = startedAt + durationMs;
          return (
            <li key={number} class={status === undefined ? "failed" : kindOf(status)}>
              <span class="note">{span(gap)} later</span> attempt {number}{" "}
              {status === undefined ? <b>no answer</b> : <StatusBadge status={status} />}{" "}
              <span class="note">{span(durationMs)}</span>
              {code !== undefined && (
                <p>
                  <VisibleText text={words?.message ?? code} />
                </p>
              )}
              {corrected && (
                <p class="note">
                  corrected: <VisibleText text={corrected.join(", ")} />
                </p>
              )}
              {answer !== undefined && code !== undefined && (
                <p class="answer">
                  <span class="note">it answered</span>{" "}
                  <span class="mono">
                    <VisibleText text={answer} />
                  </span>
                </p>
              )}
            </li>
          );
        })}
        {waitsBehind && (
          <li>
            <span class="note">blocked</span> waits behind{" "}
            <span class="mono">
              <VisibleText text={waitsBehind.id} />
            </span>
            ,{" "}
            {waitsBehind.state === "in-flight"
              ? "which is being sent"
              : `${waitsBehind.state === "dead" ? "dead" : "waiting"} since ${dateAndTime(waitsBehind.since)}`}
          </li>
        )}
        {dueAt !== undefined && !waitsBehind && (
          <li>
            <span class="note">{dateAndTime(dueAt)}</span> due again
          </li>
        )}
      </ol>
    </section>
  );
}
