// Draws answers by status over time.
import { useEffect, useState } from "preact/hooks";
import type { Listed } from "../list/list-row.js";
import type { AnswerKind } from "../parts/answer-kind.js";
import { timeOfDay } from "../text/time.js";
import { BAR_COUNT, type Bucket, bucketsOf } from "./buckets.js";

/** Accepted requests are drawn above the line, the others below it: each kind has its place, not its colour alone. */
const ABOVE = ["accepted", "duplicate"] as const satisfies AnswerKind[];
const BELOW = ["malformed", "refused", "failed"] as const satisfies AnswerKind[];

const WIDTH = 8;
const HEIGHT = 44;

/** Answers by status over time, so that a burst or a storm of retries is seen at a glance. */
export function TimeLine({ rows, nowMs }: { rows: readonly Listed[]; nowMs(): number }) {
  const [, tick] = useState(0);
  const { stepMs, bars } = bucketsOf(rows, nowMs());
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), stepMs);
    return () => clearInterval(timer);
  }, [stepMs]);

  const highest = Math.max(1, ...bars.map((bar) => sum(bar, ABOVE)));
  const deepest = Math.max(1, ...bars.map((bar) => sum(bar, BELOW)));
  const scale = HEIGHT / (highest + deepest);
  const axis = highest * scale;
  return (
    <figure class="time-line">
      <svg
        role="img"
        aria-label={`Answers over time, one bar for ${stepInWords(stepMs)}: ${inWords(bars)}`}
        viewBox={`0 0 ${BAR_COUNT * WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {bars.map((bar, index) => (
          <Bar key={bar.from} bar={bar} x={index * WIDTH} axis={axis} scale={scale} />
        ))}
        <line class="axis" x1="0" x2={BAR_COUNT * WIDTH} y1={axis} y2={axis} />
      </svg>
      <figcaption>
        <span>{timeOfDay(bars[0]?.from ?? 0)}</span>
        <span>Above the line: accepted. Below: refused. One bar: {stepInWords(stepMs)}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

function Bar({ bar, x, axis, scale }: { bar: Bucket; x: number; axis: number; scale: number }) {
  if (sum(bar, ABOVE) + sum(bar, BELOW) === 0) return null;
  let up = axis;
  let down = axis;
  return (
    <g>
      <title>{`${timeOfDay(bar.from)}: ${inWords([bar])}`}</title>
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

function inWords(bars: readonly Bucket[]): string {
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
