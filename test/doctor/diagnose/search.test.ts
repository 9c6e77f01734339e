// What a search for a mistake costs, counted in hashes and bytes, and what ends it.
import { createHmac } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import {
  BYTES_PER_HASH,
  signedBodies,
  type WorkBudget,
  workBudget,
} from "../../../src/doctor/diagnose/search.js";
import type { Option } from "../../../src/doctor/rows/mistake.js";
import { firstMatch } from "../../../src/doctor/rows/run.js";

const EACH = 10_000;
const mistake = { id: "m", title: "", message: "", fix: "" };
const option: Option<undefined> = { weight: 1, mistake, repeat: undefined };
/** 180 single mistakes and more than 10,000 pairs, of which none is the right one. */
const OPTIONS = [{ weight: 0, repeat: undefined } as const, ...Array.from({ length: 60 }, () => option)];
const MANY = { key: OPTIONS, layout: OPTIONS, timestamp: OPTIONS };

/** How many combinations a search without a match tries before its budget ends it. */
function tried(budget: WorkBudget): number {
  let count = 0;
  const found = firstMatch(MANY, { above: 0, upTo: 6, budget }, () => {
    budget.spend(EACH);
    count++;
    return false;
  });
  expect(found).toBeUndefined();
  return count;
}

const hashesOf = (bytes: number) => Math.ceil(bytes / (EACH + BYTES_PER_HASH));

describe("the budget of a search", () => {
  it("ends it, however many combinations are left", () => {
    expect(tried(workBudget(0))).toBe(hashesOf(3_500_000));
  });

  it("grows with the body, up to the largest that a listener takes", () => {
    expect(tried(workBudget(1_000))).toBe(hashesOf(4_300_000));
    const largest = tried(workBudget(65_536));
    expect(largest).toBe(hashesOf(3_500_000 + 800 * 65_536));
    expect(tried(workBudget(65_536 * 100))).toBe(largest);
  });

  it("can be shared, and added to", () => {
    const budget = workBudget(0);
    budget.allow(0.5);
    const half = tried(budget);
    expect(half).toBe(hashesOf(1_750_000));
    expect(tried(budget)).toBe(0);
    budget.allow(1);
    expect(half + tried(budget)).toBe(hashesOf(3_500_000));
    budget.add(100 * (EACH + BYTES_PER_HASH));
    expect(tried(budget)).toBe(100);
  });

  it("pays for each body that is written again, once", () => {
    const body = new TextEncoder().encode(JSON.stringify({ a: "é/".repeat(500), b: [1, 2.5, null] }));
    let spent = 0;
    const budget = {
      ...workBudget(0),
      spend(bytes: number) {
        spent += bytes;
      },
    };
    const { serialising, encoding } = signedBodies(body, budget);
    const costOf = (make: () => unknown) => {
      const before = spent;
      make();
      return spent - before;
    };
    let made = 0;
    for (const { repeat } of serialising.slice(1)) {
      const cost = costOf(repeat);
      if (repeat() === undefined) continue;
      made++;
      expect(cost).toBeGreaterThanOrEqual(body.length);
      expect(costOf(repeat)).toBe(0);
    }
    for (const { repeat } of encoding.slice(1)) {
      expect(costOf(() => repeat(body))).toBeGreaterThanOrEqual(body.length);
      expect(costOf(() => repeat(body))).toBe(0);
    }
    expect(made).toBeGreaterThan(5);
    expect(encoding.length).toBeGreaterThan(5);
  });
});

it("a diagnosis gives up on what is rare rather than go on for as long as it takes", async () => {
  const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
  const [timestamp, eventId] = ["1767225600", "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10"];
  const found = async (body: string, key: string | Buffer, input: string) => {
    const headers = {
      "Content-Type": "application/json",
      "Webhook-Timestamp": timestamp,
      "Webhook-Event-Id": eventId,
      "Webhook-Signature": createHmac("sha256", key).update(input).digest("base64url"),
    };
    const request = { headers, body };
    const { mistakes } = await diagnose({ request, secret, clock: fixedClock(1_767_225_600_000) });
    return mistakes.map(({ id }) => id);
  };
  // No JSON: what is spent is spent on hashes, and hardly on bodies that are written anew.
  const body = "x".repeat(65_000);
  // Each is known, and within reach; a pair of which one is rare comes after thousands of hashes.
  const inOtherOrder = `${body}\n${timestamp}\n${eventId}`;
  expect(await found(body, secret, inOtherOrder)).toContain("input-other-order");
  expect(await found(body, Buffer.from(secret, "base64url"), inOtherOrder)).toContain(
    "signature-unexplained",
  );
});
