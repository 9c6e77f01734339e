// The list of requests, newest first.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useNow } from "../frame/use-now.js";
import { type Listed, Row, type RowParts } from "./list-row.js";
import { ROW_HEIGHT, rowWindow, scrollTopFor } from "./row-window.js";

interface ListProps<Item extends Listed> {
  readonly label: string;
  readonly rows: readonly Item[];
  readonly chosen: number | undefined;
  /** What is special to these rows. */
  readonly parts: (row: Item) => RowParts;
  /** The newest is chosen by itself: whoever has scrolled away meanwhile stays there. */
  readonly following?: boolean;
  nowMs(): number;
  onChoose(n: number): void;
  onMove(by: number): void;
}

/** What came in, newest first. Only the rows in sight are in the document, however many there are. */
export function RequestList<Item extends Listed>(props: ListProps<Item>) {
  const { label, rows, chosen, parts, following, nowMs, onChoose, onMove } = props;
  const now = useNow(nowMs);
  const list = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const newest = useRef(rows[0]?.n);

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  // Whoever has scrolled down goes on reading the same rows while new ones come in above.
  useLayoutEffect(() => {
    const before = newest.current;
    newest.current = rows[0]?.n;
    const element = list.current;
    if (!element || before === undefined || element.scrollTop === 0) return;
    const added = rows.findIndex(({ n }) => n === before);
    if (added > 0) element.scrollTop += added * ROW_HEIGHT;
  }, [rows]);

  // Older rows are loaded after the newest: a row that was named in the address may come later than the list.
  const chosenAt = rows.findIndex(({ n }) => n === chosen);
  useLayoutEffect(() => {
    const element = list.current;
    if (element && chosenAt >= 0 && !following)
      element.scrollTop = scrollTopFor(chosenAt, element.scrollTop, element.clientHeight);
  }, [chosen, chosenAt >= 0]);

  useLayoutEffect(() => {
    if (following && list.current) list.current.scrollTop = 0;
  }, [following]);

  const { from, to } = rowWindow(view.top, view.height, rows.length);
  const shown = rows.slice(from, to);
  return (
    <div
      class="list"
      ref={list}
      role="listbox"
      aria-label={`${label}, newest first`}
      tabIndex={0}
      aria-activedescendant={shown.some(({ n }) => n === chosen) ? `row-${chosen}` : undefined}
      onKeyDown={(event) => {
        const by = {
          ArrowDown: 1,
          ArrowUp: -1,
          PageDown: 10,
          PageUp: -10,
          Home: -rows.length,
          End: rows.length,
        };
        const step = by[event.key as keyof typeof by];
        if (step === undefined) return;
        event.preventDefault();
        onMove(step);
      }}
    >
      {rows.length === 0 && <p class="nothing note">Nothing matches.</p>}
      <div class="rows" role="presentation" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
        {shown.map((row, at) => (
          <Row
            // At the top each row shows the next request: a new one for each would be laid out from nothing.
            key={view.top === 0 ? at : row.n}
            row={row}
            parts={parts(row)}
            index={from + at}
            count={rows.length}
            chosen={row.n === chosen}
            now={now}
            onChoose={onChoose}
          />
        ))}
      </div>
    </div>
  );
}
