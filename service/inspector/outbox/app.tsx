// The whole page of an outbox.
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { DeadLetters, Overview, RedriveOrder, RedriveResult } from "../../src/outbox/contract.js";
import { Toast } from "../frame/toast.js";
import { type Attempt, useNote } from "../frame/use-note.js";
import { Icon } from "../parts/icon.js";
import { VisibleText } from "../parts/visible-text.js";
import { Alerts } from "./alerts.js";
import type { OutboxApi } from "./api.js";
import { DeadGroupCard } from "./dead-group.js";
import { EventDialog } from "./event-dialog.js";
import { ListenerCard } from "./listener-card.js";
import { PauseDialog } from "./pause-dialog.js";
import { usePoll } from "./use-poll.js";
import { Workers } from "./workers.js";

const OVERVIEW_MS = 2_000;
const DEAD_LETTERS_MS = 5_000;

export function OutboxApp({ api }: { api: OutboxApi }) {
  const overview = usePoll(api.overview, OVERVIEW_MS);
  const deadLetters = usePoll(api.deadLetters, DEAD_LETTERS_MS);
  const [event, setEvent] = useEventOfAddress();
  const [paused, setPaused] = useState<string>();
  const [note, attempt] = useNote();
  const { value } = overview;
  const nowMs = useServerClock(value);
  const changed: Attempt = (work) =>
    attempt(async () => {
      const text = await work();
      overview.again();
      deadLetters.again();
      return text;
    });
  const redrive = async (order: RedriveOrder) => {
    let result: RedriveResult | undefined;
    await (order.dryRun ? attempt : changed)(async () => {
      result = await api.redrive(order);
      return order.dryRun ? undefined : `${result.redriven} are delivered again`;
    });
    return result;
  };

  return (
    <div class="page">
      <OutboxBar
        overview={value}
        problem={overview.locked ? "no access" : overview.problem}
        onEvent={setEvent}
      />
      {overview.locked ? (
        <main class="alone">
          <p class="nothing note">{overview.problem}</p>
        </main>
      ) : (
        <main class="outbox">
          {value && value.total === 0 && <p class="nothing note">The outbox is empty.</p>}
          {value && value.total > 0 && <Totals overview={value} />}
          {value && value.totalAlerts > 0 && <Alerts alerts={value.alerts} total={value.totalAlerts} />}
          {value && value.total > 0 && (
            <Listeners
              overview={value}
              nowMs={nowMs}
              waiting={api.waiting}
              onEvent={setEvent}
              onPause={setPaused}
              onResume={(name) => void changed(() => api.resume(name).then(() => `Resumed: ${name}`))}
            />
          )}
          {value?.workers && <Workers workers={value.workers} nowMs={nowMs} />}
          {deadLetters.value && deadLetters.value.groups.length > 0 && (
            <Dead
              letters={deadLetters.value}
              canRedrive={value?.actions.includes("redrive") === true}
              nowMs={nowMs}
              onEvent={setEvent}
              redrive={redrive}
            />
          )}
        </main>
      )}
      <Toast note={note} />
      {event !== "" && <EventDialog key={event} id={event} read={api.event} onClose={() => setEvent("")} />}
      {paused !== undefined && (
        <PauseDialog
          listener={paused}
          onClose={() => setPaused(undefined)}
          onPause={(reason) => {
            setPaused(undefined);
            void changed(async () => {
              await api.pause(paused, reason);
              return `Paused: ${paused}`;
            });
          }}
        />
      )}
    </div>
  );
}

interface BarProps {
  readonly overview: Overview | undefined;
  readonly problem: string | undefined;
  onEvent(id: string): void;
}

function OutboxBar({ overview, problem, onEvent }: BarProps) {
  const [id, setId] = useState("");
  const isLive = overview !== undefined && problem === undefined;
  const open = (event: Event) => {
    event.preventDefault();
    if (id.trim() !== "") onEvent(id.trim());
  };
  return (
    <header class="top">
      <h1>
        <img src="./icon.svg" alt="" width="24" height="24" />
        Hookproof <span>outbox</span>
      </h1>
      <p class={`connection ${isLive ? "live" : "lost"}`} role="status">
        <Icon name={isLive ? "accepted" : "failed"} />
        {isLive ? "live" : (problem ?? "connecting")}
      </p>
      {overview && (
        <p class="url note">
          <span class="mono">
            <VisibleText text={overview.name} />
          </span>
          {overview.actions.length === 0 && " · read only"}
        </p>
      )}
      <search class="find">
        <form onSubmit={open}>
          <input
            type="search"
            placeholder="An event id"
            aria-label="Event id"
            spellcheck={false}
            value={id}
            onInput={(event) => setId(event.currentTarget.value)}
          />
          <button type="submit">Show</button>
        </form>
      </search>
    </header>
  );
}

function Totals({ overview: { listeners } }: { overview: Overview }) {
  const sum = (name: "pending" | "inFlight" | "delivered" | "dead") =>
    listeners.reduce((total, one) => total + one[name], 0);
  return (
    <dl class="totals" aria-label="All listeners">
      {(
        [
          ["waiting", sum("pending")],
          ["in flight", sum("inFlight")],
          ["delivered", sum("delivered")],
          ["dead letters", sum("dead")],
        ] as const
      ).map(([name, count]) => (
        <div key={name}>
          <dd>{count}</dd>
          <dt>{name}</dt>
        </div>
      ))}
    </dl>
  );
}

interface ListenersProps extends Omit<Parameters<typeof ListenerCard>[0], "listener" | "canPause"> {
  readonly overview: Overview;
}

function Listeners({ overview: { listeners, total, actions }, ...rest }: ListenersProps) {
  return (
    <section aria-labelledby="listeners">
      <h2 id="listeners">Listeners</h2>
      <div class="cards">
        {listeners.map((listener) => (
          <ListenerCard
            key={listener.listener}
            listener={listener}
            canPause={actions.includes("pause")}
            {...rest}
          />
        ))}
      </div>
      {total > listeners.length && (
        <p class="note">
          {listeners.length} of {total} listeners, those in trouble first.
        </p>
      )}
    </section>
  );
}

type DeadProps = Omit<Parameters<typeof DeadGroupCard>[0], "group"> & { readonly letters: DeadLetters };

function Dead({ letters, ...rest }: DeadProps) {
  return (
    <section aria-labelledby="dead">
      <h2 id="dead">Dead letters</h2>
      <div class="cards wide">
        {letters.groups.map((group) => (
          <DeadGroupCard
            key={JSON.stringify([group.listener, group.reason, group.code])}
            group={group}
            {...rest}
          />
        ))}
      </div>
      {letters.isCut && <p class="note">There are more; these groups are of the oldest.</p>}
    </section>
  );
}

/** The server's clock, as far ahead of this one as it was at the last answer. */
function useServerClock(overview: Overview | undefined): () => number {
  const offset = useMemo(() => (overview ? overview.now - Date.now() : 0), [overview]);
  return useCallback(() => Date.now() + offset, [Math.round(offset / 1000)]);
}

/** The event that the page's address names; empty for none. */
function useEventOfAddress(): [string, (id: string) => void] {
  const read = () => /^#(?:t=[^&]*&n=)?([0-9a-f-]{1,64})$/i.exec(location.hash)?.[1] ?? "";
  const [id, setId] = useState(read);
  useEffect(() => {
    const changed = () => setId(read());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return [
    id,
    (next) => {
      history.replaceState(null, "", next === "" ? location.pathname : `#${encodeURIComponent(next)}`);
      setId(next);
    },
  ];
}
