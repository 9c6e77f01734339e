import { describe, expect, it } from "vitest";
import {
  DEFAULT_RETRY_POLICY,
  nextAttempt,
  type RetryPolicy,
  retryPolicy,
} from "../../src/sender/retry-policy.js";
import fc from "../kit/fast-check.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const START = 1_767_225_600_000;

const policies: fc.Arbitrary<RetryPolicy> = fc
  .record({
    maxAttempts: fc.integer({ min: 1, max: 400 }),
    firstDelayMs: fc.integer({ min: 0, max: 3_600_000 }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    maxDelayMs: fc.integer({ min: 0, max: 7_200_000 }),
    jitter: fc.double({ min: 0, max: 2, noNaN: true }),
    maxRetryAfterMs: fc.integer({ min: 0, max: DAY_MS }),
    windowMs: fc.integer({ min: 0, max: 7 * DAY_MS }),
  })
  .map((given) => retryPolicy(given));
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const retryAfterMs = fc.option(fc.oneof(fc.integer({ min: 0 }), fc.constant(1e15)), { nil: undefined });

/** The schedule as the decision words it, computed step by step. */
function scheduledMs(policy: RetryPolicy, attempts: number): number {
  let delay = policy.firstDelayMs;
  for (let i = 1; i < attempts && delay < policy.maxDelayMs; i++) delay *= policy.factor;
  return Math.min(delay, policy.maxDelayMs);
}

describe("any policy", () => {
  it("runs forward in time, ends inside the window and after at most its attempts", () => {
    fc.assert(
      fc.property(
        policies,
        fc.array(fc.tuple(random, retryAfterMs), { maxLength: 50 }),
        (policy, answers) => {
          let now = START;
          for (const [index, [chance, after]] of answers.entries()) {
            const state = { attempts: index + 1, firstAttemptAt: START };
            const next = nextAttempt(policy, state, { now, random: chance, retryAfterMs: after });
            if (next.at === undefined) {
              if (next.reason === "attempts") expect(index + 1).toBe(policy.maxAttempts);
              return;
            }
            expect(next.at).toBeGreaterThanOrEqual(now);
            expect(next.at).toBeLessThanOrEqual(START + policy.windowMs);
            expect(index + 1).toBeLessThan(policy.maxAttempts);
            now = next.at;
          }
        },
      ),
    );
  });

  it("waits no less than the schedule and than Retry-After up to its cap, and no more than either with jitter", () => {
    fc.assert(
      fc.property(
        policies,
        fc.integer({ min: 1, max: 399 }),
        random,
        retryAfterMs,
        (policy, attempts, chance, after) => {
          const input = { now: START, random: chance, retryAfterMs: after };
          const next = nextAttempt(
            { ...policy, maxAttempts: 400, windowMs: 7 * DAY_MS },
            { attempts, firstAttemptAt: START },
            input,
          );
          const asked = Math.min(after ?? 0, policy.maxRetryAfterMs);
          const scheduled = scheduledMs(policy, attempts);
          const delay = (next.at as number) - START;
          expect(delay).toBeGreaterThanOrEqual(Math.max(asked, Math.floor(scheduled)));
          expect(delay).toBeLessThanOrEqual(Math.max(asked, scheduled * (1 + policy.jitter)) + 1);
        },
      ),
    );
  });

  it("survives being stored as JSON", () => {
    fc.assert(
      fc.property(policies, random, (policy, chance) => {
        const stored = JSON.parse(JSON.stringify(policy)) as RetryPolicy;
        const [state, input] = [
          { attempts: 1, firstAttemptAt: START },
          { now: START, random: chance },
        ];
        expect(nextAttempt(retryPolicy(stored), state, input)).toEqual(nextAttempt(policy, state, input));
      }),
    );
  });
});

describe("the default policy", () => {
  it("doubles from 1 s up to 1 h, and its delays never shrink but by jitter", () => {
    const patient = { ...DEFAULT_RETRY_POLICY, maxAttempts: 20 };
    const delays = Array.from({ length: 14 }, (_, index) => {
      const next = nextAttempt(
        patient,
        { attempts: index + 1, firstAttemptAt: START },
        { now: START, random: 0 },
      );
      return ((next.at as number) - START) / 1000;
    });
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]);
  });

  it("ends an hour before the receiver forgets the id", () => {
    const patient = { ...DEFAULT_RETRY_POLICY, maxAttempts: 1_000 };
    const last = START + 7 * DAY_MS - 3_600_000;
    const at = (now: number) =>
      nextAttempt(patient, { attempts: 100, firstAttemptAt: START }, { now, random: 0 });
    expect(at(last - 3_600_000)).toEqual({ at: last });
    expect(at(last - 3_600_000 + 1)).toEqual({ at: undefined, reason: "window" });
  });
});

describe("a policy that cannot be meant", () => {
  it.each([
    { maxAttempts: 0 },
    { maxAttempts: 1.5 },
    { factor: 0.5 },
    { factor: Number.POSITIVE_INFINITY },
    { firstDelayMs: -1 },
    { maxDelayMs: Number.NaN },
    { jitter: Number.POSITIVE_INFINITY },
    { windowMs: 7 * DAY_MS + 1 },
  ])("%o is refused by name", (given) => {
    expect(() => retryPolicy(given)).toThrow(new RegExp(`^retry.${Object.keys(given)[0]} must be`));
  });
});
