// Does a sender that lives long stay small? 100,000 events through send, and what the process holds meanwhile; then what a
// worker over PostgreSQL holds next to those of other queues. The second needs DATABASE_URL.
import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createSender, hmacSigner } from "hookproof";
import { reportFigures, reportGrowth } from "./support.mjs";

if (!globalThis.gc) {
  const args = ["--expose-gc", ...process.argv.slice(1)];
  process.exit(spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1);
}

const EVENTS = 100_000;
const PART = 5_000;
const receiver = fork(new URL("send-receiver.mjs", import.meta.url), { execArgv: [] });
const [port] = await once(receiver, "message");
const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_bench`;
const signer = hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" });
const payload = { type: "user.offboarded", userId: "u_123", note: "x".repeat(967) };

await ofSender();
// Not before: what the other queues are made of would count as the sender's.
const { measureWorkers } = await import("./memory-queues.mjs");
await measureWorkers({ url, payload, port });
process.exit();

async function ofSender() {
  const sender = createSender({ url, signer });
  const heap = [];
  const rss = [];
  for (let sent = PART; sent <= EVENTS; sent += PART) {
    let left = PART;
    const worker = async () => {
      while (left-- > 0) await sender.send(payload);
    };
    await Promise.all(Array.from({ length: 50 }, worker));
    globalThis.gc();
    const { heapUsed, rss: resident } = process.memoryUsage();
    heap.push([sent, heapUsed / 2 ** 20]);
    rss.push([sent, resident / 2 ** 20]);
  }
  reportGrowth({
    plot: "memory-send",
    question: "Memory of a process that sends 100,000 events of 1 KB",
    x: { label: "events sent" },
    y: { label: "MB" },
    series: { "heap after a collection": heap, "resident set": rss },
  });

  // A sender remembers its last 10,000 to 20,000 ids on purpose, so its level is reached after the first 20,000.
  const settled = heap.filter(([sent]) => sent > 20_000).map(([, megabytes]) => megabytes);
  const [first, second] = [settled.slice(0, 8), settled.slice(8)].map((part) => Math.max(...part));
  reportFigures({
    question: "Is it flat? The highest heap of the last 40,000 events over that of the 40,000 before",
    unit: "times",
    figures: { "sender.send": { value: second / first, atMost: 1.05 } },
  });
}
