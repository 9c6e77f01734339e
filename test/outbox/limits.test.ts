import { describe, expect, it } from "vitest";
import { type LimitOptions, ListenerLimits } from "../../src/outbox/limits.js";
import type { Rate } from "../../src/outbox/rate.js";

const good = (startedAt: number, now = startedAt) =>
  ({ result: "good", startedAt, now, answered: true }) as const;
const hung = (startedAt: number, now: number) =>
  ({ result: "bad", startedAt, now, answered: false }) as const;

/** Limits of a listener that has answered so often that it may have all its places. */
function limits(options: LimitOptions = {}, isKnown = true) {
  const phases: string[] = [];
  const made = new ListenerLimits({ breaker: false, ...options }, (phase) => phases.push(phase));
  for (let answers = 0; isKnown && answers < 7; answers++) {
    made.started(0);
    made.ended(good(0));
  }
  return Object.assign(made, { phases });
}

describe("places", () => {
  it("a listener begins with one, and each answer doubles them up to its concurrency", () => {
    const one = limits({}, false);
    const seen = [one.free(0)];
    for (let answers = 0; answers < 5; answers++) {
      one.started(0);
      one.ended(good(0));
      seen.push(one.free(0));
    }
    expect(seen).toEqual([1, 2, 4, 8, 10, 10]);
    expect(limits({ concurrency: 3 }).free(0)).toBe(3);
    expect(limits({ concurrency: 1 }).free(0)).toBe(1);
  });

  it("an attempt that hangs for a second or longer halves them, a quick failure does not", () => {
    const one = limits();
    const seen: number[] = [];
    for (const took of [999, 1_000, 10_000, 10_000, 10_000, 10_000]) {
      one.started(0);
      one.ended(hung(0, took));
      seen.push(one.free(took));
    }
    expect(seen).toEqual([10, 5, 2, 1, 1, 1]);
  });

  it("those that are taken are not free, until their attempts end or are cancelled", () => {
    const one = limits({ concurrency: 4 });
    for (let n = 0; n < 4; n++) one.started(0);
    expect(one.free(0)).toBe(0);
    one.cancelled(0);
    expect(one.free(0)).toBe(1);
    one.ended(good(0));
    expect(one.free(0)).toBe(2);
    one.ended(hung(0, 60_000)); // two places, and one attempt under way
    expect(one.free(0)).toBe(1);
    one.started(0);
    one.started(0); // more than there are now
    expect(one.free(0)).toBe(0);
  });

  it.each([0, -1, 1.5, Number.NaN])("concurrency %s is refused", (concurrency) => {
    expect(() => limits({ concurrency })).toThrow(RangeError);
  });
});

describe("a pause", () => {
  it("lets none start until it is over, and a shorter one does not end it", () => {
    const one = limits();
    one.pauseUntil(1_000);
    one.pauseUntil(500);
    expect([one.free(999), one.free(1_000)]).toEqual([0, 10]);
    one.pauseUntil(2_000);
    expect(one.free(1_999)).toBe(0);
  });
});

describe("a rate", () => {
  it("takes a token for each attempt, and gives it back for one that was none", () => {
    const one = limits({ rate: { perSecond: 1, burst: 3 } }, false);
    for (let n = 0; n < 2; n++) {
      one.started(0);
      one.ended(good(0));
    }
    expect(one.free(0)).toBe(1);
    one.started(0);
    expect(one.free(0)).toBe(0);
    one.cancelled(0);
    expect(one.free(0)).toBe(1);
    one.started(0);
    one.ended(good(0));
    expect(one.free(0)).toBe(0);
    expect([one.free(999), one.free(1_000), one.free(2_500)]).toEqual([0, 1, 2]);
  });

  it("says when the next may start, where only it holds them back", () => {
    const one = limits({ rate: { perSecond: 2, burst: 1 }, concurrency: 1 }, false);
    expect(one.nextByRate(0)).toBeUndefined();
    one.started(0);
    expect(one.nextByRate(0)).toBeUndefined(); // its one place is taken as well
    one.ended(good(0));
    expect(one.nextByRate(100)).toBe(500);
    one.pauseUntil(1_000);
    expect(one.nextByRate(100)).toBeUndefined();
    expect(limits().nextByRate(0)).toBeUndefined();
  });

  it("is none for a listener without one", () => {
    expect(limits({ concurrency: 1_000 }, false).free(0)).toBe(1);
    const many = limits({ concurrency: 100 });
    expect(many.free(0)).toBe(100);
  });
});

describe("limits that change", () => {
  const RATE: Rate = { perSecond: 1, burst: 3 };

  /** Limits of which the whole burst was taken at 0. */
  const used = (rate = RATE) => {
    const one = limits({ rate }, false);
    for (let n = 0; n < 3; n++) {
      one.started(0);
      one.ended(good(0));
    }
    expect(one.free(0)).toBe(0);
    return one;
  };

  it.each<[what: string, rate: Rate | undefined, free: readonly number[]]>([
    ["the same rate goes on with what was taken", { ...RATE }, [0, 1, 3]],
    ["another burst alone begins again", { ...RATE, burst: 5 }, [5, 5, 5]],
    ["no burst of its own alone begins again", { perSecond: 1 }, [1, 1, 1]],
    ["another perSecond alone begins again", { ...RATE, perSecond: 2 }, [3, 3, 3]],
    ["no rate any more", undefined, [8, 8, 8]],
  ])("%s", (_, rate, free) => {
    const one = used();
    one.change({ breaker: false, rate });
    expect([0, 1_000, 10_000].map((now) => one.free(now))).toEqual(free);
  });

  it.each<[what: string, rate: Rate, free: readonly number[]]>([
    ["perSecond alone", { perSecond: 2, burst: 3 }, [0, 1, 2]],
    ["burst alone", { perSecond: 1, burst: 2 }, [0, 0, 1]],
  ])("the tokens come by the new %s", (_, rate, free) => {
    const one = used();
    one.change({ breaker: false, rate });
    for (let n = 0; n < (rate.burst ?? 0); n++) {
      one.started(0);
      one.ended(good(0));
    }
    expect([0, 500, 1_000].map((now) => one.free(now))).toEqual(free);
  });

  it("are what the store is given for all workers, as they were given last", () => {
    const given = { ...RATE };
    const one = limits({ concurrency: 7, rate: given });
    expect(one.shared).toEqual({ concurrency: 7, rate: RATE });
    given.burst = 99; // the caller's own object, which is none of the limits
    expect(one.shared.rate).toEqual(RATE);
    one.change({ rate: { ...RATE, burst: 4 } });
    expect(one.shared).toEqual({ concurrency: 10, rate: { perSecond: 1, burst: 4 } });
    one.change({ concurrency: 2, rate: { perSecond: 5 } });
    expect(one.shared).toEqual({ concurrency: 2, rate: { perSecond: 5 } });
    one.change({});
    expect(one.shared).toEqual({ concurrency: 10, rate: undefined });
  });

  it("a smaller concurrency holds at once, a larger one as answers come", () => {
    const one = limits();
    one.change({ breaker: false, concurrency: 3 });
    expect(one.free(0)).toBe(3);
    one.change({ breaker: false, concurrency: 20 });
    const seen = [one.free(0)];
    for (let n = 0; n < 3; n++) {
      one.started(0);
      one.ended(good(0));
      seen.push(one.free(0));
    }
    expect(seen).toEqual([3, 6, 12, 20]);
  });

  it("another breaker counts on from what the one before has counted, and none counts nothing", () => {
    const one = limits({ breaker: { minAttempts: 100 } }, false);
    const fail = () => {
      one.started(0);
      one.ended({ result: "bad", startedAt: 0, now: 0, answered: true });
    };
    for (let n = 0; n < 4; n++) fail();
    one.change({ breaker: { minAttempts: 5, openMs: 1_000 } });
    expect(one.breaker).toBe("closed");
    fail();
    expect([one.breaker, one.free(0), one.free(999), one.free(1_000)]).toEqual(["open", 0, 0, 1]);
    const none = limits({ breaker: { minAttempts: 2 } }, false);
    none.change({ breaker: false });
    for (let n = 0; n < 9; n++) {
      none.started(0);
      none.ended({ result: "bad", startedAt: 0, now: 0, answered: true });
    }
    expect(none.breaker).toBe("closed");
  });

  it.each<LimitOptions>([
    { rate: { perSecond: 0 } },
    { rate: { perSecond: 1, burst: 0 } },
    { concurrency: 0 },
    { breaker: { openMs: 0 } },
  ])("%j is refused for a change as well", (options) => {
    expect(() => limits().change(options)).toThrow(RangeError);
  });
});

describe("the breaker", () => {
  it("is told of by its phases, and holds attempts back", () => {
    const one = limits({ breaker: { minAttempts: 2, openMs: 1_000 } });
    for (let n = 0; n < 8; n++) {
      one.started(0);
      one.ended({ result: "bad", startedAt: 0, now: 0, answered: true });
    }
    expect([one.phases, one.breaker, one.free(999)]).toEqual([["open"], "open", 0]);
    expect([one.free(1_000), one.breaker]).toEqual([1, "half-open"]);
    expect(one.phases).toEqual(["open", "half-open"]);
  });

  it("that is open is half-open for an attempt that ends after its time", () => {
    const one = limits({ breaker: { minAttempts: 1, openMs: 1_000 } });
    one.started(0);
    for (let n = 0; n < 9; n++) {
      one.started(0);
      one.ended({ result: "bad", startedAt: 0, now: 0, answered: true });
    }
    expect(one.breaker).toBe("open");
    one.ended(good(1_500, 1_600));
    expect(one.phases).toContain("half-open");
  });

  it("is none where it is switched off", () => {
    const one = limits();
    for (let n = 0; n < 100; n++) {
      one.started(0);
      one.ended({ result: "bad", startedAt: 0, now: 0, answered: true });
    }
    expect([one.phases, one.breaker, one.free(0)]).toEqual([[], "closed", 10]);
  });
});
