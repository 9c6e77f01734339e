// Alerts that ended before anybody was told of them: forgotten, so that the next one is told as new.
import { type OutboxAlert, type WatchedListener, watchOutbox } from "hookproof/alerts";
import { fixedClock } from "hookproof/testing";
import { expect, it, onTestFinished } from "vitest";

const HOUR_MS = 3_600_000;

/** A watch whose callback fails while it is told to, and what it was called with. */
function watching() {
  const clock = fixedClock(1_000_000);
  const called: OutboxAlert[] = [];
  const now: { stats: Partial<WatchedListener> | Error; fails: boolean } = { stats: {}, fails: false };
  const watch = watchOutbox(
    {
      async stats() {
        if (now.stats instanceof Error) throw now.stats;
        return [
          { listener: "one", pending: 0, dead: 0, oldestAgeMs: 0, breaker: "closed" as const, ...now.stats },
        ];
      },
    },
    {
      clock,
      everyMs: HOUR_MS,
      onAlert(alert) {
        called.push(alert);
        if (now.fails) throw new Error("the pager is down");
      },
    },
  );
  onTestFinished(() => watch.stop());
  return async (stats: Partial<WatchedListener> | Error, { fails = false, laterMs = 1_000 } = {}) => {
    clock.advance(laterMs);
    Object.assign(now, { stats, fails });
    called.length = 0;
    await watch.look();
    return called.map(({ kind, state, value, at }) => [kind, state, value, at - 1_000_000]);
  };
}

it("one that ended untold is told as new when it begins again, with its own time and value", async () => {
  const look = watching();
  expect(await look({ dead: 5 }, { fails: true })).toEqual([["dead-letters", "begun", 5, 1_000]]);
  expect(await look({})).toEqual([]);
  expect(await look({})).toEqual([]);
  expect(await look({ dead: 2 })).toEqual([["dead-letters", "begun", 2, 4_000]]);
  expect(await look({ dead: 2 })).toEqual([]);
  expect(await look({})).toEqual([["dead-letters", "ended", 2, 6_000]]);
  expect(await look({})).toEqual([]);
});

it("one that stands untold keeps the time of its beginning, and is told with its value of now", async () => {
  const look = watching();
  await look({ dead: 5 }, { fails: true });
  expect(await look({ dead: 9 }, { fails: true })).toEqual([["dead-letters", "begun", 9, 1_000]]);
  expect(await look({ dead: 3 })).toEqual([["dead-letters", "begun", 3, 1_000]]);
});

it("one whose end was not told is told as ended until it was, and as new afterwards", async () => {
  const look = watching();
  await look({ dead: 5 });
  expect(await look({}, { fails: true })).toEqual([["dead-letters", "ended", 5, 2_000]]);
  expect(await look({})).toEqual([["dead-letters", "ended", 5, 3_000]]);
  expect(await look({ dead: 1 })).toEqual([["dead-letters", "begun", 1, 4_000]]);
});

it("one that begins again before its end was told goes on, and is not told again", async () => {
  const look = watching();
  await look({ dead: 5 });
  await look({}, { fails: true });
  expect(await look({ dead: 6 })).toEqual([]);
  expect(await look({})).toEqual([["dead-letters", "ended", 6, 4_000]]);
});

it("an untold alert of a listener is not forgotten while the outbox cannot be asked", async () => {
  const look = watching();
  await look({ dead: 5 }, { fails: true });
  expect(await look(new Error("down"))).toEqual([]);
  expect(await look({ dead: 5 })).toEqual([["dead-letters", "begun", 5, 1_000]]);
});
