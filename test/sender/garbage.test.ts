// Measures what sends, deliveries and receptions leave on the heap.
import { Agent, request } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createEvent, createSender, hmacSigner, signRequest } from "hookproof";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { createReceiver } from "hookproof/receiver";
import { expect, it, onTestFinished } from "vitest";
import { httpServer, started } from "../kit/local-server.js";
import { SECRET } from "../kit/receiver-server.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options?: { type: "minor" }) => void;

/** By how many bytes each piece of work makes the heap grow, fifty at once, as small collections leave it. */
function keptBy(work: () => Promise<unknown>, isHeld = false): Promise<number> {
  return keptByFifty(() => Promise.all(Array.from({ length: 50 }, work)), isHeld);
}

/** @param isHeld whether something of each is held on purpose, such as a record or an id, and does not count */
async function keptByFifty(fifty: () => Promise<unknown>, isHeld = false, count = 2_000): Promise<number> {
  const some = async () => {
    for (let n = 0; n < count; n += 50) {
      await fifty();
      if (n % 500 === 0) collect({ type: "minor" });
    }
    for (let n = 0; n < 3; n++) collect({ type: "minor" });
  };
  await some();
  let least = Number.POSITIVE_INFINITY;
  // What was compiled meanwhile, or not yet collected, is in one round and not in the next.
  for (let round = 0; round < 3; round++) {
    collect();
    const before = process.memoryUsage().heapUsed;
    await some();
    const after = process.memoryUsage().heapUsed;
    collect();
    const held = isHeld ? process.memoryUsage().heapUsed - before : 0;
    least = Math.min(least, (after - before - held) / count);
  }
  return Math.max(0, least);
}

async function listenerUrl(): Promise<string> {
  const server = await started(
    httpServer((request, response) => request.resume().on("end", () => response.end("{}"))),
  );
  return `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1`;
}

const payload = { type: "user.offboarded", note: "x".repeat(500) };

/** Node's own client, which keeps connections as well. */
function bareRequest(url: string): () => Promise<void> {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: "POST", agent }, (response) =>
        response.resume().on("end", resolve),
      );
      sent.on("error", reject).end(JSON.stringify(payload));
    });
}

// A Set of what was under way kept 4 KB of each request alive (docs/decisions.md, S26).
it("a send leaves hardly more behind for full collections than Node's own client does", async () => {
  const url = await listenerUrl();
  const sender = createSender({ url, signer: hmacSigner({ secret: SECRET }) });
  const bare = await keptBy(bareRequest(url));
  expect((await keptBy(() => sender.send(payload))) - bare).toBeLessThan(2_000);
});

it("a delivery of the outbox leaves hardly more behind than a send", async () => {
  const listeners = { a: { url: await listenerUrl(), signer: hmacSigner({ secret: SECRET }) } };
  const outbox = createOutbox({ store: memoryStore(), listeners });
  // Few at once: what is under way while V8's young space is small outlives it, as it would anywhere.
  const few = Array.from({ length: 5 }, () => ({ listener: "a" as const, payload }));
  const deliver = async () => {
    for (let n = 0; n < 50; n += few.length) {
      await outbox.enqueue(few);
      await outbox.drain();
    }
  };
  const bare = await keptBy(bareRequest(listeners.a.url));
  expect((await keptByFifty(deliver, true)) - bare).toBeLessThan(3_000);
});

it("and so does a reception", async () => {
  const baseUrl = "https://listener.example";
  const url = `${baseUrl}/api/v1/webhooks/incoming/lst_1`;
  const auth = { method: "hmac", secret: SECRET } as const;
  const receiver = createReceiver({ listener: { id: "lst_1", baseUrl, auth } });
  const signer = hmacSigner({ secret: SECRET });
  const signed = () => signRequest({ url, signer, event: createEvent(payload) });
  const receive = async () => {
    const { method, headers, body } = await signed();
    await receiver.receive({ method, url, headers, body }, () => Promise.resolve());
  };
  expect((await keptBy(receive, true)) - (await keptBy(signed, true))).toBeLessThan(2_000);
});
