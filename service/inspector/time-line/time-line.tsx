// Draws answers by status over time, and narrows the list to a part of it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { TimeSpan } from "../list/filter.js";
import type { Listed } from "../list/list-row.js";
import type { AnswerKind } from "../parts/answer-kind.js";
import { timeOfDay } from "../text/time.js";
import { BAR_COUNT, type Bucket, type Buckets, bucketsOf } from "./buckets.js";
import { barsBetween, nextBar, spanInWords } from "./spans.js";

/** Accepted requests are drawn above the line, the others below it: each kind has its place, not its colour alone. */
const ABOVE = ["accepted", "duplicate"] as const satisfies AnswerKind[];
const BELOW = ["malformed", "refused", "failed"] as const satisfies AnswerKind[];

const WIDTH = 8;
const HEIGHT = 44;

interface TimeLineProps {
  readonly rows: readonly Listed[];
  /** What the list is narrowed to. */
  readonly span: TimeSpan | undefined;
  nowMs(): number;
  onSpan(span: TimeSpan | undefined): void;
}

/**
 * Answers by status over time, so that a burst or a storm of retries is seen at a glance. A click on a bar narrows the
 * list to it, dragging to several; the arrow keys go from bar to bar.
 */
export function TimeLine({ rows, span, nowMs, onSpan }: TimeLineProps) {
  const [, tick] = useState(0);
  const buckets = bucketsOf(rows, nowMs());
  const { stepMs, bars } = buckets;
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), stepMs);
    return () => clearInterval(timer);
  }, [stepMs]);
  return (
    <figure class="time-line">
      <Picker buckets={buckets} span={span} onSpan={onSpan}>
        <Bars buckets={buckets} span={span} />
      </Picker>
      <figcaption>
        <span>{timeOfDay(bars[0]?.from ?? 0)}</span>
        {span ? (
          <button type="button" class="link" title="Show all times" onClick={() => onSpan(undefined)}>
            Only {spanInWords(span)}: show all
          </button>
        ) : (
          <span>Above the line: accepted. Below: refused. One bar: {stepInWords(stepMs)}</span>
        )}
        <span>now</span>
      </figcaption>
    </figure>
  );
}

interface PickerProps extends Pick<TimeLineProps, "span" | "onSpan"> {
  readonly buckets: Buckets;
  readonly children: ComponentChildren;
}

/** Takes what is pointed at, and the keys. */
function Picker({ buckets, span, onSpan, children }: PickerProps) {
  const { stepMs, bars } = buckets;
  const first = useRef<number | undefined>(undefined);
  const chosen = span && bars.findIndex(({ from }) => from + stepMs > span.from);
  const at = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = (currentTarget as HTMLElement).getBoundingClientRect();
    return Math.floor((BAR_COUNT * (clientX - left)) / width);
  };
  const choose = (bar: number, to = bar) => onSpan(barsBetween(buckets, bar, to));
  return (
    <div
      class="picker"
      role="slider"
      tabIndex={0}
      aria-label={`Answers over time, one bar for ${stepInWords(stepMs)}: ${countsLabel(bars)}`}
      aria-valuemin={0}
      aria-valuemax={BAR_COUNT - 1}
      aria-valuenow={chosen ?? BAR_COUNT - 1}
      aria-valuetext={span ? spanInWords(span) : "all times"}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        first.current = at(event);
      }}
      onPointerUp={(event) => {
        const [from, to] = [first.current, at(event)];
        first.current = undefined;
        if (from === undefined) return;
        if (from === to && chosen === from) onSpan(undefined);
        else choose(Math.min(from, to), Math.max(from, to));
      }}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        const next = nextBar(buckets, chosen, by);
        if (next !== undefined) choose(next);
      }}
    >
      {children}
    </div>
  );
}

function Bars({ buckets: { bars, stepMs }, span }: { buckets: Buckets; span: TimeSpan | undefined }) {
  const highest = Math.max(1, ...bars.map((bar) => sum(bar, ABOVE)));
  const deepest = Math.max(1, ...bars.map((bar) => sum(bar, BELOW)));
  const scale = HEIGHT / (highest + deepest);
  const axis = highest * scale;
  const isIn = ({ from }: Bucket) => !span || (from < span.to && from + stepMs > span.from);
  return (
    <svg aria-hidden="true" viewBox={`0 0 ${BAR_COUNT * WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
      {bars.map((bar, index) => (
        <Bar key={bar.from} bar={bar} x={index * WIDTH} axis={axis} scale={scale} isIn={isIn(bar)} />
      ))}
      <line class="axis" x1="0" x2={BAR_COUNT * WIDTH} y1={axis} y2={axis} />
    </svg>
  );
}

interface BarProps {
  readonly bar: Bucket;
  readonly x: number;
  readonly axis: number;
  readonly scale: number;
  /** The list is not narrowed to others. */
  readonly isIn: boolean;
}

function Bar({ bar, x, axis, scale, isIn }: BarProps) {
  if (sum(bar, ABOVE) + sum(bar, BELOW) === 0) return null;
  let up = axis;
  let down = axis;
  return (
    <g class={isIn ? "" : "left-out"}>
      <title>{`${timeOfDay(bar.from)}: ${countsLabel([bar])}`}</title>
      {ABOVE.map((kind) => {
        const height = bar.counts[kind] * scale;
        up -= height;
        return <rect class={kind} x={x + 1} y={up} width={WIDTH - 2} height={height} />;
      })}
      {BELOW.map((kind) => {
        const height = bar.counts[kind] * scale;
        down += height;
        return <rect class={kind} x={x + 1} y={down - height} width={WIDTH - 2} height={height} />;
      })}
    </g>
  );
}

function sum({ counts }: Bucket, kinds: readonly AnswerKind[]): number {
  return kinds.reduce((total, kind) => total + counts[kind], 0);
}

function countsLabel(bars: readonly Bucket[]): string {
  const parts = [...ABOVE, ...BELOW].flatMap((kind) => {
    const count = bars.reduce((total, { counts }) => total + counts[kind], 0);
    return count === 0 ? [] : [`${count} ${kind}`];
  });
  return parts.join(", ") || "none";
}

function stepInWords(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`;
}
