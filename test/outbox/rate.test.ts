import { expect, it } from "vitest";
import { type Bucket, nextToken, rateOf, refilled, whole } from "../../src/outbox/rate-bucket.js";
import { runs } from "../properties/runs.js";
import fc from "../support/fast-check.js";
import { outboxBench } from "./bench-outbox.js";

it("never lets more through in any stretch of time than burst and rate allow, and as many as that", () => {
  const rates = fc.record({
    perSecond: fc.double({ min: 0.1, max: 1_000, noNaN: true }),
    burst: fc.integer({ min: 1, max: 50 }),
  });
  fc.assert(
    fc.property(rates, fc.array(fc.nat(3_000), { minLength: 1, maxLength: 100 }), (given, waits) => {
      const rate = rateOf(given);
      let now = 1_767_225_600_000;
      let bucket: Bucket = { tokens: rate.burst, at: now };
      const starts: number[] = [];
      for (const wait of waits) {
        now += wait;
        bucket = refilled(rate, bucket, now);
        const taken = whole(bucket);
        for (let i = 0; i < taken; i++) starts.push(now);
        bucket = { ...bucket, tokens: bucket.tokens - taken };
        // The next token is not promised too early, and not much too late.
        const next = nextToken(rate, bucket);
        expect(whole(refilled(rate, bucket, next))).toBeGreaterThanOrEqual(1);
        if (next - 2 > now) expect(whole(refilled(rate, bucket, next - 2))).toBe(0);
      }
      for (let from = 0; from < starts.length; from += 7)
        for (let to = from; to < starts.length; to += 5) {
          const spanMs = (starts[to] as number) - (starts[from] as number);
          expect(to - from + 1).toBeLessThanOrEqual(rate.burst + (spanMs * rate.perSecond) / 1000 + 1e-6);
        }
    }),
    runs,
  );
});

it("a clock that goes back fills nothing and takes nothing away", () => {
  const rate = rateOf({ perSecond: 10 });
  expect(refilled(rate, { tokens: 3, at: 1_000 }, 500)).toEqual({ tokens: 3, at: 500 });
});

it("a listener gets its burst at once and then its rate, and the others are not held back", async () => {
  const bench = outboxBench();
  const slow = await bench.receiver();
  const fast = await bench.receiver();
  const outbox = bench.outbox({
    slow: bench.listener(slow, { rate: { perSecond: 2, burst: 5 } }),
    fast: bench.listener(fast),
  });
  const enqueue = (listener: string) =>
    outbox.enqueue(Array.from({ length: 20 }, (_, n) => ({ listener, payload: { n } })));
  await enqueue("slow");
  await enqueue("fast");
  outbox.start();
  await bench.passUntil(() => fast.runs.size === 20, 1);
  expect(slow.runs.size).toBeLessThanOrEqual(6);
  await bench.passUntil(() => bench.told("delivery-ended").length === 40, 50);
  const sent = bench.told("delivery-ended").filter(({ listener }) => listener === "slow");
  const entries = await Promise.all(sent.map(({ eventId }) => outbox.find(eventId)));
  const times = entries.map(([entry]) => entry?.attempts[0]?.startedAt ?? 0).sort((a, b) => a - b);
  const sinceFirst = times.map((time) => time - (times[0] ?? 0));
  expect(sinceFirst[4]).toBeLessThan(500);
  expect(sinceFirst[19]).toBeGreaterThanOrEqual(7_400);
  expect(sinceFirst[19]).toBeLessThan(9_000);
});

it.each([
  [{ perSecond: 0 }],
  [{ perSecond: Number.POSITIVE_INFINITY }],
  [{ perSecond: 1, burst: 0.5 }],
  [{ perSecond: 1, burst: Number.NaN }],
])("%j is no rate", (rate) => {
  expect(() => rateOf(rate)).toThrow(RangeError);
});

it("a rate's burst is what a second allows, and one at least", () => {
  expect(rateOf({ perSecond: 0.1 })).toEqual({ perSecond: 0.1, burst: 1 });
  expect(rateOf({ perSecond: 7.5 })).toEqual({ perSecond: 7.5, burst: 7.5 });
  expect(rateOf({ perSecond: 7.5, burst: 1 })).toEqual({ perSecond: 7.5, burst: 1 });
});

it("a token that is there needs no waiting, and the next one is there at its time", () => {
  const rate = rateOf({ perSecond: 4, burst: 2 });
  expect(nextToken(rate, { tokens: 1, at: 50 })).toBe(50);
  expect(nextToken(rate, { tokens: 0, at: 50 })).toBe(300);
  expect(nextToken(rate, { tokens: -1, at: 50 })).toBe(550);
  expect([whole({ tokens: 1.9, at: 0 }), whole({ tokens: -0.5, at: 0 })]).toEqual([1, 0]);
  expect(refilled(rate, { tokens: 0, at: 0 }, 10_000)).toEqual({ tokens: 2, at: 10_000 });
});
