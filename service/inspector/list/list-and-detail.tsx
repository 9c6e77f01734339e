// A list with its filters, next to what is open.
import type { ComponentChildren, Ref } from "preact";
import { useRef } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { TimeLine } from "../time-line/time-line.js";
import { FilterBar } from "./filter-bar.js";
import type { Line } from "./lines.js";
import type { Listed, RowParts } from "./list-row.js";
import { RequestList } from "./request-list.js";
import { Splitter } from "./splitter.js";
import type { Filtered } from "./use-filtered.js";
import { useWidth } from "./use-width.js";

interface ListAndDetailProps<Row extends Listed> {
  /** What is listed, and what one of them is called. */
  readonly label: string;
  readonly one: string;
  readonly filtered: Filtered<Row>;
  /** What is shown, line by line. */
  readonly lines: readonly Line<Row>[];
  readonly sources: Parameters<typeof FilterBar>[0]["sources"];
  readonly search: Ref<HTMLInputElement>;
  /** More buttons next to the statuses, and next to the search. */
  readonly chips?: ComponentChildren;
  readonly more?: ComponentChildren;
  readonly parts: (row: Row) => RowParts;
  readonly chosen: number | undefined;
  /** The newest is chosen by itself. */
  readonly following?: boolean;
  /** The one that is open. */
  readonly children: ComponentChildren;
  nowMs(): number;
  onChoose(n: number | undefined): void;
  onMove(by: number): void;
  /** Opens a head, or folds it; absent where there are none. */
  onFold?(line: Line<Row>, isOpen: boolean): void;
}

/** A list with its filters, and the one of it that is open. */
export function ListAndDetail<Row extends Listed>(props: ListAndDetailProps<Row>) {
  const { label, one, filtered, sources, search, chips, more, parts, chosen, following = false } = props;
  const { lines, children, nowMs, onChoose, onMove, onFold } = props;
  const { filter, setFilter, ofOne, ofTime, shown } = filtered;
  const [width, setWidth] = useWidth();
  const master = useRef<HTMLElement>(null);
  return (
    <main style={{ "--list": `${width}%` }}>
      <section class="master" aria-label={label} ref={master}>
        <TimeLine rows={ofOne} span={filter.span} nowMs={nowMs} onSpan={(span) => setFilter({ span })} />
        <FilterBar
          filter={filter}
          rows={ofTime}
          sources={sources}
          search={search}
          chips={chips}
          more={more}
          onChange={setFilter}
          onMove={onMove}
          onLeave={() => {
            if (!following && chosen !== undefined) onChoose(chosen);
            master.current?.querySelector<HTMLElement>(".list")?.focus();
          }}
        />
        <RequestList
          label={label}
          lines={lines}
          parts={parts}
          chosen={chosen}
          following={following}
          nowMs={nowMs}
          onChoose={onChoose}
          onMove={onMove}
          onFold={onFold}
        />
      </section>
      <Splitter of={label} width={width} onWidth={setWidth} />
      <section class="detail" aria-label={`The chosen ${one}`} tabIndex={-1}>
        <button type="button" class="back quiet" onClick={() => onChoose(undefined)}>
          <Icon name="back" /> {label}
        </button>
        {chosen === undefined && shown.length > 0 && <p class="nothing note">Choose a {one}, or press j.</p>}
        {children}
      </section>
    </main>
  );
}
