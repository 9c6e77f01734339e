import { describe, expect, it } from "vitest";
import { rowWindow, scrollTopFor } from "../../service/inspector/list/row-window.js";
import { appendRows, dropRows, mergeRows } from "../../service/inspector/live/merge-rows.js";
import { bucketsOf } from "../../service/inspector/time-line/buckets.js";
import type { RequestRow } from "../../service/src/inspector/contract.js";

function row(n: number, more: Partial<RequestRow> = {}): RequestRow {
  const plain = { at: n, method: "POST", status: 200, bodyBytes: 2, durationMs: 1, reason: "accepted" };
  return { n, ...plain, ...more };
}
const numbers = (rows: readonly RequestRow[]) => rows.map(({ n }) => n);

describe("the list of rows", () => {
  it("takes new ones on top, in any order, once", () => {
    expect(numbers(mergeRows([row(2), row(1)], [row(4), row(3), row(4)]))).toEqual([4, 3, 2, 1]);
  });

  it("takes the new state of one that is known, and leaves the others alone", () => {
    const before = [row(2), row(1)];
    const after = mergeRows(before, [row(1, { reason: "another" })]);
    expect(after[1]?.reason).toBe("another");
    expect(after[0]).toBe(before[0]);
  });

  it("begins with nothing, and may become nothing", () => {
    expect(numbers(mergeRows([], [row(1), row(3), row(2)]))).toEqual([3, 2, 1]);
    expect(numbers(appendRows([], [row(2), row(1)]))).toEqual([2, 1]);
    expect(dropRows([row(5), row(3)], 5)).toEqual([]);
  });

  it("has the newest once where only its state is another, and is itself where nothing is", () => {
    const before = [row(2), row(1)];
    const after = mergeRows(before, [row(2, { reason: "another" })]);
    expect(numbers(after)).toEqual([2, 1]);
    expect(after[0]?.reason).toBe("another");
    expect(dropRows(before, 0)).toBe(before);
  });

  it("is no longer than the server's", () => {
    const many = Array.from({ length: 5_000 }, (_, n) => row(n + 1)).reverse();
    const after = mergeRows(many, [row(5_001)]);
    expect([after.length, after[0]?.n, after.at(-1)?.n]).toEqual([5_000, 5_001, 2]);
  });

  it("takes older ones at its end, without those it has", () => {
    expect(numbers(appendRows([row(5), row(3)], [row(4), row(3), row(2)]))).toEqual([5, 3, 2]);
  });

  it("drops what the server has dropped", () => {
    expect(numbers(dropRows([row(5), row(3), row(1)], 3))).toEqual([5]);
    expect(numbers(dropRows([row(5)], 3))).toEqual([5]);
  });
});

describe("the rows in sight", () => {
  it("are a few of many, with some to spare", () => {
    const { from, to } = rowWindow(52 * 1_000, 520, 5_000);
    expect([from, to]).toEqual([992, 1_018]);
  });

  it("end where the list ends", () => {
    expect(rowWindow(0, 520, 3)).toEqual({ from: 0, to: 3 });
    expect(rowWindow(90_000, 520, 3)).toEqual({ from: 3, to: 3 });
  });

  it.each([
    ["above", 2, 520, 104],
    ["in sight", 12, 520, 520],
    ["below", 30, 520, 31 * 52 - 520],
    ["cut at the top", 9, 520, 9 * 52],
    ["cut at the bottom", 20, 550, 21 * 52 - 520],
  ])("move as little as needed for a row that is %s", (_where, index, top, expected) => {
    expect(scrollTopFor(index, top, 520)).toBe(expected);
  });
});

describe("the time line", () => {
  const now = 1_767_225_600_000;

  it("has every answer in the bar of its time", () => {
    const { stepMs, bars } = bucketsOf(
      [
        { at: now, status: 200 },
        { at: now - 1_000, status: 401 },
        { at: now - 59_000, status: 409 },
        { at: now - 59_000, status: 503 },
      ],
      now,
    );
    expect(stepMs).toBe(1_000);
    expect(bars).toHaveLength(60);
    expect(bars.at(-1)?.counts.accepted).toBe(1);
    expect(bars.at(-2)?.counts.refused).toBe(1);
    expect([bars[0]?.counts.duplicate, bars[0]?.counts.failed]).toEqual([1, 1]);
    expect([bars[0]?.from, bars.at(-1)?.from]).toEqual([now - 59_000, now]);
  });

  it("reaches back to the oldest answer, in round steps", () => {
    const { stepMs, bars } = bucketsOf([{ at: now - 3_600_000, status: 400 }], now);
    expect(stepMs).toBe(120_000);
    expect(bars.reduce((sum, { counts }) => sum + counts.malformed, 0)).toBe(1);
  });

  it("leaves out what is older than its widest step reaches", () => {
    const { stepMs, bars } = bucketsOf([{ at: now - 90 * 86_400_000, status: 200 }], now);
    expect(stepMs).toBe(86_400_000);
    expect(bars.every(({ counts }) => counts.accepted === 0)).toBe(true);
  });

  it("shows answers of the future in the last bar", () => {
    expect(bucketsOf([{ at: now + 90_000, status: 200 }], now).bars.at(-1)?.counts.accepted).toBe(1);
  });
});
