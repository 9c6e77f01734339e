import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { SenderOptions } from "hookproof";
import { undiciTransport } from "hookproof/node";
import { HttpsProxyAgent } from "https-proxy-agent";
import { afterEach, describe, expect, it } from "vitest";
import { runCertificates } from "../kit/certificates.js";
import { type Clients, undiciClients } from "../kit/drivers.js";
import { httpsServer, PROXY_ANSWERS, tcpServer } from "../kit/local-server.js";
import { outboxBench } from "./bench-outbox.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const { ca, server: certificate } = runCertificates();

/** A listener behind a proxy that refuses with these texts until it is told to open tunnels. */
async function behindProxy(texts: string | readonly string[]) {
  const state = { refuses: true, asked: 0, arrived: 0 };
  const server = await httpsServer(certificate, (req, res) => {
    state.arrived += 1;
    req.resume().on("end", () => res.end());
  });
  const proxy = await tcpServer(async (client) => {
    const answers = [texts].flat();
    await once(client, "data");
    state.asked += 1;
    if (state.refuses) {
      client.on("data", () => client.write(answers.shift() ?? ""));
      client.write(answers.shift() ?? "");
      return;
    }
    const tunnel = connect(server.port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(tunnel).pipe(client);
    });
    tunnel.on("error", () => client.destroy());
    cleanups.push(() => tunnel.destroy());
  });
  const agent = new HttpsProxyAgent(`http://127.0.0.1:${proxy.port}`);
  Object.assign(agent.options, { ca });
  cleanups.push(server.stop, proxy.stop);
  const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
  return { state, options: { url, agent, breaker: { minAttempts: 2 }, retry: { maxAttempts: 2 } } };
}

it.each(PROXY_ANSWERS)(
  "a proxy's answer %s ends no event, opens no breaker and moves no clock",
  async (_name, texts) => {
    const bench = outboxBench();
    const { state, options } = await behindProxy(texts);
    const outbox = bench.outbox({ a: bench.listener(options, options) });
    const [first] = await outbox.enqueue([
      { listener: "a", payload: { n: 1 } },
      { listener: "a", payload: { n: 2 } },
    ]);
    outbox.start();
    await bench.passUntil(() => state.asked >= 12, 1_000);
    expect(state.arrived).toBe(0);
    expect(bench.told("breaker-changed")).toEqual([]);
    expect(bench.told("clock-corrected")).toEqual([]);
    expect(bench.told("delivery-ended")).toEqual([]);
    expect(bench.told("warning").map(({ message }) => message)).toEqual([
      expect.stringContaining("until their window closes: PROXY_FAILED. Likely: the proxy's password"),
    ]);
    const [seen] = await outbox.find(first?.eventId ?? "");
    expect(seen?.attempts[0]).toMatchObject({ number: 1, code: "PROXY_FAILED" });

    state.refuses = false;
    await bench.passUntil(() => bench.told("delivery-ended").length === 2, 10_000);
    expect(state.arrived).toBe(2);
    expect(bench.told("delivery-ended")).toMatchObject([{ outcome: "delivered" }, { outcome: "delivered" }]);
  },
);

const CLIENTS: Clients<(port: number) => Pick<SenderOptions, "agent" | "transport">> = [
  ["https-proxy-agent", describe, (port) => ({ agent: new HttpsProxyAgent(`http://127.0.0.1:${port}`) })],
  ...undiciClients((undici) => (port: number) => {
    const dispatcher = new undici.ProxyAgent(`http://127.0.0.1:${port}`);
    cleanups.push(() => dispatcher.destroy());
    return { transport: undiciTransport(dispatcher) };
  }),
];

for (const [name, group, client] of CLIENTS)
  group(`over ${name}`, () => {
    it.each<readonly [string, act: (client: Socket) => void, attemptTimeoutMs: number | undefined]>([
      ["says nothing", (client) => client.resume(), 1_500],
      ["closes without an answer", (client) => client.end(), undefined],
      ["talks no HTTP", (client) => client.write("what?\r\n\r\n"), undefined],
      [
        "switches protocols",
        (client) => client.write("HTTP/1.1 101 No\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
        undefined,
      ],
    ])("a proxy that %s ends no event and opens no breaker", async (_what, act, limit) => {
      const proxy = await tcpServer((socket) => socket.once("data", () => act(socket)));
      cleanups.push(proxy.stop);
      const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
      const more = { url, attemptTimeoutMs: limit, breaker: { minAttempts: 2 }, retry: { maxAttempts: 1 } };
      const options = { ...client(proxy.port), ...more };
      const bench = outboxBench();
      const outbox = bench.outbox({ a: bench.listener(options, options) });
      await outbox.enqueue([
        { listener: "a", payload: { n: 1 } },
        { listener: "a", payload: { n: 2 } },
      ]);
      outbox.start();
      await bench.passUntil(() => bench.told("attempt-ended").length >= 2, 1_000);
      const codes = bench.told("attempt-ended").map((ended) => "code" in ended && ended.code);
      expect(new Set(codes)).toEqual(new Set(["PROXY_FAILED"]));
      expect(bench.told("breaker-changed")).toEqual([]);
      expect(bench.told("delivery-ended")).toEqual([]);
    });
  });

it("the window ends an event that a proxy held up, with every attempt in its record", async () => {
  const bench = outboxBench();
  const { options } = await behindProxy("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n");
  const retry = { maxAttempts: 1, windowMs: 3_600_000, firstDelayMs: 600_000 };
  const outbox = bench.outbox({ a: bench.listener(options, { ...options, retry }) });
  await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await bench.passUntil(() => bench.told("delivery-ended").length === 1, 60_000);
  const letters = [];
  for await (const letter of outbox.deadLetters()) letters.push(letter);
  expect(letters).toMatchObject([{ reason: "window", code: "WINDOW_CLOSED" }]);
  const codes = letters.flatMap(({ attempts }) => attempts.map(({ code }) => code));
  expect(codes.length).toBeGreaterThan(1);
  expect(new Set(codes)).toEqual(new Set(["PROXY_FAILED"]));
  expect(bench.told("delivery-ended")).toMatchObject([{ outcome: "dead", code: "WINDOW_CLOSED" }]);
});
