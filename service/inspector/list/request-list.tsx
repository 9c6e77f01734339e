// The list of requests, newest first.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useNow } from "../frame/use-now.js";
import { type Line, placeOf } from "./lines.js";
import { type Listed, Row, type RowParts } from "./list-row.js";
import { ROW_HEIGHT, rowWindow, scrollTopFor } from "./row-window.js";

interface ListProps<Item extends Listed> {
  readonly label: string;
  readonly lines: readonly Line<Item>[];
  readonly chosen: number | undefined;
  /** What is special to these rows. */
  readonly parts: (row: Item) => RowParts;
  /** The newest is chosen by itself: whoever has scrolled away meanwhile stays there. */
  readonly following?: boolean;
  nowMs(): number;
  onChoose(n: number): void;
  onMove(by: number): void;
  /** Opens a head, or folds it; absent where there are none. */
  onFold?: ((line: Line<Item>, isOpen: boolean) => void) | undefined;
}

/** What came in, newest first. Only the rows in sight are in the document, however many there are. */
export function RequestList<Item extends Listed>(props: ListProps<Item>) {
  const { label, lines, chosen, parts, following, nowMs, onChoose, onMove, onFold } = props;
  const now = useNow(nowMs);
  const list = useRef<HTMLDivElement>(null);
  // Rows go on under the mouse while it is down: what was pressed is opened, whatever it is released over.
  const pressed = useRef<Line<Item> | undefined>(undefined);
  const view = useReadingPlace(list, lines);
  const chosenAt = placeOf(lines, chosen);
  useChosenInSight(list, { chosen, chosenAt, following: following === true });

  const { from, to } = rowWindow(view.top, view.height, lines.length);
  const shown = lines.slice(from, to);
  const chosenLine = lines[chosenAt];
  return (
    <div
      class="list"
      ref={list}
      role="tree"
      aria-label={`${label}, newest first`}
      tabIndex={0}
      aria-activedescendant={chosenLine && shown.includes(chosenLine) ? `row-${chosenLine.row.n}` : undefined}
      onMouseDownCapture={() => {
        pressed.current = undefined;
      }}
      onClick={() => {
        const line = pressed.current;
        pressed.current = undefined;
        if (line?.group) onFold?.(line, !line.group.isOpen);
        if (line && !line.group?.isOpen) onChoose(line.row.n);
      }}
      onKeyDown={(event) => {
        if (onFold && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
          const head = headOf(lines, chosenAt);
          if (head) onFold(head, event.key === "ArrowRight");
          if (head) event.preventDefault();
          return;
        }
        const step = stepOf(event.key, lines.length);
        if (step === undefined) return;
        event.preventDefault();
        onMove(step);
      }}
    >
      {lines.length === 0 && <p class="nothing note">Nothing matches.</p>}
      <div class="rows" role="presentation" style={{ height: `${lines.length * ROW_HEIGHT}px` }}>
        {shown.map((line, at) => (
          <Row
            // At the top each row shows the next request: a new one for each would be laid out from nothing. Places are no
            // ids: keys are compared as texts, and row 4 in place 11 would turn into row 11 under the mouse.
            key={view.top === 0 ? `place ${at}` : line.id}
            line={line}
            parts={parts(line.row)}
            index={from + at}
            count={lines.length}
            chosen={from + at === chosenAt}
            now={now}
            onPress={() => {
              pressed.current = line;
            }}
          />
        ))}
      </div>
    </div>
  );
}

/** The head of a line: itself, or the one that it stands below. */
function headOf<Item>(lines: readonly Line<Item>[], at: number): Line<Item> | undefined {
  const line = lines[at];
  return line?.isInside ? lines.slice(0, at).findLast(({ group }) => group) : line?.group && line;
}

/** How far a key goes in a list of this length; undefined for other keys. */
function stepOf(key: string, length: number): number | undefined {
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -length, End: length };
  return by[key as keyof typeof by];
}

/** What is in sight. Anyone who has scrolled down goes on reading the same rows while new ones come in above. */
function useReadingPlace(
  list: RefObject<HTMLDivElement | null>,
  lines: readonly Line<Listed>[],
): { readonly top: number; readonly height: number } {
  const [view, setView] = useState({ top: 0, height: 800 });
  const latest = useRef(lines);
  const anchor = useRef<string | undefined>(undefined);

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const measure = () => {
      anchor.current = latest.current[Math.floor(element.scrollTop / ROW_HEIGHT)]?.id;
      setView({ top: element.scrollTop, height: element.clientHeight });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  useLayoutEffect(() => {
    const before = latest.current;
    latest.current = lines;
    const element = list.current;
    if (!element || element.scrollTop === 0) return;
    const was = before.findIndex(({ id }) => id === anchor.current);
    const is = lines.findIndex(({ id }) => id === anchor.current);
    if (was >= 0 && is >= 0 && is !== was) element.scrollTop += (is - was) * ROW_HEIGHT;
  }, [lines]);

  return view;
}

interface Sight {
  readonly chosen: number | undefined;
  readonly chosenAt: number;
  readonly following: boolean;
}

/** Scrolls to the row that is chosen, and to the top while the newest is. */
function useChosenInSight(
  list: RefObject<HTMLDivElement | null>,
  { chosen, chosenAt, following }: Sight,
): void {
  // Older rows are loaded after the newest: a row that was named in the address may come later than the list.
  useLayoutEffect(() => {
    const element = list.current;
    if (element && chosenAt >= 0 && !following)
      element.scrollTop = scrollTopFor(chosenAt, element.scrollTop, element.clientHeight);
  }, [chosen, chosenAt >= 0]);

  useLayoutEffect(() => {
    if (following && list.current) list.current.scrollTop = 0;
  }, [following]);
}
