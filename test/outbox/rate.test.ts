import { expect, it } from "vitest";
import { ListenerLimits } from "../../src/outbox/limits.js";
import { allowedAt, allowedBy, paceAfter, type Rate } from "../../src/outbox/rate.js";
import fc from "../kit/fast-check.js";
import { runs } from "../kit/property-runs.js";
import { outboxBench } from "./bench-outbox.js";

const limits = (rate: Rate) => new ListenerLimits({ rate, breaker: false }, () => {});

it("never lets more through in any stretch of time than burst and rate allow, and as many as that", () => {
  const rates = fc.record({
    perSecond: fc.double({ min: 0.1, max: 1_000, noNaN: true }),
    burst: fc.integer({ min: 1, max: 50 }),
  });
  fc.assert(
    fc.property(rates, fc.array(fc.nat(3_000), { minLength: 1, maxLength: 100 }), (given, waits) => {
      let now = 1_767_225_600_000;
      let pace = Number.NEGATIVE_INFINITY;
      const starts: number[] = [];
      for (const wait of waits) {
        now += wait;
        const taken = allowedBy(given, pace, now);
        for (let i = 0; i < taken; i++) starts.push(now);
        pace = paceAfter(given, pace, now, taken);
        // The next attempt is not promised too early, and not much too late.
        const next = allowedAt(given, pace, now);
        if (next - 2 > now) expect(allowedBy(given, pace, next - 2)).toBe(0);
        now = next;
        expect(allowedBy(given, pace, now)).toBeGreaterThanOrEqual(1);
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

it("a clock that goes back allows nothing more and nothing less", () => {
  const one = limits({ perSecond: 10 });
  for (let n = 0; n < 7; n++) {
    one.started(1_000);
    one.ended({ result: "good", startedAt: 1_000, now: 1_000, answered: true });
  }
  expect([one.free(500), one.free(600)]).toEqual([3, 4]);
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
  expect(() => limits(rate)).toThrow(RangeError);
});

it("a rate's burst is what a second allows, and one at least", () => {
  const atFirst = (rate: Rate) => allowedBy(rate, Number.NEGATIVE_INFINITY, 0);
  expect(atFirst({ perSecond: 0.1 })).toBe(1);
  expect(atFirst({ perSecond: 7.5 })).toBe(7);
  expect(atFirst({ perSecond: 7.5, burst: 1 })).toBe(1);
});

it("what is allowed now needs no waiting, and the next one is allowed at its time", () => {
  const rate = { perSecond: 4, burst: 2 };
  const after = (taken: number) => paceAfter(rate, 0, 50, taken);
  expect(allowedAt(rate, after(1), 50)).toBe(50);
  expect(allowedAt(rate, after(2), 50)).toBe(300);
  const more = after(3);
  expect([allowedBy(rate, more, 50), allowedAt(rate, more, 50)]).toEqual([-1, 550]);
  expect([549, 550, 10_000].map((now) => allowedBy(rate, more, now))).toEqual([0, 1, 2]);
});
