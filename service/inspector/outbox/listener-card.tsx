// How one listener stands, as a card.
import { useState } from "preact/hooks";
import { type EventView, LIMITS, type ListenerView } from "../../src/outbox/contract.js";
import type { AnswerKind } from "../parts/answer-kind.js";
import { Fold } from "../parts/fold.js";
import { Icon } from "../parts/icon.js";
import { VisibleText } from "../parts/visible-text.js";
import { timeOfDay } from "../text/time.js";
import { EventLink, FailureText } from "./failure.js";
import { span } from "./span.js";

interface ListenerProps {
  readonly listener: ListenerView;
  readonly canPause: boolean;
  nowMs(): number;
  waiting(listener: string): Promise<readonly EventView[]>;
  onEvent(id: string): void;
  onPause(listener: string): void;
  onResume(listener: string): void;
}

/** How one listener stands, what failed last, and what waits for it. */
export function ListenerCard(props: ListenerProps) {
  const { listener: one, canPause, nowMs, waiting, onEvent, onPause, onResume } = props;
  const { kind, words } = stateOf(one, nowMs());
  return (
    <section class="card listener" aria-label={`Listener ${one.listener}`}>
      <header>
        <h3>
          <VisibleText text={one.listener} />
        </h3>
        <span class={`state ${kind}`}>
          <Icon name={kind} />
          <VisibleText text={words} />
        </span>
      </header>
      <dl class="counts">
        <Count name="waiting" value={one.pending} />
        <Count name="oldest" value={one.pending === 0 ? "–" : span(one.oldestAgeMs)} />
        <Count name="in flight" value={one.inFlight} />
        <Count name="delivered" value={one.delivered} />
        <Count name="per minute" value={one.perMinute ?? "–"} />
        <Count name="dead" value={one.dead} />
      </dl>
      {one.nextAt !== undefined && one.paused === undefined && (
        <p class="note">{nextInWords(one, one.nextAt, nowMs())}</p>
      )}
      {one.failure && <FailureText failure={one.failure} nowMs={nowMs} onEvent={onEvent} />}
      {one.pending > 0 && (
        <Fold summary="What waits">
          {() => <Waiting listener={one.listener} waiting={waiting} onEvent={onEvent} />}
        </Fold>
      )}
      {canPause && (
        <footer>
          {one.paused ? (
            <button type="button" onClick={() => onResume(one.listener)}>
              Resume
            </button>
          ) : (
            <button type="button" onClick={() => onPause(one.listener)}>
              Pause …
            </button>
          )}
        </footer>
      )}
    </section>
  );
}

/** How long a due event waits before it looks as if nobody fetched it: workers look ten times a second. */
const FETCHED_MS = 10_000;

/** When the next attempt is due; where it is overdue, that no worker has come for it. */
function nextInWords({ inFlight, breaker, restsUntil = 0 }: ListenerView, at: number, now: number): string {
  if (at > now) return `next attempt at ${timeOfDay(at)}, in ${span(at - now)}`;
  const isHeld = inFlight > 0 || restsUntil > now || (breaker !== undefined && breaker !== "closed");
  if (isHeld || now - at < FETCHED_MS) return "next attempt now";
  return `next attempt due since ${timeOfDay(at)}, and not taken for ${span(now - at)}: is a worker running?`;
}

function Count({ name, value }: { name: string; value: number | string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** What keeps a listener's events from going out, the strongest reason first. */
function stateOf(one: ListenerView, now: number): { kind: AnswerKind; words: string } {
  const { paused, unknownSince, restsUntil, breaker, dead, failure, pending } = one;
  if (paused)
    return {
      kind: "duplicate",
      words: `paused since ${timeOfDay(paused.since)}${paused.reason ? `: ${paused.reason}` : ""}`,
    };
  if (unknownSince !== undefined)
    return { kind: "malformed", words: `unknown to its workers since ${timeOfDay(unknownSince)}` };
  if (breaker === "open") return { kind: "refused", words: "breaker open" };
  if (breaker === "half-open") return { kind: "malformed", words: "breaker half-open" };
  if (restsUntil !== undefined && restsUntil > now)
    return { kind: "malformed", words: `asked to rest until ${timeOfDay(restsUntil)}` };
  if (failure && pending > 0) return { kind: "malformed", words: "failing" };
  return dead > 0 ? { kind: "refused", words: "dead letters" } : { kind: "accepted", words: "no trouble" };
}

function Waiting({
  listener,
  waiting,
  onEvent,
}: Pick<ListenerProps, "waiting" | "onEvent"> & { listener: string }) {
  const [events, setEvents] = useState<readonly EventView[]>();
  if (!events) void waiting(listener).then(setEvents, () => setEvents([]));
  const [text, setText] = useState("");
  if (!events) return <p class="note">…</p>;
  const wanted = text.trim().toLowerCase();
  const found = events.filter((one) => `${one.id} ${standing(one)}`.toLowerCase().includes(wanted));
  return (
    <>
      <input
        type="search"
        placeholder="Part of an id, an answer or a key"
        aria-label={`Search what waits for ${listener}`}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {found.length === 0 && <p class="note">Nothing matches.</p>}
      {events.length === LIMITS.waiting && (
        <p class="note">These are the first {LIMITS.waiting}; any other is found above by its whole id.</p>
      )}
      <ul class="waiting">
        {found.map((one) => (
          <li key={one.id}>
            <EventLink id={one.id} onEvent={onEvent} />{" "}
            <span class="note">
              <VisibleText text={standing(one)} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** When a waiting event is due or what it waits for, how often it was tried, and what came of the last attempt. */
function standing({ state, dueAt, waitsBehind, orderingKey, attempts }: EventView): string {
  const last = attempts.at(-1);
  return [
    waitsBehind ? "waits behind another" : dueAt === undefined ? state : `due ${timeOfDay(dueAt)}`,
    `${attempts.length} ${attempts.length === 1 ? "attempt" : "attempts"}`,
    last && `last ${last.status ?? "no answer"} ${last.words?.code ?? last.code ?? ""}`.trim(),
    orderingKey !== undefined && `key ${orderingKey}`,
  ]
    .filter(Boolean)
    .join(", ");
}
