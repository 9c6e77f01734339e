import type { RequestRow } from "../../src/inspector/contract.js";
import { Icon } from "../parts/icon.js";
import { StatusBadge } from "../parts/status-badge.js";
import { VisibleText } from "../parts/visible-text.js";
import { sizeOf } from "../text/bytes.js";
import { timeOfDay } from "../text/time.js";
import { ROW_HEIGHT } from "./row-window.js";

interface RowProps {
  readonly row: RequestRow;
  readonly index: number;
  readonly count: number;
  readonly chosen: boolean;
  onChoose(n: number): void;
}

/** One request in the list. */
export function Row({ row, index, count, chosen, onChoose }: RowProps) {
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
      <span class="reason">
        <VisibleText text={row.reason} />
      </span>
      <time dateTime={new Date(row.at).toISOString()}>{timeOfDay(row.at)}</time>
      <span class="facts">
        <span class="mono">
          {row.eventId === undefined ? "no event id" : <VisibleText text={row.eventId.slice(0, 8)} />}
        </span>
        <span>{row.auth === undefined ? "no listener" : row.auth === "hmac" ? "HMAC" : "JWT"}</span>
        {row.method !== "POST" && (
          <span class="mono">
            <VisibleText text={row.method.slice(0, 12)} />
          </span>
        )}
        <span>{sizeOf(row.bodyBytes)}</span>
        {row.replay && (
          <span class="origin">
            <Icon name="replay" />
            {row.replay.kind} of #{row.replay.of}
          </span>
        )}
        {row.verdictStatus !== undefined && <span class="origin">forced ({row.verdictStatus})</span>}
        {row.imported && <span class="origin">imported</span>}
      </span>
      <span class="number">#{row.n}</span>
    </div>
  );
}
