// Answers as servers write them: bodies that do not end, delays in every form, redirects, and what servers want to see.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { createSender, DeliveryError, hmacSigner, type Transport } from "hookproof";
import { checkKeySet, generateKey, remoteKeys } from "hookproof/jwks";
import { nodeTransport, undiciTransport } from "hookproof/node";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { Agent } from "undici";
import { describe, expect, it } from "vitest";
import { VERSION } from "../../src/core/version.js";
import { createTransport as fetchTransport } from "../../src/http/transport-fetch.js";
import { httpServer, started, tcpServer } from "../kit/local-server.js";

const signer = hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" });

/** A listener that answers in one way; gives its URL and the requests' header lines. */
async function listener(answer: (response: ServerResponse) => void) {
  const requests: Record<string, string | string[] | undefined>[] = [];
  const server = await started(
    httpServer((request, response) => {
      requests.push(request.headers);
      request.resume().on("end", () => answer(response));
    }),
  );
  return { requests, url: `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1` };
}

/** A listener that answers with these bytes. */
async function rawListener(answer: string) {
  const server = await started(tcpServer((socket) => socket.once("data", () => socket.write(answer))));
  return { url: `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1` };
}

/** The library's transports, each ending an exchange as its time does once the header section is there: no test waits. */
const ENDING: readonly (readonly [name: string, transport: Transport, channel: string])[] = [
  ["node:http", nodeTransport(), "http.client.response.finish"],
  ["fetch", fetchTransport(), "undici:request:headers"],
];

/** A transport whose exchange is ended as soon as the header section of its answer has come. */
function endedAfterHeaders(transport: Transport, channel: string): Transport {
  return async (request) => {
    const ender = new AbortController();
    const end = () => void setImmediate(() => ender.abort());
    subscribe(channel, end);
    try {
      return await transport({ ...request, signal: ender.signal });
    } finally {
      unsubscribe(channel, end);
    }
  };
}

describe.each([
  ["node:http", () => nodeTransport()],
  ["fetch", () => fetchTransport()],
  ["undici", () => undiciTransport(new Agent())],
] as const)("over %s", (name, transport) => {
  it("the longest of two Retry-After counts", async () => {
    const { url } = await listener((response) =>
      response.writeHead(503, { "Retry-After": ["5", "10"] }).end(),
    );
    await expect(
      createSender({ url, signer, transport: transport(), retry: { maxAttempts: 1 } }).send({}),
    ).rejects.toMatchObject({ retryAfterMs: 10_000 });
  });

  it.each(["no colon", "X-A: \u0001", "Content-Length: 1", `X-A: ${"a".repeat(17_000)}`])(
    "a header section with %j, which the parser refuses, is no answer",
    async (line) => {
      const { url } = await rawListener(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${line}\r\n\r\n`);
      const result = await createSender({
        url,
        signer,
        transport: transport(),
        retry: { maxAttempts: 2, firstDelayMs: 1 },
      }).trySend({});
      const code = name === "fetch" ? "CONNECTION_FAILED" : "RESPONSE_INVALID"; // fetch says nothing of the parser
      expect(result).toMatchObject({
        ok: false,
        error: { code, mayHaveArrived: true, attempts: [{ code }, { code }] },
      });
    },
  );
});

describe("an answer whose body does not end", () => {
  const open = (status: number) => (response: ServerResponse) => void response.writeHead(status).write("{");
  const cut = (status: number) => (response: ServerResponse) =>
    void response
      .writeHead(status, { "Content-Length": "100" })
      .write("{", () => setImmediate(() => response.destroy()));

  for (const [name, plain, channel] of ENDING)
    for (const [how, answer, transport] of [
      ["never ends", open, endedAfterHeaders(plain, channel)],
      ["breaks off", cut, plain],
    ] as const)
      it.each([
        [200, "accepted"],
        [202, "accepted"],
        [409, "duplicate"],
        [400, "REQUEST_REFUSED"],
        [410, "REQUEST_REFUSED"],
      ])(`${how} over ${name}: %i counts, and nothing is sent again`, async (status, wanted) => {
        const { url, requests } = await listener(answer(status));
        const result = await createSender({ url, signer, transport }).trySend({});
        expect(result.ok ? result.outcome : result.code).toBe(wanted);
        expect(result.attempts).toMatchObject([{ status }]);
        expect(requests).toHaveLength(1);
      });

  it("keeps the Retry-After of a 503", async () => {
    const { url } = await listener(
      (response) =>
        void response
          .writeHead(503, { "Retry-After": "7.5", "Content-Length": "100" })
          .write("{", () => setImmediate(() => response.destroy())),
    );
    await expect(createSender({ url, signer, retry: { maxAttempts: 1 } }).send({})).rejects.toMatchObject({
      retryAfterMs: 8_000,
      attempts: [{ status: 503 }],
    });
  });

  it("delivers an outbox's event once", async () => {
    const { url, requests } = await listener(cut(200));
    const outbox = createOutbox({ store: memoryStore(), listeners: { a: { url, signer } } });
    await outbox.enqueue({ listener: "a", payload: {} });
    await outbox.drain();
    await outbox.drain();
    expect(requests).toHaveLength(1);
    for await (const letter of outbox.deadLetters()) expect(letter).toBeUndefined();
  });

  it("is no key set, which has to be whole", async () => {
    const { url, requests } = await listener((response) => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "100" });
      response.write('{"keys":[]}', () => setImmediate(() => response.destroy()));
    });
    const keys = remoteKeys(url, { allowInsecureLoopback: true });
    expect(await keys.resolve("a", "ES256")).toMatchObject({ ok: false, code: "KEY_SET_UNAVAILABLE" });
    expect(requests).toHaveLength(1);
  });
});

it("a listener's delay is kept where no attempt is left", async () => {
  const { url } = await listener((response) => response.writeHead(429, { "Retry-After": "120" }).end());
  const failure = await createSender({ url, signer, retry: { maxAttempts: 1 } })
    .send({})
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DeliveryError);
  expect(failure).toMatchObject({ code: "RECEIVER_UNAVAILABLE", retryAfterMs: 120_000 });
});

it.each<[why: string, options: object, code: string]>([
  ["the window is closed", { retry: { windowMs: 60_000 } }, "WINDOW_CLOSED"],
  ["the wait is ended", { retry: { windowMs: 600_000 }, deadlineMs: 600_000 }, "ABORTED"],
])("a listener's delay is kept where %s", async (_, options, code) => {
  const { url } = await listener((response) => response.writeHead(429, { "Retry-After": "120" }).end());
  const stop = new AbortController();
  const sender = createSender({
    url,
    signer,
    ...options,
    observe: ({ type }) => type === "retry-scheduled" && stop.abort(),
  });
  await expect(sender.send({}, { signal: stop.signal })).rejects.toMatchObject({
    code,
    retryAfterMs: 120_000,
  });
});

it.each([
  ["fetch", fetchTransport()],
  ["undici", undiciTransport(new Agent())],
  ["node", nodeTransport()],
])("blanks around a delay and a Location are none of it, over %s", async (_, transport) => {
  const { url } = await rawListener(
    "HTTP/1.1 429 Wait\r\nRetry-After: \t120 \t\r\nContent-Length: 0\r\n\r\n",
  );
  const failure = createSender({ url, signer, transport, retry: { maxAttempts: 1 } }).send({});
  await expect(failure).rejects.toMatchObject({ retryAfterMs: 120_000 });
});

describe("User-Agent and Accept", () => {
  const ours = { "user-agent": `hookproof/${VERSION}`, accept: "application/json" };

  it("name the version of the package", () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(VERSION).toBe(version);
  });

  it.each([
    ["the sender's transport", undefined],
    ["nodeTransport", nodeTransport()],
    ["fetch", fetchTransport()],
  ])("go along with every event over %s, unless they are given", async (_, transport) => {
    const { url, requests } = await listener((response) => response.end("{}"));
    const more = transport ? { transport } : {};
    await createSender({ url, signer, ...more }).send({});
    await createSender({ url, signer, ...more, headers: { "user-agent": "mine/2", ACCEPT: "*/*" } }).send({});
    expect(requests).toMatchObject([ours, { "user-agent": "mine/2", accept: "*/*" }]);
  });

  it("go along where a key set is fetched", async () => {
    const { url, requests } = await listener((response) => response.end('{"keys":[]}'));
    await remoteKeys(url, { allowInsecureLoopback: true }).resolve("a", "ES256");
    expect(requests).toMatchObject([
      { "user-agent": ours["user-agent"], accept: "application/jwk-set+json, application/json" },
    ]);
  });
});

describe("a key set in gzip", () => {
  async function host(body: Buffer) {
    const { url } = await listener((response) =>
      response.writeHead(200, { "Content-Type": "application/json", "Content-Encoding": "gzip" }).end(body),
    );
    return url;
  }

  it.each([
    ["Node's transport", undefined],
    ["fetch, which has unzipped it", fetchTransport()],
  ])("is read over %s", async (_, transport) => {
    const { publicJwk } = await generateKey({ alg: "ES256", kid: "one" });
    const url = await host(gzipSync(JSON.stringify({ keys: [publicJwk] })));
    const options = { allowInsecureLoopback: true, ...(transport ? { transport } : {}) };
    expect((await remoteKeys(url, options).resolve("one", "ES256")).ok).toBe(true);
    const { checks } = await checkKeySet(url, options);
    expect(checks.filter(({ outcome }) => outcome === "fail")).toEqual([]);
  });

  it.each([
    ["one that unzips to 64 MiB", gzipSync(Buffer.alloc(64 * 1024 * 1024, " "))],
    ["one that is cut", gzipSync(JSON.stringify({ keys: [] })).subarray(0, -12)],
    ["one that is damaged", Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8])],
  ])("is refused: %s", async (_, body) => {
    const keys = remoteKeys(await host(body), { allowInsecureLoopback: true });
    expect(await keys.resolve("one", "ES256")).toMatchObject({ ok: false });
  });
});
