import { describe, expect, it } from "vitest";
import {
  afterAttempt,
  allowedAttempts,
  type BreakerInput,
  type BreakerState,
  breakerAt,
  breakerPolicy,
  CLOSED,
  DEFAULT_BREAKER_POLICY as policy,
} from "../../src/outbox/breaker.js";
import fc from "../kit/fast-check.js";
import { runs } from "../kit/property-runs.js";
import { outboxBench, waitFor } from "./bench-outbox.js";

const step = (state: BreakerState, result: BreakerInput["result"], now: number) =>
  afterAttempt(policy, breakerAt(state, now), { result, startedAt: now, now });

function stateAfter(results: readonly BreakerInput["result"][], now = 0, from = CLOSED): BreakerState {
  return results.reduce((state, result) => step(state, result, now), from);
}

describe("the breaker", () => {
  it("opens on a share of failures, and not before there are enough attempts", () => {
    expect(stateAfter(Array(9).fill("bad")).phase).toBe("closed");
    expect(stateAfter(Array(10).fill("bad")).phase).toBe("open");
    expect(stateAfter([...Array(6).fill("good"), ...Array(5).fill("bad")]).phase).toBe("closed");
    expect(stateAfter([...Array(5).fill("good"), ...Array(5).fill("bad")]).phase).toBe("open");
  });

  it("never opens on what says nothing about the listener's health", () => {
    expect(stateAfter(Array(500).fill("neither"))).toEqual(CLOSED);
  });

  it("forgets what is older than its window", () => {
    const failing = stateAfter(Array(9).fill("bad"), 0);
    expect(step(failing, "bad", policy.windowMs + 6_000).phase).toBe("closed");
    expect(step(failing, "bad", policy.windowMs - 6_000).phase).toBe("open");
  });

  it("lets nothing through while it is open, then one probe, then more and more, and closes", () => {
    let state = stateAfter(Array(10).fill("bad"), 0);
    expect(allowedAttempts(breakerAt(state, policy.openMs - 1))).toBe(0);
    state = breakerAt(state, policy.openMs);
    const allowed: number[] = [];
    for (let now = policy.openMs; state.phase !== "closed"; now += 100) {
      allowed.push(allowedAttempts(state));
      state = step(state, "good", now);
    }
    expect(allowed).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it("opens for twice as long when the probe fails, up to its limit", () => {
    let state = stateAfter(Array(10).fill("bad"), 0);
    const lengths: number[] = [];
    let now = 0;
    for (let times = 0; times < 6; times++) {
      const until = state.phase === "open" ? state.until : Number.NaN;
      lengths.push(until - now);
      now = until;
      state = step(state, "bad", now);
    }
    expect(lengths).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
  });

  it("looks at the last minute and half of at least ten attempts, and opens for 30 s", () => {
    expect(policy).toEqual({
      windowMs: 60_000,
      minAttempts: 10,
      failureShare: 0.5,
      openMs: 30_000,
    });
  });

  it("counts in tenths of its window, the current one with them", () => {
    const failing = stateAfter(Array(9).fill("bad"), 5_999);
    expect(step(failing, "bad", 59_999).phase).toBe("open");
    expect(step(failing, "bad", 60_000).phase).toBe("closed");
    // Each tenth is forgotten by itself.
    let state: BreakerState = CLOSED;
    for (let tenth = 0; tenth < 9; tenth++) state = step(state, "bad", tenth * 6_000);
    expect(step(state, "bad", 59_000).phase).toBe("open");
    expect(step(state, "bad", 60_000).phase).toBe("closed");
    // Good ones and bad ones of one tenth are counted beside each other.
    const mixed = stateAfter(["good", "bad", "good", "bad", "good", "bad", "good", "bad", "good"], 100);
    expect(mixed).toEqual({ phase: "closed", slots: [{ number: 0, good: 5, bad: 4 }] });
  });

  it("opens by a failure only, never by what went well", () => {
    const half = { phase: "closed", slots: [{ number: 0, good: 4, bad: 5 }] } as const;
    expect(step(half, "good", 0).phase).toBe("closed");
    expect(step(half, "bad", 0).phase).toBe("open");
  });

  describe("while attempts come back", () => {
    const trial = () => breakerAt(stateAfter(Array(10).fill("bad"), 0), policy.openMs);
    const afterwards = (...results: BreakerInput["result"][]) => stateAfter(results, policy.openMs, trial());

    it("a refusal of one event is a listener that is there", () => {
      expect(afterwards("neither")).toMatchObject({ phase: "half-open", good: 1, bad: 0 });
      expect(afterwards(...Array(11).fill("neither"))).toEqual(CLOSED);
      expect(afterwards(...Array(10).fill("good")).phase).toBe("half-open");
    });

    it("a single failure after the probe does not open it again", () => {
      expect(afterwards("good", "bad")).toMatchObject({ phase: "half-open", good: 1, bad: 1 });
      expect(afterwards("good", "bad", "bad", "bad")).toMatchObject({ phase: "half-open", good: 1, bad: 3 });
    });

    it("a failing share of five or more does, for twice as long", () => {
      expect(afterwards("good", "bad", "bad", "bad", "bad")).toEqual({
        phase: "open",
        until: policy.openMs + 60_000,
        openings: 2,
      });
      expect(afterwards("good", "good", "good", "bad", "bad", "bad").phase).toBe("open"); // half of six
      expect(afterwards("good", "good", "good", "bad", "bad").phase).toBe("half-open"); // less than half of five
      expect(afterwards("bad").phase).toBe("open"); // the probe itself
    });

    it("as many may be under way as have gone well, and one more", () => {
      expect(allowedAttempts(afterwards("good", "good", "bad"))).toBe(3);
    });
  });

  it.each([
    [{ windowMs: 0 }],
    [{ openMs: -1 }],
    [{ openMs: Number.NaN }],
    [{ windowMs: Number.POSITIVE_INFINITY }],
    [{ minAttempts: 0 }],
    [{ minAttempts: 1.5 }],
    [{ failureShare: 0 }],
    [{ failureShare: 1.01 }],
    [{ failureShare: Number.NaN }],
  ])("takes no policy such as %j", (given) => {
    expect(() => breakerPolicy(given)).toThrow(RangeError);
  });

  it("takes a policy at its limits, and the default for what is left out", () => {
    const given = { windowMs: 1, openMs: 1, minAttempts: 1, failureShare: 1 };
    expect(breakerPolicy(given)).toEqual(given);
    expect(breakerPolicy()).toEqual(policy);
  });

  it("pays no attention to attempts from before it opened", () => {
    const trial = breakerAt(stateAfter(Array(10).fill("bad"), 0), policy.openMs);
    const late = afterAttempt(policy, trial, {
      result: "bad",
      startedAt: policy.openMs - 1,
      now: policy.openMs + 5,
    });
    expect(late).toBe(trial);
  });
});

describe("whatever happens, the breaker", () => {
  const inputs = fc.array(
    fc.record({
      result: fc.constantFrom<BreakerInput["result"]>("good", "bad", "neither"),
      waitedMs: fc.oneof(fc.nat(500), fc.nat(400_000)),
      tookMs: fc.nat(15_000),
    }),
    { maxLength: 300 },
  );

  it("is open for a bounded time, and opens only for a failing share of enough attempts of its window", () => {
    fc.assert(
      fc.property(inputs, (steps) => {
        let state: BreakerState = CLOSED;
        let now = 1_767_225_600_000;
        let seen: { at: number; isBad: boolean }[] = [];
        for (const { result, waitedMs, tookMs } of steps) {
          now += waitedMs;
          const before = breakerAt(state, now);
          state = afterAttempt(policy, before, { result, startedAt: now - tookMs, now });
          if (before.phase !== "closed") seen = [];
          else if (result !== "neither") seen.push({ at: now, isBad: result === "bad" });
          if (before.phase === "closed") {
            const tenth = (at: number) => Math.floor(at / 6_000);
            const recent = seen.filter(({ at }) => tenth(at) > tenth(now) - 10);
            const bad = recent.filter(({ isBad }) => isBad).length;
            const opens = result === "bad" && recent.length >= 10 && bad / recent.length >= 0.5;
            expect(state.phase).toBe(opens ? "open" : "closed");
          }
          if (state.phase === "open") {
            expect(state.until - now).toBeLessThanOrEqual(300_000);
            expect(allowedAttempts(state)).toBe(0);
            expect(allowedAttempts(breakerAt(state, state.until))).toBe(1);
          }
          if (before.phase === "open") expect(state).toBe(before);
        }
      }),
      runs,
    );
  });

  it("closes again once the listener is well", () => {
    fc.assert(
      fc.property(inputs, (steps) => {
        let state: BreakerState = CLOSED;
        let now = 0;
        for (const { result, waitedMs } of steps) {
          now += waitedMs;
          state = step(state, result, now);
        }
        for (let good = 0; good <= 11; good++) {
          now = state.phase === "open" ? state.until : now + 1;
          state = step(state, "good", now);
        }
        expect(state.phase).toBe("closed");
      }),
      runs,
    );
  });
});

describe("at a receiver that fails", () => {
  it("opens, leaves the waiting events untouched, probes once, ramps up and closes", async () => {
    const bench = outboxBench();
    let failing = true;
    let mostAtOnce = 0;
    let atOnce = 0;
    const server = await bench.receiver({
      async intercept(request, response, receive) {
        atOnce += 1;
        mostAtOnce = Math.max(mostAtOnce, atOnce);
        response.on("close", () => {
          atOnce -= 1;
        });
        if (!failing) return receive(request, response);
        request.resume();
        response.writeHead(500).end();
      },
    });
    const well = await bench.receiver();
    const outbox = bench.outbox({ a: bench.listener(server), b: bench.listener(well) });
    await outbox.enqueue(Array.from({ length: 60 }, (_, n) => ({ listener: "a", payload: { n } })));
    outbox.start();
    await waitFor(() => bench.told("breaker-changed").length === 1);
    expect(bench.told("breaker-changed")).toMatchObject([{ listener: "a", state: "open" }]);
    await waitFor(async () => (await bench.store.stats())[0]?.pending === 60);
    const atOpening = server.requests.length;
    expect(atOpening).toBeLessThanOrEqual(20);

    await outbox.enqueue({ listener: "b", payload: {} });
    await bench.passUntil(() => bench.clock.now() >= Date.parse("2026-01-01T00:00:29Z"), 1_000);
    expect(server.requests.length).toBe(atOpening);
    expect(well.runs.size).toBe(1);
    expect((await outbox.stats()).find(({ listener }) => listener === "a")).toMatchObject({
      breaker: "open",
    });

    mostAtOnce = 0;
    await bench.passUntil(() => server.requests.length > atOpening, 1_000);
    await waitFor(() => bench.told("breaker-changed").length === 3);
    expect(server.requests.length).toBe(atOpening + 1);
    expect(mostAtOnce).toBe(1);

    failing = false;
    await bench.passUntil(() => server.runs.size === 60, 1_000);
    expect(bench.told("breaker-changed").map(({ state }) => state)).toEqual([
      "open",
      "half-open",
      "open",
      "half-open",
      "closed",
    ]);
  });

  it("events past their window become dead letters even while it is open", async () => {
    const bench = outboxBench();
    const server = await bench.receiver({
      intercept(request, response) {
        request.resume();
        response.writeHead(500).end();
      },
    });
    const breaker = { minAttempts: 1, openMs: 86_400_000 };
    const retry = { windowMs: 3_600_000 };
    const outbox = bench.outbox({ a: bench.listener(server, { breaker, retry }) });
    const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
    outbox.start();
    await waitFor(() => bench.told("breaker-changed").length === 1);
    await bench.passUntil(async () => (await outbox.find(eventId))[0]?.state === "dead", 60_000);
    expect(server.requests).toHaveLength(1);
    for await (const letter of outbox.deadLetters())
      expect(letter).toMatchObject({ reason: "window", code: "WINDOW_CLOSED", attempts: [{ status: 500 }] });
    expect(bench.told("delivery-ended")).toMatchObject([{ eventId, outcome: "dead", code: "WINDOW_CLOSED" }]);
  });

  it.each([400, 409, 413])("stays closed for %i, however often", async (status) => {
    const bench = outboxBench();
    const server = await bench.receiver({
      intercept(request, response) {
        request.resume();
        response.writeHead(status).end();
      },
    });
    const outbox = bench.outbox({ a: bench.listener(server) });
    await outbox.enqueue(Array.from({ length: 40 }, (_, n) => ({ listener: "a", payload: { n } })));
    await outbox.drain();
    expect(server.requests).toHaveLength(40);
    expect(bench.told("breaker-changed")).toEqual([]);
  });

  it.each([401, 403, 404, 500])("opens for %i at every attempt", async (status) => {
    const bench = outboxBench();
    const server = await bench.receiver({
      intercept(request, response) {
        request.resume();
        response.writeHead(status).end();
      },
    });
    const outbox = bench.outbox({ a: bench.listener(server) });
    await outbox.enqueue(Array.from({ length: 40 }, (_, n) => ({ listener: "a", payload: { n } })));
    await outbox.drain();
    expect(server.requests.length).toBeLessThan(40);
    expect(bench.told("breaker-changed")).toMatchObject([{ state: "open" }]);
  });
});
