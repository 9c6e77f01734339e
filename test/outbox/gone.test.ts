import type { OutboxListenerOptions } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { generateStandardSecret, standardWebhooksSigner } from "hookproof/standard-webhooks";
import { describe, expect, it } from "vitest";
import { outboxBench } from "./bench-outbox.js";

const payload = { type: "user.offboarded" };

/** A listener that answers 410 until it is told to accept, and an outbox of another worker beside the first. */
async function goneListener({
  ofDefaultScheme = false,
  store,
  whileAsked = async () => {},
  ...options
}: Partial<OutboxListenerOptions> & {
  ofDefaultScheme?: boolean;
  store?: OutboxStore<never>;
  whileAsked?: () => Promise<void>;
} = {}) {
  const bench = outboxBench();
  let status = 410;
  const server = await bench.receiver({
    async intercept(request, response) {
      request.resume();
      await whileAsked();
      response.writeHead(status).end();
    },
  });
  const signer = ofDefaultScheme
    ? {}
    : { signer: standardWebhooksSigner({ secrets: generateStandardSecret() }) };
  const listeners = { shop: { ...bench.listener(server), ...signer, ...options } };
  const outbox = bench.outbox(listeners, store && { store });
  const other = bench.outbox(listeners, store && { store });
  const accept = () => {
    status = 200;
  };
  return { bench, server, outbox, other, accept };
}

describe("410 from a listener whose scheme says that it means: send no more", () => {
  it("pauses the listener for every worker, buries nothing, and a resume sends what waited", async () => {
    const { bench, server, outbox, other, accept } = await goneListener({
      retry: { maxAttempts: 1 }, // it is not the event that is refused
    });
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await outbox.enqueue({ listener: "shop", payload })).eventId);
    outbox.start();
    other.start();
    await bench.passUntil(async () => (await other.stats())[0]?.paused !== undefined);
    await bench.pass(3_600_000, 60_000);
    const asked = server.requests.length;
    expect(asked).toBeLessThan(5);
    const [stats] = await other.stats();
    const reason = "410: the receiver wants no more events";
    expect(stats).toMatchObject({ pending: 5, inFlight: 0, dead: 0, paused: { reason } });
    const message = `The listener is paused until it is resumed. ${reason}.`;
    expect(new Set(bench.told("warning").map((one) => one.message))).toEqual(new Set([message]));

    accept();
    expect(await other.resume("shop")).toBe(true);
    await bench.passUntil(async () => (await outbox.stats())[0]?.delivered === 5);
    expect(server.requests).toHaveLength(asked + 5);
    const [first] = await outbox.find(ids[0] ?? "");
    expect(first?.attempts.map((one) => one.status)).toEqual([410, 200]);
  });

  it("does not replace the reason that a person gave while the request was under way", async () => {
    const reason = "their maintenance until 06:00";
    const { bench, outbox, other } = await goneListener({
      whileAsked: () => other.pause("shop", { reason }),
    });
    await outbox.enqueue({ listener: "shop", payload });
    outbox.start();
    await bench.passUntil(async () => (await outbox.stats())[0]?.lastError?.status === 410);
    await bench.passUntil(async () => (await outbox.stats())[0]?.inFlight === 0);
    expect((await other.stats())[0]).toMatchObject({ pending: 1, dead: 0, paused: { reason } });
  });

  it("does so again when it is resumed and still answers 410", async () => {
    const { bench, server, outbox } = await goneListener();
    await outbox.enqueue({ listener: "shop", payload });
    outbox.start();
    await bench.passUntil(async () => (await outbox.stats())[0]?.paused !== undefined);
    await outbox.resume("shop");
    await bench.passUntil(() => server.requests.length === 2);
    await bench.passUntil(async () => (await outbox.stats())[0]?.paused !== undefined);
    expect((await outbox.stats())[0]).toMatchObject({ pending: 1, dead: 0 });
  });
});

it("410 in the service's own scheme refuses one event and pauses nothing", async () => {
  const { bench, outbox } = await goneListener({ ofDefaultScheme: true });
  await outbox.enqueue({ listener: "shop", payload });
  await bench.passDuring(outbox.drain());
  const [stats] = await outbox.stats();
  expect(stats).toMatchObject({ pending: 0, dead: 1 });
  expect(stats?.paused).toBeUndefined();
});
