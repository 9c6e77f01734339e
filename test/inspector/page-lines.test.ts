// Which rows the page's list shows, in which lines, and the bars of its time line that choose among them.
import { describe, expect, it } from "vitest";
import {
  type Filter,
  isNarrowed,
  NO_FILTER,
  ofSource,
  ofSpan,
  ofStatus,
} from "../../service/inspector/list/filter.js";
import { linesOf, placeOf, steppedFrom } from "../../service/inspector/list/lines.js";
import { searchRequests } from "../../service/inspector/list/use-search.js";
import type { Api } from "../../service/inspector/live/api.js";
import { headersOf } from "../../service/inspector/text/header-lines.js";
import type { Buckets } from "../../service/inspector/time-line/buckets.js";
import { barsBetween, nextBar, spanInWords } from "../../service/inspector/time-line/spans.js";
import type { RequestRow } from "../../service/src/inspector/contract.js";

describe("a filter", () => {
  const with_ = (given: Partial<Filter>): Filter => ({ ...NO_FILTER, ...given });

  it("narrows by each of its parts, and not by white space", () => {
    const narrow = [{ text: "a" }, { statuses: [200] }, { source: "lst_1" }, { span: { from: 0, to: 1 } }];
    expect(narrow.map((given) => isNarrowed(with_(given)))).toEqual([true, true, true, true]);
    expect([isNarrowed(NO_FILTER), isNarrowed(with_({ text: " \t" }))]).toEqual([false, false]);
  });

  it("takes rows from the first millisecond of a time until before its end", () => {
    const rows = [99, 100, 199, 200].map((at) => ({ at }));
    expect(ofSpan(rows, with_({ span: { from: 100, to: 200 } })).map(({ at }) => at)).toEqual([100, 199]);
    expect(ofSpan(rows, NO_FILTER)).toBe(rows);
  });

  it("takes rows of one source, and of several statuses", () => {
    const rows = [
      { from: "a", status: 200 },
      { from: "b", status: 401 },
      { from: undefined, status: 409 },
    ];
    const sourceOf = ({ from }: { from: string | undefined }) => from;
    expect(ofSource(rows, with_({ source: "b" }), sourceOf)).toEqual([rows[1]]);
    expect(ofSource(rows, NO_FILTER, sourceOf)).toBe(rows);
    expect(ofStatus(rows, with_({ statuses: [409, 200] }))).toEqual([rows[0], rows[2]]);
    expect(ofStatus(rows, NO_FILTER)).toBe(rows);
  });
});

describe("refusals of one cause", () => {
  const rows = [
    { n: 6, cause: "a" },
    { n: 5 },
    { n: 4, cause: "b" },
    { n: 3, cause: "a" },
    { n: 2, cause: "c" },
    { n: 1, cause: "b" },
  ];
  const lines = (...open: string[]) => linesOf(rows, ({ cause }) => cause, new Set(open));
  const shown = (given: ReturnType<typeof lines>) =>
    given.map(
      ({ row, group, isInside }) =>
        `${isInside ? "  " : ""}${row.n}${group ? ` of ${group.rows.length}` : ""}`,
    );

  it("are one line in the place of the newest; one alone is a line as any other", () => {
    expect(shown(lines())).toEqual(["6 of 2", "5", "4 of 2", "2"]);
    expect(lines()[0]).toMatchObject({ group: { rows: [rows[0], rows[3]], isOpen: false } });
  });

  it("stand below their head once it is opened", () => {
    expect(shown(lines("b"))).toEqual(["6 of 2", "5", "4 of 2", "  4", "  1", "2"]);
    expect(lines("b")[2]?.group?.isOpen).toBe(true);
  });

  it("have lines that are told apart, in whatever state", () => {
    const ids = lines("a", "b").map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain("5");
  });

  it("are found in the line that they are folded into, and in their own once it is open", () => {
    expect([placeOf(lines(), 3), placeOf(lines(), 5), placeOf(lines(), 2)]).toEqual([0, 1, 3]);
    expect([placeOf(lines("a"), 6), placeOf(lines("a"), 3)]).toEqual([1, 2]);
    expect([placeOf(lines(), 99), placeOf(lines(), undefined)]).toEqual([-1, -1]);
  });

  it("are one step; an open head is none", () => {
    const down = (from: number | undefined, ...open: string[]) => steppedFrom(lines(...open), from, 1);
    expect([down(undefined), down(6), down(5), down(4), down(2)]).toEqual([6, 5, 4, 2, 2]);
    expect([down(6, "a"), down(3, "a")]).toEqual([3, 5]);
    expect([steppedFrom(lines(), 2, -1), steppedFrom(lines(), 6, -1), steppedFrom(lines(), 6, 2)]).toEqual([
      4, 6, 4,
    ]);
    expect(steppedFrom([], undefined, 1)).toBeUndefined();
  });
});

it("a search asks for page after page, until the last", async () => {
  const asked: unknown[] = [];
  const api = {
    async requests(query: { before?: number }) {
      asked.push(query);
      const n = query.before ?? 4;
      return { rows: [{ n: n - 1 }], ...(n > 2 ? { next: n - 1 } : {}) };
    },
  } as unknown as Api;
  const rows: RequestRow[] = await searchRequests(api, "type:a");
  expect(rows.map(({ n }) => n)).toEqual([3, 2, 1]);
  expect(asked).toEqual([
    { q: "type:a", limit: 500 },
    { q: "type:a", limit: 500, before: 3 },
    { q: "type:a", limit: 500, before: 2 },
  ]);
});

describe("header lines that somebody writes", () => {
  it("have a name, a colon and a value, each without white space around it", () => {
    expect(headersOf("X-One:1\n\n \t\n Retry-After :  a:b \r\nX-None:")).toEqual([
      ["X-One", "1"],
      ["Retry-After", "a:b"],
      ["X-None", ""],
    ]);
    expect(headersOf("")).toEqual([]);
  });

  it.each(["no colon", ": no name"])("%j is told", (line) => {
    expect(headersOf(`X-One: 1\n${line}`)).toBe(
      `A header line has a name, a colon and a value; this one does not: ${line}`,
    );
  });
});

describe("the bars of the time line", () => {
  const none = { accepted: 0, duplicate: 0, malformed: 0, refused: 0, failed: 0 };
  const bars = [0, 1, 0, 2, 0].map((refused, index) => ({
    from: 10_000 + index * 1_000,
    counts: { ...none, refused },
  }));
  const buckets: Buckets = { stepMs: 1_000, bars };

  it("stand for the time from the first to the end of the last", () => {
    expect(barsBetween(buckets, 1, 2)).toEqual({ from: 11_000, to: 13_000 });
    expect(barsBetween(buckets, 3, 3)).toEqual({ from: 13_000, to: 14_000 });
    expect(barsBetween(buckets, -3, 0)).toEqual({ from: 10_000, to: 11_000 });
  });

  it("have no end where the last of all is among them", () => {
    expect(barsBetween(buckets, 4, 4)).toEqual({ from: 14_000, to: Number.POSITIVE_INFINITY });
    expect(barsBetween(buckets, 7, 9)).toEqual({ from: 14_000, to: Number.POSITIVE_INFINITY });
  });

  it("are gone through in both directions, without those that have no answers", () => {
    expect([nextBar(buckets, undefined, 1), nextBar(buckets, 1, 1), nextBar(buckets, 3, 1)]).toEqual([
      1,
      3,
      undefined,
    ]);
    expect([nextBar(buckets, undefined, -1), nextBar(buckets, 3, -1), nextBar(buckets, 1, -1)]).toEqual([
      3,
      1,
      undefined,
    ]);
    const ends = { stepMs: 1_000, bars: [bars[1], bars[0], bars[1]] } as Buckets;
    expect([
      nextBar(ends, undefined, 1),
      nextBar(ends, undefined, -1),
      nextBar(ends, 1, 1),
      nextBar(ends, 1, -1),
    ]).toEqual([0, 2, 2, 0]);
    expect(nextBar({ stepMs: 1_000, bars: [] }, 3, -1)).toBeUndefined();
  });

  it("say their time in words, and that the last goes on", () => {
    const time = (seconds: number) => new Date(seconds * 1_000).toTimeString().slice(0, 8);
    expect(spanInWords({ from: 60_000, to: 125_000 })).toBe(`${time(60)} to ${time(125)}`);
    expect(spanInWords({ from: 60_000, to: Number.POSITIVE_INFINITY })).toBe(`${time(60)} to now`);
  });
});
