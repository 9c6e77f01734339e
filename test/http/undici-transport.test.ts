import { undiciTransport } from "hookproof/node";
import type { Agent, Dispatcher } from "undici";
import { expect, it, onTestFinished } from "vitest";
import { runCertificates } from "../kit/certificates.js";
import { UNDICIS } from "../kit/drivers.js";
import { httpServer, httpsServer, started, tcpServer } from "../kit/local-server.js";
import { describeWith } from "../kit/needs.js";

const post = (
  url: string,
  more: { timeoutMs?: number; signal?: AbortSignal; headers?: [string, string][] } = {},
) => ({
  method: "POST",
  url,
  headers: [],
  body: new TextEncoder().encode("{}"),
  timeoutMs: 5_000,
  maxResponseBytes: 1_000,
  ...more,
});

const code = (code: string) => expect.objectContaining({ code });

for (const [name, needs, found] of UNDICIS)
  describeWith(needs, found)(`undiciTransport over ${name}`, () => {
    const undici = found as NonNullable<typeof found>;
    function transport(options: Agent.Options = {}) {
      const agent = new undici.Agent(options);
      onTestFinished(() => agent.destroy());
      return undiciTransport(agent);
    }

    it("sends header lines unmerged, and gives the answer's the same way", async () => {
      let seen: string[] = [];
      const server = await started(
        httpServer((req, res) => {
          seen = req.rawHeaders;
          req.resume().on("end", () => res.writeHead(409, ["X-One", "1", "X-One", "2"]).end('{"code":"X"}'));
        }),
      );
      const headers: [string, string][] = [
        ["X-Twice", "1"],
        ["X-Twice", "2"],
      ];
      const answer = await transport()(post(`http://127.0.0.1:${server.port}/`, { headers }));
      expect(seen.join()).toContain("X-Twice,1,X-Twice,2");
      expect(answer).toMatchObject({ status: 409, truncated: false });
      expect(answer.headers.slice(0, 2).map(([name, value]) => `${name.toLowerCase()}=${value}`)).toEqual([
        "x-one=1",
        "x-one=2",
      ]);
      expect(Buffer.from(answer.body).toString()).toBe('{"code":"X"}');
    });

    it("keeps the status of a body that breaks off", async () => {
      const broken = await started(
        httpServer((_req, res) => {
          res.writeHead(409, { "Content-Length": "10" }).write("ab", () => setImmediate(() => res.destroy()));
        }),
      );
      expect(await transport()(post(`http://127.0.0.1:${broken.port}/`))).toMatchObject({
        status: 409,
        bodyError: code("CONNECTION_LOST"),
      });
    });

    it("reads up to the limit and hangs up", async () => {
      const server = await started(
        httpServer((_req, res) => {
          const pour = () => {
            while (!res.destroyed && res.write("x".repeat(10_000)));
          };
          res.on("drain", pour);
          pour();
        }),
      );
      const answer = await transport()(post(`http://127.0.0.1:${server.port}/`));
      expect(answer).toMatchObject({ status: 200, truncated: true });
      expect(answer.body.length).toBe(1_000);
      await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
    });

    it("uses the dispatcher's own CA and client certificate", async () => {
      const { ca, server: own, client } = runCertificates();
      const server = await started(
        httpsServer({ ...own, ca, requestCert: true, rejectUnauthorized: true }, (_req, res) => res.end()),
      );
      const url = `https://127.0.0.1:${server.port}/`;
      await expect(transport()(post(url))).rejects.toEqual(code("TLS_FAILED"));
      expect((await transport({ connect: { ca, ...client } })(post(url))).status).toBe(200);
    });

    it("gives each failure its code", async () => {
      const silent = await started(httpServer(() => {}));
      const url = `http://127.0.0.1:${silent.port}/`;
      await expect(transport()(post(url, { timeoutMs: 40 }))).rejects.toEqual(code("TIMED_OUT"));
      await expect(transport()(post(url, { signal: AbortSignal.timeout(20) }))).rejects.toEqual(
        code("ABORTED"),
      );
      const rude = await started(tcpServer((socket) => socket.once("data", () => socket.destroy())));
      await expect(transport()(post(`http://127.0.0.1:${rude.port}/`))).rejects.toEqual(
        code("CONNECTION_LOST"),
      );
      const nonsense = await started(tcpServer((socket) => socket.end("what?\r\n\r\n")));
      await expect(transport()(post(`http://127.0.0.1:${nonsense.port}/`))).rejects.toEqual(
        code("RESPONSE_INVALID"),
      );
      const endless = await started(
        tcpServer((socket) => {
          socket.write("HTTP/1.1 200 OK\r\n");
          for (let i = 0; i < 2_000; i++) socket.write(`X-${i}: ${"y".repeat(100)}\r\n`);
        }),
      );
      await expect(transport()(post(`http://127.0.0.1:${endless.port}/`))).rejects.toEqual(
        code("RESPONSE_INVALID"),
      );
      await silent.stop();
      await expect(transport()(post(url))).rejects.toEqual(code("CONNECTION_FAILED"));
    });

    it("ends a request that waits for a connection, and never sends it", async () => {
      const paths: (string | undefined)[] = [];
      const server = await started(
        httpServer((req, res) => {
          paths.push(req.url);
          if (req.url === "/last") req.resume().on("end", () => res.end());
        }),
      );
      const single = transport({ connections: 1, pipelining: 1 });
      const to = (path: string) => `http://127.0.0.1:${server.port}/${path}`;
      const holder = new AbortController();
      const holding = single(post(to("first"), { signal: holder.signal }));
      await expect.poll(() => paths).toEqual(["/first"]);
      await Promise.all([
        expect(single(post(to("queued"), { timeoutMs: 20 }))).rejects.toEqual(code("TIMED_OUT")),
        expect(single(post(to("left"), { signal: AbortSignal.timeout(20) }))).rejects.toEqual(
          code("ABORTED"),
        ),
      ]);
      holder.abort();
      await expect(holding).rejects.toEqual(code("ABORTED"));
      expect(await single(post(to("last")))).toMatchObject({ status: 200 });
      expect(paths).toEqual(["/first", "/last"]);
    });

    it("takes no early hint for the answer", async () => {
      const server = await started(
        httpServer((req, res) => {
          res.writeEarlyHints({ link: "</a>; rel=preload" });
          req.resume().on("end", () => res.writeHead(409).end("no"));
        }),
      );
      const answer = await transport()(post(`http://127.0.0.1:${server.port}/`));
      expect(answer).toMatchObject({ status: 409, body: Buffer.from("no") });
    });

    it("takes the answers of a MockAgent", async () => {
      const agent = new undici.MockAgent();
      agent.disableNetConnect();
      agent
        .get("https://tenant.example.com")
        .intercept({ path: "/hook?a=1", method: "POST" })
        .reply(202, "yes", { headers: { one: "1", two: ["2", "3"] } });
      const send = undiciTransport(agent);
      const answer = await send(post("https://tenant.example.com/hook?a=1"));
      expect(answer).toMatchObject({ status: 202, body: Buffer.from("yes") });
      expect(answer.headers).toEqual([
        ["one", "1"],
        ["two", "2"],
        ["two", "3"],
      ]);
      await expect(send(post("https://tenant.example.com/other"))).rejects.toEqual(code("CONNECTION_FAILED"));
    });

    it("takes the headers of an interceptor that has no raw ones", async () => {
      const made = undiciTransport({
        dispatch(_options, handler) {
          const { onRequestStart, onResponseStart, onResponseEnd } = handler as Dispatcher.DispatchHandler;
          const controller = { abort() {} } as unknown as Dispatcher.DispatchController;
          onRequestStart?.call(handler, controller, {});
          onResponseStart?.call(handler, controller, 200, { one: "1", two: ["2", "3"] });
          onResponseEnd?.call(handler, controller, {});
          return true;
        },
      });
      expect((await made(post("https://tenant.example.com/"))).headers).toEqual([
        ["one", "1"],
        ["two", "2"],
        ["two", "3"],
      ]);
    });

    it("refuses what is not a dispatcher", () => {
      expect(() => undiciTransport({} as never)).toThrow(
        new TypeError("dispatcher must be an undici Dispatcher"),
      );
    });
  });
