import { once } from "node:events";
import { connect } from "node:net";
import { type Activity, createSender, hmacSigner, type SenderOptions } from "hookproof";
import { checkKeySet } from "hookproof/jwks";
import { undiciTransport } from "hookproof/node";
import { HttpsProxyAgent } from "https-proxy-agent";
import { afterEach, describe, expect, it } from "vitest";
import { runCertificates } from "../kit/certificates.js";
import { type Clients, undiciClients } from "../kit/drivers.js";
import { httpsServer, type LocalServer, PROXY_ANSWERS, tcpServer } from "../kit/local-server.js";
import { SECRET } from "../kit/receiver-server.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const { ca, server: certificate } = runCertificates();

/** A proxy that refuses with these texts for as long as a test wants it to, and opens tunnels afterwards. */
async function proxyThatRefuses(texts: string | readonly string[]) {
  const state = { refuses: true, asked: 0 };
  const proxy = await tcpServer(async (client) => {
    const answers = [texts].flat();
    const [head] = (await once(client, "data")) as [Buffer];
    state.asked += 1;
    if (state.refuses) {
      client.on("data", () => client.write(answers.shift() ?? ""));
      client.write(answers.shift() ?? "");
      return;
    }
    const tunnel = connect(Number(/:(\d+) HTTP/.exec(head.toString())?.[1]), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(tunnel).pipe(client);
    });
    tunnel.on("error", () => client.destroy());
    cleanups.push(() => tunnel.destroy());
  });
  cleanups.push(proxy.stop);
  return { port: proxy.port, state };
}

function nodeClient({ port }: { port: number }) {
  const agent = new HttpsProxyAgent(`http://127.0.0.1:${port}`, { keepAlive: true });
  Object.assign(agent.options, { ca });
  cleanups.push(() => agent.destroy());
  return { agent };
}

const UNDICI_CLIENTS = undiciClients((undici) => ({ port }: { port: number }) => {
  const dispatcher = new undici.ProxyAgent({ uri: `http://127.0.0.1:${port}`, requestTls: { ca } });
  cleanups.push(() => dispatcher.destroy());
  return { transport: undiciTransport(dispatcher) };
});

const CLIENTS: Clients<(proxy: { port: number }) => Partial<SenderOptions>> = [
  ["https-proxy-agent", describe, nodeClient],
  ...UNDICI_CLIENTS,
];

for (const [name, group, client] of CLIENTS)
  group(`a sender behind a proxy, over ${name}`, () => {
    it.each(PROXY_ANSWERS)("tries again after %s, and learns nothing of it", async (_answer, texts) => {
      const timestamps: number[] = [];
      const server: LocalServer = await httpsServer(certificate, (req, res) => {
        timestamps.push(Number(req.headers["webhook-timestamp"]));
        req.resume().on("end", () => res.end());
      });
      cleanups.push(server.stop);
      const proxy = await proxyThatRefuses(texts);
      const events: Activity[] = [];
      const sender = createSender({
        url: `https://tenant.example.com:${server.port}/api/v1/webhooks/incoming/lst_1`,
        signer: hmacSigner({ secret: SECRET }),
        wait: async () => {},
        observe: (event) => events.push(event),
        ...client(proxy),
      });

      const refused = await sender.trySend({ n: 1 });
      expect(refused).toMatchObject({ ok: false, code: "PROXY_FAILED" });
      expect(refused.attempts.map(({ code, status }) => [code, status])).toEqual(
        Array(3).fill(["PROXY_FAILED", undefined]),
      );
      expect(proxy.state.asked).toBe(3);
      expect(timestamps).toEqual([]);

      proxy.state.refuses = false;
      expect(await sender.trySend({ n: 2 })).toMatchObject({ ok: true, outcome: "accepted", status: 200 });
      expect(Math.abs((timestamps[0] ?? 0) - Date.now() / 1000)).toBeLessThan(60);
      expect(events.filter(({ type }) => type === "clock-corrected")).toEqual([]);
    });
  });

it("a 407 that a transport of the caller's hands on is a proxy's word", async () => {
  const { attempts, ...result } = await createSender({
    url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
    signer: hmacSigner({ secret: SECRET }),
    wait: async () => {},
    transport: async () => ({ status: 407, headers: [], body: new Uint8Array(), truncated: false }),
  }).trySend({});
  expect(result).toMatchObject({ ok: false, code: "PROXY_FAILED" });
  expect(attempts).toHaveLength(3);
});

for (const [name, group, client] of UNDICI_CLIENTS)
  group(`a key set over ${name}`, () => {
    it("is none that a proxy answers with", async () => {
      const set = '{"keys":[]}';
      const proxy = await proxyThatRefuses(`HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n${set}`);
      const answered = await proxyThatRefuses(`HTTP/1.1 203 OK\r\nContent-Length: 11\r\n\r\n${set}`);
      for (const through of [proxy, answered]) {
        const report = await checkKeySet("https://keys.example.com/jwks.json", client(through));
        expect(report.checks.at(-1)).toMatchObject({ rule: "reachable", outcome: "fail" });
      }
    });
  });
