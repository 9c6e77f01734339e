import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { CallRow } from "../../src/inspector/contract.js";
import { useDetail } from "../detail/use-detail.js";
import { Command } from "../frame/empty-state.js";
import { useKeys } from "../frame/use-keys.js";
import { type Filter, NO_FILTER, ofSource, ofStatus } from "../list/filter.js";
import { FilterBar } from "../list/filter-bar.js";
import { RequestList } from "../list/request-list.js";
import { steppedFrom } from "../list/row-window.js";
import { useSearch } from "../list/use-search.js";
import type { Api } from "../live/api.js";
import { Icon } from "../parts/icon.js";
import { TimeLine } from "../time-line/time-line.js";
import { Call } from "./call-detail.js";
import { callParts } from "./call-row.js";

interface CallsViewProps {
  readonly api: Api;
  readonly rows: readonly CallRow[];
  readonly chosen: number | undefined;
  nowMs(): number;
  onChoose(n: number | undefined): void;
  onCopy(text: string, what: string): void;
}

/** The calls of the service's API beside the webhooks: a list, and the chosen one. */
export function CallsView({ api, rows, chosen, nowMs, onChoose, onCopy }: CallsViewProps) {
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const input = useRef<HTMLInputElement>(null);
  const search = useCallback(async (q: string) => (await api.calls(q)).rows, [api]);
  const found = useSearch(search, filter.text, rows) ?? rows;
  const ofOne = useMemo(() => ofSource(found, filter, ({ client }) => client), [found, filter]);
  const shown = useMemo(() => ofStatus(ofOne, filter), [ofOne, filter]);
  const clients = useMemo(() => [...new Set(rows.flatMap(({ client }) => client ?? []))].sort(), [rows]);
  const row = useMemo(() => rows.find(({ n }) => n === chosen), [rows, chosen]);
  const call = useDetail(api.call, chosen, row);

  const move = (by: number) => {
    const to = steppedFrom(shown, chosen, by);
    if (to !== undefined) onChoose(to);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    "/": () => input.current?.focus(),
    Escape: () => onChoose(undefined),
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
    <main>
      <section class="master" aria-label="API calls">
        <TimeLine rows={ofOne} nowMs={nowMs} />
        <FilterBar
          filter={filter}
          rows={ofOne}
          sources={{ label: "Client", all: "All clients", ids: clients }}
          search={input}
          onChange={(change) => setFilter({ ...filter, ...change })}
        />
        <RequestList
          label="API calls"
          rows={shown}
          parts={callParts}
          chosen={chosen}
          onChoose={onChoose}
          onMove={move}
        />
        {shown.length === 0 && <p class="nothing note">Nothing matches.</p>}
      </section>
      <section class="detail" aria-label="The chosen call" tabIndex={-1}>
        <button type="button" class="back quiet" onClick={() => onChoose(undefined)}>
          <Icon name="back" /> API calls
        </button>
        {call !== undefined && call !== "gone" && <Call key={call.n} call={call} />}
        {call === "gone" && <p class="nothing note">Call #{chosen} is not kept any more.</p>}
        {chosen === undefined && <p class="nothing note">Choose a call, or press j.</p>}
      </section>
    </main>
  );
}
