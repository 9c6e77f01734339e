// The calls of the service's API with their filters.
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import type { CallRow } from "../../src/inspector/contract.js";
import { useDetail } from "../detail/use-detail.js";
import { Command } from "../frame/empty-state.js";
import { useKeys } from "../frame/use-keys.js";
import { isNarrowed, NO_FILTER } from "../list/filter.js";
import { linesOf, steppedFrom } from "../list/lines.js";
import { ListAndDetail } from "../list/list-and-detail.js";
import { useFiltered } from "../list/use-filtered.js";
import type { Api } from "../live/api.js";
import { Call } from "./call-detail.js";
import { callParts } from "./call-row.js";

interface CallsViewProps {
  readonly api: Api;
  readonly rows: readonly CallRow[];
  /** Where the service is. */
  readonly origin: string | undefined;
  readonly chosen: number | undefined;
  nowMs(): number;
  onChoose(n: number | undefined): void;
  onCopy(text: string, what: string): void;
}

/** The calls of the service's API next to the webhooks: a list, and the chosen one. */
export function CallsView({ api, rows, origin, chosen, nowMs, onChoose, onCopy }: CallsViewProps) {
  const input = useRef<HTMLInputElement>(null);
  const search = useCallback(async (q: string) => (await api.calls(q)).rows, [api]);
  const filtered = useFiltered(rows, search, ({ client }) => client);
  const { filter, setFilter, shown } = filtered;
  const clients = useMemo(() => [...new Set(rows.flatMap(({ client }) => client ?? []))].sort(), [rows]);
  const row = useMemo(() => rows.find(({ n }) => n === chosen), [rows, chosen]);
  const call = useDetail(api.call, chosen, row);

  const lines = useMemo(() => linesOf(shown, alone, NONE_OPEN), [shown]);
  const move = (by: number) => {
    const to = steppedFrom(lines, chosen, by);
    if (to !== undefined) onChoose(to);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    "/": () => input.current?.focus(),
    Escape: () => (isNarrowed(filter) ? setFilter(NO_FILTER) : onChoose(undefined)),
  });

  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (chosen === undefined && rows[0] && matchMedia("(min-width: 900px)").matches) onChoose(rows[0].n);
  }, [isEmpty]);

  if (isEmpty)
    return (
      <main class="alone">
        <div class="empty">
          <h2>The API has not been called yet.</h2>
          <p>Calls appear here as they are answered. This prints every operation, ready to be called:</p>
          <Command text="hookproof service routes" onCopy={onCopy} />
        </div>
      </main>
    );
  return (
    <ListAndDetail
      label="API calls"
      one="call"
      filtered={filtered}
      lines={lines}
      sources={{ label: "Client", all: "All clients", ids: clients }}
      search={input}
      parts={callParts}
      chosen={chosen}
      nowMs={nowMs}
      onChoose={onChoose}
      onMove={move}
    >
      {call !== undefined && call !== "gone" && (
        <Call key={call.n} call={call} origin={origin} onCopy={onCopy} />
      )}
      {call === "gone" && <p class="nothing note">Call #{chosen} is not kept any more.</p>}
    </ListAndDetail>
  );
}

/** Each call is a line of its own. */
const alone = () => undefined;
const NONE_OPEN: ReadonlySet<string> = new Set();
