// Measures what sends leave on the heap.
import { Agent, request } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createSender, hmacSigner } from "hookproof";
import { expect, it, onTestFinished } from "vitest";
import { httpServer, started } from "../kit/local-server.js";
import { SECRET } from "../kit/receiver-server.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options?: { type: "minor" }) => void;

/** By how many bytes each piece of work makes the heap grow that only a full collection would free. */
async function keptBy(work: () => Promise<unknown>, count = 2_000): Promise<number> {
  const some = async () => {
    for (let n = 0; n < count; n += 50) {
      await Promise.all(Array.from({ length: 50 }, work));
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
    least = Math.min(least, (process.memoryUsage().heapUsed - before) / count);
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
