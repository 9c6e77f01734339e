import { expect, it } from "vitest";
import { abortAll } from "../../src/outbox/abort-all.js";

/** Work that goes on until its signal aborts. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) =>
    signal.addEventListener("abort", () => resolve("aborted"), { once: true }),
  );

it("ends everything under way, however much that is, and leaves alone what has ended", async () => {
  const all = abortAll();
  const ended = await all.during(async (signal) => signal);
  const works = Array.from({ length: 30 }, () => all.during(untilAborted));
  expect(all.aborted).toBe(false);
  all.abort();
  expect(all.aborted).toBe(true);
  expect(new Set(await Promise.all(works))).toEqual(new Set(["aborted"]));
  for (let n = 0; n < 10; n++) expect(await all.during(async (signal) => signal.aborted)).toBe(true);
  expect(ended.aborted).toBe(true);
});

it("hands a signal to a few pieces of work only, so that Node takes it for no leak", async () => {
  const all = abortAll();
  const given: AbortSignal[] = [];
  const note = async (signal: AbortSignal) => {
    given.push(signal);
  };
  for (let n = 0; n < 100; n++) await all.during(note);
  const shared = given.map((signal) => given.filter((other) => other === signal).length);
  expect(Math.max(...shared)).toBeLessThanOrEqual(10);
  expect(Math.min(...shared.slice(0, 90))).toBeGreaterThan(1);
});
