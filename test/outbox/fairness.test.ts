import type { OutboxOptions } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { type OutboxBench, outboxBench, waitFor } from "./bench-outbox.js";
import { newOutboxFile, SQLITE_DRIVERS } from "./sqlite/files.js";

const removals: (() => void)[] = [];
afterEach(() => {
  for (const remove of removals.splice(0)) remove();
});

function sqliteOf(bench: OutboxBench): OutboxOptions["store"] {
  const [open] = Object.values(SQLITE_DRIVERS);
  if (!open) throw new Error("there is no driver");
  const { file, remove } = newOutboxFile();
  const store = sqliteStore({ open: () => open(file), clock: bench.storeClock });
  removals.push(() => void store.close().then(remove, remove));
  return store as OutboxOptions["store"];
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => n);
const eventsFor = (listeners: readonly string[], each: number) =>
  listeners.flatMap((listener) => numbered(each).map((n) => ({ listener, payload: { n } })));

describe.each([
  ["memory", (bench: OutboxBench) => bench.store as OutboxOptions["store"]],
  ["SQLite", sqliteOf],
])("over the store in %s", (_, storeOf) => {
  it.each(["hangs", "fails", "is slow"])("one listener of 50 that %s holds back no other", async (how) => {
    const bench = outboxBench();
    const ill = await bench.receiver({
      async intercept(request, response, receive) {
        if (how === "fails") response.writeHead(500).end();
        if (how === "is slow") {
          await new Promise((resolve) => setTimeout(resolve, 20));
          await receive(request, response);
        }
        request.resume();
      },
    });
    const well = await bench.receiver();
    const [first = "", ...others] = numbered(50).map((n) => `l${n}`);
    const listeners = Object.fromEntries(others.map((name) => [name, bench.listener(well)]));
    const outbox = bench.outbox({ [first]: bench.listener(ill), ...listeners }, { store: storeOf(bench) });
    // The ill one's events come first, and there are as many of them as of all the others.
    await outbox.enqueue(eventsFor([first], 490));
    outbox.start();
    await waitFor(() => ill.requests.length > 0);
    await outbox.enqueue(eventsFor(others, 10));
    const ends = () => bench.told("delivery-ended").filter(({ listener }) => listener !== first);
    // No time passes on the outbox's clock: nothing waits for a time-out, nor for the next look.
    await waitFor(() => ends().length === 490);
    expect(ends().map(({ ageMs }) => ageMs)).toEqual(Array(490).fill(0));
    if (how === "hangs") expect(ill.requests).toHaveLength(1);
    await outbox.stop({ timeoutMs: 0 });
  });

  it.each([30, 100])("%i listeners of 130 that hang hold back no other, with all defaults", async (hung) => {
    const bench = outboxBench();
    const hanging = await bench.receiver({ intercept: () => {} });
    const well = await bench.receiver();
    const names = numbered(130).map((n) => `l${n}`);
    const listeners = names.map((name, n) => [name, bench.listener(n < hung ? hanging : well)] as const);
    const outbox = bench.outbox(Object.fromEntries(listeners), { store: storeOf(bench) });
    await outbox.enqueue(eventsFor(names.slice(0, hung), 12));
    outbox.start();
    await waitFor(() => hanging.requests.length === hung); // each has its one place
    const others = names.slice(hung);
    await outbox.enqueue(eventsFor(others, 5));
    await waitFor(() => bench.told("delivery-ended").length === others.length * 5);
    expect(new Set(bench.told("delivery-ended").map(({ ageMs }) => ageMs))).toEqual(new Set([0]));
    expect(hanging.requests).toHaveLength(hung);
    await outbox.stop({ timeoutMs: 0 });
  });
});

it("listeners that begin to hang hold back the others for a second at most", async () => {
  const bench = outboxBench();
  let hangs = false;
  const ill = await bench.receiver({
    intercept: (request, response, receive) => (hangs ? undefined : receive(request, response)),
  });
  const well = await bench.receiver();
  const names = numbered(40).map((n) => `l${n}`);
  const listeners = names.map((name, n) => [name, bench.listener(n < 30 ? ill : well)] as const);
  const outbox = bench.outbox(Object.fromEntries(listeners));
  outbox.start();
  await outbox.enqueue(eventsFor(names.slice(0, 30), 20));
  await waitFor(() => bench.told("delivery-ended").length === 600); // each may have ten at once now
  hangs = true;
  await outbox.enqueue(eventsFor(names.slice(0, 30), 20));
  await waitFor(() => ill.requests.length === 600 + 250); // all places of the process
  await outbox.enqueue(eventsFor(names.slice(30), 10));
  bench.clock.advance(1_000);
  await waitFor(() => bench.told("delivery-ended").length === 700);
  await outbox.stop({ timeoutMs: 0 });
});
