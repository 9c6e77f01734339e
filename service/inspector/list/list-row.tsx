// One row of a list.
import type { ComponentChildren } from "preact";
import { Icon } from "../parts/icon.js";
import { StatusBadge } from "../parts/status-badge.js";
import { ago, timeOfDay } from "../text/time.js";
import type { Line } from "./lines.js";
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
  readonly line: Line<Listed>;
  readonly parts: RowParts;
  readonly index: number;
  readonly count: number;
  readonly chosen: boolean;
  readonly now: number;
  /** The mouse went down on it, or it was clicked without one. */
  onPress(): void;
}

export function Row({ line, parts, index, count, chosen, now, onPress }: RowProps) {
  const { row, group, isInside } = line;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
    <div
      id={group?.isOpen ? `cause-${row.n}` : `row-${row.n}`}
      class={`row ${group ? "head" : ""} ${isInside ? "inside" : ""}`}
      role="treeitem"
      aria-level={isInside ? 2 : 1}
      aria-expanded={group?.isOpen}
      aria-selected={chosen}
      aria-setsize={count}
      aria-posinset={index + 1}
      style={{ transform: `translateY(${index * ROW_HEIGHT}px)` }}
      onMouseDown={onPress}
      onClick={({ detail }) => {
        if (detail === 0) onPress();
      }}
    >
      <StatusBadge status={row.status} />
      <span class="reason">
        {group && <Icon name="down" />}
        {parts.title}
      </span>
      <time dateTime={new Date(row.at).toISOString()}>{timeOfDay(row.at)}</time>
      <span class="facts">
        {group ? <Head rows={group.rows} /> : <span>#{row.n}</span>}
        {!group && parts.facts}
      </span>
      <span class="age">{ago(now - row.at)}</span>
    </div>
  );
}

function Head({ rows }: { rows: readonly Listed[] }) {
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (!newest || !oldest) return null;
  return (
    <>
      <b>{rows.length} requests</b>
      <span>
        #{oldest.n} to #{newest.n}
      </span>
      <span>since {timeOfDay(oldest.at)}</span>
    </>
  );
}
