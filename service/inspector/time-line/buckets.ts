// Sorts answers into the bars of the time line.
import { type AnswerKind, kindOf } from "../parts/answer-kind.js";

/** One bar of the time line: answers of each kind within one step. */
export interface Bucket {
  readonly from: number;
  readonly counts: Readonly<Record<AnswerKind, number>>;
}

/** All bars, the oldest first. */
export interface Buckets {
  readonly stepMs: number;
  readonly bars: readonly Bucket[];
}

export const BAR_COUNT = 60;
const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400].map(
  (seconds) => seconds * 1000,
);

/** Sorts answers into bars that together reach from the oldest to now, as far back as the widest step goes. */
export function bucketsOf(
  answers: readonly { readonly at: number; readonly status: number }[],
  now: number,
): Buckets {
  const oldest = answers.reduce((min, { at }) => Math.min(min, at), now);
  const needed = (now - oldest) / (BAR_COUNT - 1);
  const stepMs = STEPS_MS.find((step) => step >= needed) ?? 86_400_000;
  const start = (Math.floor(now / stepMs) + 1 - BAR_COUNT) * stepMs;
  const counts = Array.from({ length: BAR_COUNT }, noAnswers);
  for (const { at, status } of answers) {
    // A clock that was set back leaves answers in the future; they stand in the last bar.
    const count = counts[Math.min(BAR_COUNT - 1, Math.floor((at - start) / stepMs))];
    if (count) count[kindOf(status)]++;
  }
  return { stepMs, bars: counts.map((count, index) => ({ from: start + index * stepMs, counts: count })) };
}

function noAnswers(): Record<AnswerKind, number> {
  return { accepted: 0, duplicate: 0, malformed: 0, refused: 0, failed: 0 };
}
