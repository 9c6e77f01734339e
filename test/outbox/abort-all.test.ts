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
  const failed = new Promise<AbortSignal>((resolve) => {
    all.during((signal) => Promise.reject(resolve(signal))).catch(() => {});
  });
  expect(all.aborted).toBe(false);
  all.abort();
  expect(all.aborted).toBe(true);
  expect(new Set(await Promise.all(works))).toEqual(new Set(["aborted"]));
  expect(await all.during(async (signal) => signal.aborted)).toBe(true);
  expect(ended.aborted).toBe(false);
  expect((await failed).aborted).toBe(true); // it was still under way when everything was aborted
});

it("hands each piece of work a signal of its own, so that Node takes none for a leak", async () => {
  const all = abortAll();
  const given = await Promise.all(Array.from({ length: 50 }, () => all.during(async (signal) => signal)));
  expect(new Set(given).size).toBe(50);
});
