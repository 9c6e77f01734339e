import { expect, it } from "vitest";
import { TokenBucket } from "../../src/outbox/limits.js";
import fc from "../kit/fast-check.js";
import { runs } from "../kit/property-runs.js";
import { outboxBench } from "./bench-outbox.js";

it("never lets more through in any stretch of time than burst and rate allow, and as many as that", () => {
  const rates = fc.record({
    perSecond: fc.double({ min: 0.1, max: 1_000, noNaN: true }),
    burst: fc.integer({ min: 1, max: 50 }),
  });
  fc.assert(
    fc.property(rates, fc.array(fc.nat(3_000), { minLength: 1, maxLength: 100 }), (given, waits) => {
      let now = 1_767_225_600_000;
      const bucket = new TokenBucket(given);
      const starts: number[] = [];
      for (const wait of waits) {
        now += wait;
        const taken = bucket.tokens(now);
        for (let i = 0; i < taken; i++) starts.push(now);
        bucket.take(taken, now);
        // The next token is not promised too early, and not much too late.
        const next = bucket.nextToken(now);
        if (next - 2 > now) expect(bucket.tokens(next - 2)).toBe(0);
        now = next;
        expect(bucket.tokens(now)).toBeGreaterThanOrEqual(1);
      }
      for (let from = 0; from < starts.length; from += 7)
        for (let to = from; to < starts.length; to += 5) {
          const spanMs = (starts[to] as number) - (starts[from] as number);
          expect(to - from + 1).toBeLessThanOrEqual(given.burst + (spanMs * given.perSecond) / 1000 + 1e-6);
        }
    }),
    runs,
  );
});

it("a clock that goes back fills nothing and takes nothing away", () => {
  const bucket = new TokenBucket({ perSecond: 10 });
  bucket.take(7, 1_000);
  expect([bucket.tokens(500), bucket.tokens(600)]).toEqual([3, 4]);
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
  await bench.quiet();
  expect([fast.runs.size, slow.runs.size]).toEqual([20, 5]);
  await bench.passUntil(() => bench.told("delivery-ended").length === 40, 50);
  const sent = bench.told("delivery-ended").filter(({ listener }) => listener === "slow");
  const entries = await Promise.all(sent.map(({ eventId }) => outbox.find(eventId)));
  const times = entries.map(([entry]) => entry?.attempts[0]?.startedAt ?? 0).sort((a, b) => a - b);
  const sinceFirst = times.map((time) => time - (times[0] ?? 0));
  const afterBurst = Array.from({ length: 15 }, (_, n) => (n + 1) * 500);
  expect(sinceFirst).toEqual([0, 0, 0, 0, 0, ...afterBurst]);
});

it.each([
  [{ perSecond: 0 }],
  [{ perSecond: Number.POSITIVE_INFINITY }],
  [{ perSecond: 1, burst: 0.5 }],
  [{ perSecond: 1, burst: Number.NaN }],
])("%j is no rate", (rate) => {
  expect(() => new TokenBucket(rate)).toThrow(RangeError);
});

it("a rate's burst is what a second allows, and one at least", () => {
  expect(new TokenBucket({ perSecond: 0.1 }).tokens(0)).toBe(1);
  expect(new TokenBucket({ perSecond: 7.5 }).tokens(0)).toBe(7);
  expect(new TokenBucket({ perSecond: 7.5, burst: 1 }).tokens(0)).toBe(1);
});

it("a token that is there needs no waiting, and the next one is there at its time", () => {
  const bucket = new TokenBucket({ perSecond: 4, burst: 2 });
  bucket.take(1, 50);
  expect(bucket.nextToken(50)).toBe(50);
  bucket.take(1, 50);
  expect(bucket.nextToken(50)).toBe(300);
  bucket.take(1, 50);
  expect([bucket.tokens(50), bucket.nextToken(50)]).toEqual([0, 550]);
  expect([bucket.tokens(549), bucket.tokens(550), bucket.tokens(10_000)]).toEqual([0, 1, 2]);
});
