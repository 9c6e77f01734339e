// One row of a list.
import type { ComponentChildren } from "preact";
import { StatusBadge } from "../parts/status-badge.js";
import { ago, timeOfDay } from "../text/time.js";
import { ROW_HEIGHT } from "./row-window.js";

/** What every row has. */
export interface Listed {
  readonly n: number;
  readonly at: number;
  readonly status: number;
}

/** What differs from list to list. */
export interface RowParts {
  readonly title: ComponentChildren;
  readonly facts: ComponentChildren;
}

interface RowProps {
  readonly row: Listed;
  readonly parts: RowParts;
  readonly index: number;
  readonly count: number;
  readonly chosen: boolean;
  readonly now: number;
  onChoose(n: number): void;
}

/** One row of a list. */
export function Row({ row, parts, index, count, chosen, now, onChoose }: RowProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
    <div
      id={`row-${row.n}`}
      class="row"
      role="option"
      aria-selected={chosen}
      aria-setsize={count}
      aria-posinset={index + 1}
      style={{ transform: `translateY(${index * ROW_HEIGHT}px)` }}
      onClick={() => onChoose(row.n)}
    >
      <StatusBadge status={row.status} />
      <span class="reason">{parts.title}</span>
      <time dateTime={new Date(row.at).toISOString()}>{timeOfDay(row.at)}</time>
      <span class="facts">
        <span>#{row.n}</span>
        {parts.facts}
      </span>
      <span class="age">{ago(now - row.at)}</span>
    </div>
  );
}
