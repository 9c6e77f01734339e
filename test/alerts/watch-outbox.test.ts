import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hmacSigner } from "hookproof";
import { type OutboxAlert, type WatchedListener, type WatchOptions, watchOutbox } from "hookproof/alerts";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { fixedClock, waitFor } from "hookproof/testing";
import { expect, it, onTestFinished, vi } from "vitest";
import { parse } from "yaml";
import { SECRET } from "../kit/receiver-server.js";

const HOUR_MS = 3_600_000;

/** A watch of an outbox that says what the test puts there, or fails with it. */
function watching(options: Partial<WatchOptions> = {}) {
  const told: OutboxAlert[] = [];
  const clock = fixedClock(1_000_000);
  const outbox: { stats: () => Promise<readonly WatchedListener[]>; now: Partial<WatchedListener> | Error } =
    {
      now: {},
      async stats() {
        if (this.now instanceof Error) throw this.now;
        return [{ listener: "one", pending: 0, dead: 0, oldestAgeMs: 0, breaker: "closed", ...this.now }];
      },
    };
  const watch = watchOutbox(outbox, {
    onAlert: (alert) => void told.push(alert),
    everyMs: HOUR_MS,
    clock,
    ...options,
  });
  onTestFinished(() => watch.stop());
  /** What is told at a look, in short. */
  const look = async (now: Partial<WatchedListener> | Error, laterMs = 0) => {
    clock.advance(laterMs);
    outbox.now = now;
    told.length = 0;
    await watch.look();
    return told.map(({ kind, state, value }) => `${kind} ${state} ${value}`);
  };
  return { look, told };
}

it("tells once when an alert begins, and once when it ends", async () => {
  const { look, told } = watching({ thresholds: { backlog: 10 } });
  expect(await look({ oldestAgeMs: 900_000, pending: 10 })).toEqual([]);
  expect(await look({ oldestAgeMs: 900_001, pending: 11 })).toEqual([
    "events-wait begun 900001",
    "backlog begun 11",
  ]);
  expect(told[0]).toEqual({
    kind: "events-wait",
    state: "begun",
    listener: "one",
    value: 900_001,
    threshold: 900_000,
    at: 1_000_000,
  });
  expect(await look({ oldestAgeMs: 2_000_000, pending: 9 }, 500)).toEqual(["backlog ended 11"]);
  expect(await look({ oldestAgeMs: 2_000_000, pending: 9 })).toEqual([]);
  expect(await look({})).toEqual(["events-wait ended 2000000"]);
  expect(await look({})).toEqual([]);
  expect(await look({ dead: 1 })).toEqual(["dead-letters begun 1"]);
  expect(await look({ dead: 7 })).toEqual([]);
});

it("waits before it says that a listener or the store is down, and says nothing of listeners it cannot ask about", async () => {
  const { look } = watching();
  expect(await look({ breaker: "open", dead: 1 })).toEqual(["dead-letters begun 1"]);
  expect(await look({ breaker: "half-open", dead: 1 }, 600_000)).toEqual([]);
  expect(await look({ breaker: "open", dead: 1 }, 1)).toEqual(["listener-down begun 600001"]);
  expect(await look(new Error("down"), 1)).toEqual([]);
  expect(await look(new Error("down"), 120_001)).toEqual(["store-unavailable begun 120001"]);
  expect(await look({ breaker: "closed", dead: 0 })).toEqual([
    "dead-letters ended 1",
    "listener-down ended 600001",
    "store-unavailable ended 120001",
  ]);
});

it("a listener is as long down as it was seen to be, also over a look that the outbox did not answer", async () => {
  const { look } = watching();
  await look({ breaker: "open" });
  await look(new Error("down"), 300_000);
  expect(await look({ breaker: "open" }, 300_001)).toEqual(["listener-down begun 600001"]);
});

it("a listener that was gone begins again", async () => {
  const { look } = watching();
  await look({ breaker: "open" });
  await look({ listener: "two" }, 1);
  expect(await look({ breaker: "open" }, 600_001)).toEqual([]);
  expect(await look({ breaker: "open" }, 600_001)).toEqual(["listener-down begun 600001"]);
});

it("false is no threshold, and undefined the usual one", async () => {
  const seen = { pending: 1_000_000, dead: 1 };
  expect(await watching().look(seen)).toEqual(["dead-letters begun 1"]);
  expect(await watching({ thresholds: { "dead-letters": false } }).look(seen)).toEqual([]);
  const { look } = watching({ thresholds: { "dead-letters": undefined } as never });
  expect(await look({})).toEqual([]);
  expect(await look(seen)).toEqual(["dead-letters begun 1"]);
});

it("a callback that fails is told again at the next look, and nothing else of it", async () => {
  const seen: string[] = [];
  let fails = true;
  const { look } = watching({
    onAlert({ kind, state }) {
      seen.push(`${kind} ${state}`);
      if (fails) throw new Error("the pager is down");
    },
  });
  await look({ dead: 1 });
  await look({ dead: 1 });
  fails = false;
  await look({ dead: 1 });
  await look({ dead: 1 });
  expect(seen).toEqual(["dead-letters begun", "dead-letters begun", "dead-letters begun"]);
  fails = true;
  await look({});
  fails = false;
  await look({});
  await look({});
  expect(seen.slice(3)).toEqual(["dead-letters ended", "dead-letters ended"]);
  // What ended before anybody was told is not worth waking somebody.
  fails = true;
  await look({ dead: 1 });
  await look({});
  expect(seen.slice(5)).toEqual(["dead-letters begun"]);
});

it("an alert that a slow callback may have told is told as ended", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const seen: string[] = [];
  let answer: unknown = new Promise(() => {});
  const { look } = watching({
    onAlert({ kind, state }) {
      seen.push(`${kind} ${state}`);
      return answer;
    },
  });
  const slow = look({ dead: 1 });
  await vi.advanceTimersByTimeAsync(10_000);
  await slow;
  // Told again, which fails: the first time may have been heard all the same.
  answer = Promise.reject(new Error("the pager is down"));
  await look({ dead: 1 });
  answer = undefined;
  await look({});
  await look({});
  expect(seen).toEqual(["dead-letters begun", "dead-letters begun", "dead-letters ended"]);
});

it("an outbox that throws, or says what cannot be, is one that cannot be asked", async () => {
  for (const stats of [
    () => {
      throw new Error("closed");
    },
    async () => undefined,
  ]) {
    const told: OutboxAlert[] = [];
    const watch = watchOutbox(
      { stats: stats as never },
      {
        onAlert: (alert) => void told.push(alert),
        everyMs: HOUR_MS,
        thresholds: { "store-unavailable": 0 },
      },
    );
    onTestFinished(() => watch.stop());
    await watch.look();
    await waitFor(async () => {
      await watch.look();
      return told.length === 1;
    });
    expect(told[0]?.kind).toBe("store-unavailable");
  }
});

it("looks by itself at a real outbox", async () => {
  const outbox = createOutbox({
    store: memoryStore(),
    listeners: {
      one: {
        url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
        signer: hmacSigner({ secret: SECRET }),
      },
    },
  });
  for (let n = 0; n < 3; n++) await outbox.enqueue({ listener: "one", payload: { n } });
  const alert = await new Promise<OutboxAlert>((resolve) => {
    const watch = watchOutbox(outbox, { thresholds: { backlog: 2 }, everyMs: 1, onAlert: resolve });
    onTestFinished(() => watch.stop());
  });
  expect(alert).toMatchObject({ kind: "backlog", listener: "one", value: 3, threshold: 2 });
});

it("its thresholds are those of the rules for Prometheus", async () => {
  const path = join(import.meta.dirname, "../../examples/operating/alerts.yaml");
  const { groups } = parse(readFileSync(path, "utf8")) as {
    groups: { rules: { alert: string; expr: string; for?: string }[] }[];
  };
  const rule = (name: string) => groups[0]?.rules.find(({ alert }) => alert === `Hookproof${name}`);
  expect(rule("WindowCloses")?.expr).toMatch(/> 5 \* 86400$/);
  expect(rule("EventsWait")?.expr).toMatch(/> 900$/);
  expect(rule("SnapshotHeld")?.expr).toMatch(/> 600$/);
  expect([rule("StoreUnavailable")?.for, rule("ListenerDown")?.for]).toEqual(["2m", "10m"]);
  const { look } = watching();
  expect(await look({ slowedMs: 600_000 })).toEqual([]);
  expect(await look({ slowedMs: 600_001 })).toEqual(["snapshot-held begun 600001"]);
  expect(await look({})).toEqual(["snapshot-held ended 600001"]);
  const days = 5 * 86_400_000;
  expect(await look({ oldestAgeMs: days })).toEqual([`events-wait begun ${days}`]);
  expect(await look({ oldestAgeMs: days + 1 })).toEqual([`window-closes begun ${days + 1}`]);
});

it("refuses what would never tell", () => {
  const outbox = { stats: async () => [] };
  const onAlert = () => {};
  expect(() => watchOutbox(outbox, {} as never)).toThrow("onAlert must be a function");
  expect(() => watchOutbox(outbox, { onAlert, everyMs: 0 })).toThrow("everyMs");
  expect(() => watchOutbox(outbox, { onAlert, thresholds: { oldest: 1 } as never })).toThrow(
    "thresholds has no oldest",
  );
  expect(() => watchOutbox(outbox, { onAlert, thresholds: { backlog: -1 } })).toThrow("thresholds: backlog");
});
