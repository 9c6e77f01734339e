// What holds on every engine for a function of listeners that fails, for some names or for all.
import type { Clock } from "hookproof";
import type { Outbox } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { expect } from "vitest";
import { outboxBench } from "./bench-outbox.js";

const payload = { type: "user.offboarded" };
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix} ${n}`);
const putAll = (outbox: Outbox<never>, listeners: readonly string[]) =>
  outbox.enqueue(listeners.map((listener) => ({ listener, payload })));

/** How much time passes at once. */
const STEP_MS = 500;

type Open = (clock: Clock) => OutboxStore<never>;
type Answer = "listener" | "nobody" | "throws" | "refused";

/** A worker whose function answers as the test says, with what it is asked and when. */
function failing(open: Open, answerOf: (name: string) => Answer) {
  const bench = outboxBench();
  const url = "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1";
  const transport = async () => ({ status: 200, headers: [], body: new Uint8Array(), truncated: false });
  const good = bench.listener({ url }, { transport });
  const asked: { name: string; at: number; answer: Answer }[] = [];
  let waiting = 0;
  const outbox = bench.outbox(
    (name) => {
      const answer = answerOf(name);
      asked.push({ name, at: bench.clock.monotonic(), answer });
      if (answer === "throws") throw new Error("the table of tenants is gone");
      if (answer === "nobody") return undefined;
      return answer === "listener" ? good : { ...good, url: "http://elsewhere.example/x" };
    },
    {
      store: open(bench.storeClock),
      async wait(ms, signal) {
        waiting += 1;
        await bench.clock.wait(ms, signal);
        waiting -= 1;
      },
    },
  );
  /** Lets time pass when the worker has looked at all there is, and not before. */
  async function pass(ms: number, isEnough: () => boolean = () => false): Promise<boolean> {
    for (let passed = 0; passed <= ms && !isEnough(); passed += STEP_MS) {
      if (passed > 0) bench.clock.advance(STEP_MS);
      for (let turns = 0; turns < 3 && !isEnough(); turns = waiting > 0 ? turns + 1 : 0)
        await new Promise((resolve) => setTimeout(resolve));
    }
    return isEnough();
  }
  const delivered = () => bench.told("delivery-ended").length;
  return { now: () => bench.clock.monotonic(), pass, outbox, asked, delivered };
}

/** Of 1,500 names, all fail for a minute; then it answers. */
export async function failsForAll(open: Open): Promise<void> {
  let isDown = true;
  const { now, pass, outbox, asked, delivered } = failing(open, () => (isDown ? "throws" : "listener"));
  const tenants = names("tenant", 1_500);
  await putAll(outbox, tenants);
  outbox.start();
  await pass(2_000);
  const begun = now();
  await pass(60_000);
  const inOutage = asked.filter(({ at }) => at > begun);
  expect(inOutage.length).toBeGreaterThan(1_500);
  for (let second = begun; second < now(); second += 1_000)
    expect(inOutage.filter(({ at }) => at > second && at <= second + 1_000).length).toBeLessThanOrEqual(100);
  isDown = false;
  expect(await pass(70_000, () => delivered() === tenants.length)).toBe(true);
  const back = asked.filter(({ answer }) => answer === "listener");
  expect(back.length).toBe(tenants.length);
  expect((back.at(-1)?.at ?? 0) - (back[0]?.at ?? 0)).toBeLessThanOrEqual(3_000);
}

/** Of 1,000 names the function throws for all but 20, which stand behind them; each minute, these get an event. */
export async function failsForMany(open: Open): Promise<void> {
  const isWell = (name: string) => name.startsWith("well");
  const { now, pass, outbox, asked, delivered } = failing(open, (name) =>
    isWell(name) ? "listener" : "throws",
  );
  const well = names("well", 20);
  await putAll(outbox, [...names("broken", 1_000), ...well]);
  outbox.start();
  expect(await pass(70_000, () => delivered() === well.length)).toBe(true);
  for (let round = 2; round < 4; round++) {
    await putAll(outbox, well);
    expect(await pass(2_000, () => delivered() === round * well.length)).toBe(true);
    await pass(61_000); // what is known of them is too old then
  }
  const from = now();
  await pass(60_000);
  const again = asked.filter(({ name, at }) => at > from && !isWell(name));
  expect(again.length).toBeLessThanOrEqual(1_100); // each once a minute
  expect(again.length).toBeGreaterThan(500);
}

/** A name is asked about after 5 s, 10, 20, 40 and then each minute, whether it throws or gives what cannot work. */
export async function isAskedEverLater(open: Open): Promise<void> {
  const { pass, outbox, asked } = failing(open, (name) => (name === "broken" ? "throws" : "refused"));
  await putAll(outbox, ["broken", "misconfigured"]);
  outbox.start();
  await pass(200_000);
  for (const one of ["broken", "misconfigured"]) {
    const times = asked.filter(({ name }) => name === one).map(({ at }) => at);
    const pauses = times.slice(1).map((at, n) => at - (times[n] ?? 0));
    expect(pauses.slice(0, 6)).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  }
}

/** A drain asks about each name before it ends, though the first ones fail in a row; `forget` has one asked at once. */
export async function drainsAndForgets(open: Open): Promise<void> {
  const healed = new Set<string>();
  const isWell = (name: string) => name.startsWith("well") || healed.has(name);
  const { pass, outbox, asked, delivered } = failing(open, (name) => (isWell(name) ? "listener" : "throws"));
  await putAll(outbox, [...names("broken", 700), ...names("well", 5)]);
  let isDrained = false;
  const drain = outbox.drain().then(() => {
    isDrained = true;
  });
  expect(await pass(60_000, () => isDrained)).toBe(true);
  await drain;
  expect(new Set(asked.map(({ name }) => name)).size).toBe(705);
  expect(delivered()).toBe(5);
  outbox.start();
  await pass(30_000);
  healed.add("broken 699");
  await outbox.forget("broken 699");
  expect(await pass(1_500, () => delivered() === 6)).toBe(true);
}
