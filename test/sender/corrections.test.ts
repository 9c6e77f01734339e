import { Agent } from "node:https";
import {
  type Activity,
  createEvent,
  createSender,
  type DeliveryError,
  generateSecret,
  hmacSigner,
  type SenderOptions,
} from "hookproof";
import { nodeTransport, undiciTransport } from "hookproof/node";
import { fixedClock } from "hookproof/testing";
import { Agent as UndiciAgent } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { runCertificates } from "../kit/certificates.js";
import { httpsServer } from "../kit/local-server.js";
import { type ReceiverServer, receiverServer, SECRET } from "../kit/receiver-server.js";

const OTHER = "x7Jq0nXk1m2p3r4s5t6u7v8w9y0z-A_BCDEFGHIJKLMN";
const MINUTE_MS = 60_000;
const wait = async () => {};

let server: ReceiverServer;
afterEach(() => server.stop());

const header = (index: number, name: string) => server.requests[index]?.headers[name];

describe("a clock that is off", () => {
  /** A receiver whose clock and Date are ahead of the sender's. */
  async function ahead(byMs: number, headers: Record<string, string> = {}) {
    const theirs = fixedClock(Date.now() + byMs);
    server = await receiverServer({
      clock: theirs,
      intercept(request, response, receive) {
        response.setHeader("Date", new Date(theirs.now()).toUTCString());
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        return receive(request, response);
      },
    });
    const events: Activity[] = [];
    const sender = createSender({
      url: server.url,
      signer: hmacSigner({ secret: SECRET }),
      observe: (event) => events.push(event),
      wait,
    });
    return { sender, corrections: () => events.filter(({ type }) => type === "clock-corrected") };
  }

  it.each([6 * MINUTE_MS, -6 * MINUTE_MS, 23 * 60 * MINUTE_MS])(
    "by %i ms is corrected at once, and kept",
    async (off) => {
      const { sender, corrections } = await ahead(off);
      const receipt = await sender.send({ a: 1 });
      expect(receipt).toMatchObject({ outcome: "accepted", status: 200 });
      expect(receipt.attempts).toHaveLength(1);
      expect(receipt.attempts[0]?.corrected).toEqual(["clock"]);
      expect(server.requests).toHaveLength(2);
      expect(header(0, "webhook-event-id")).toBe(header(1, "webhook-event-id"));
      const shift = Number(header(1, "webhook-timestamp")) - Number(header(0, "webhook-timestamp"));
      expect(Math.abs(shift - off / 1000)).toBeLessThanOrEqual(2);

      await sender.send({ a: 2 });
      expect(server.requests).toHaveLength(3);
      expect(corrections()).toHaveLength(1);
    },
  );

  it("by ten years is not believed", async () => {
    const { sender, corrections } = await ahead(10 * 365 * 24 * 60 * MINUTE_MS);
    await expect(sender.send({ a: 1 })).rejects.toMatchObject({ code: "REQUEST_REFUSED" });
    expect(server.requests).toHaveLength(1);
    expect(corrections()).toEqual([]);
  });

  it("is not read from an answer out of a cache", async () => {
    const { sender } = await ahead(6 * MINUTE_MS, { Age: "400" });
    await expect(sender.send({ a: 1 })).rejects.toMatchObject({
      code: "REQUEST_REFUSED",
      hint: expect.stringContaining("a clock that is more than 5 minutes off") as string,
    });
    expect(server.requests).toHaveLength(1);
  });

  it("is corrected once; a correction that did not help is not kept", async () => {
    server = await receiverServer({
      intercept(request, response) {
        request.resume();
        const shownAhead = server.requests.length * 10 * MINUTE_MS;
        response.writeHead(400, { Date: new Date(Date.now() + shownAhead).toUTCString() }).end();
      },
    });
    const sender = createSender({ url: server.url, signer: hmacSigner({ secret: SECRET }), wait });
    for (const sent of [2, 4]) {
      await expect(sender.send({ a: sent })).rejects.toMatchObject({ code: "REQUEST_REFUSED" });
      expect(server.requests).toHaveLength(sent);
    }
    const first = Number(header(2, "webhook-timestamp"));
    expect(Math.abs(first - Date.now() / 1000)).toBeLessThan(5);
  });
});

describe("whose Date is believed", () => {
  const { ca, server: certificate } = runCertificates();

  /** A listener over TLS that refuses every timestamp of ours and shows a clock 20 h ahead. */
  async function aheadOverTls() {
    const timestamps: number[] = [];
    const tls = await httpsServer(certificate, (request, response) => {
      timestamps.push(Math.round(Number(request.headers["webhook-timestamp"]) - Date.now() / 1000));
      const theirs = new Date(Date.now() + 72_000_000).toUTCString();
      request.resume().on("end", () => response.writeHead(400, { Date: theirs }).end());
    });
    server = { ...tls, url: "", runs: new Map(), requests: [] };
    const url = `https://localhost:${tls.port}/api/v1/webhooks/incoming/lst_1`;
    return { url, offsets: () => timestamps.map((seconds) => Math.round(seconds / 3_600) + 0) };
  }

  const send = (options: Pick<SenderOptions, "url" | "agent" | "transport">) =>
    createSender({ ...options, signer: hmacSigner({ secret: SECRET }), wait }).trySend({});

  it("that of an answer over TLS whose certificate was checked", async () => {
    const { url, offsets } = await aheadOverTls();
    await send({ url, agent: new Agent({ ca }) });
    expect(offsets()).toEqual([0, 20]);
  });

  it("not that of one over TLS that nobody checked", async () => {
    const { url, offsets } = await aheadOverTls();
    for (const agent of [
      new Agent({ rejectUnauthorized: false }),
      new Agent({ ca, rejectUnauthorized: false }),
    ])
      await send({ url, agent });
    expect(offsets()).toEqual([0, 0]);
  });

  it("not that of one over undici, which does not show the connection", async () => {
    const { url, offsets } = await aheadOverTls();
    const dispatcher = new UndiciAgent({ connect: { rejectUnauthorized: false } });
    await send({ url, transport: undiciTransport(dispatcher) });
    await dispatcher.destroy();
    expect(offsets()).toEqual([0]);
  });

  it("that of a transport of the caller's only where it says so", async () => {
    const { url, offsets } = await aheadOverTls();
    const own = nodeTransport({ agent: new Agent({ ca }) });
    await send({ url, transport: own });
    await send({ url, transport: async (request) => ({ ...(await own(request)), authenticated: false }) });
    await send({
      url,
      async transport(request) {
        const { status, headers, body, truncated } = await own(request);
        return { status, headers, body, truncated };
      },
    });
    expect(offsets()).toEqual([0, 20, 0, 0]);
  });
});

describe("a secret that is being rotated", () => {
  const sending = async (listener: string | string[], secrets: string[]) => {
    server = await receiverServer({ auth: { method: "hmac", secret: listener } });
    const switches: [secretIndex: number, promoted: boolean][] = [];
    const sender = createSender({
      url: server.url,
      signer: hmacSigner({ secret: secrets }),
      observe(event) {
        if (event.type === "secret-switched") switches.push([event.secretIndex, event.promoted]);
      },
      wait,
    });
    return { sender, switches };
  };

  it("is found out with the same id, and the one that works comes first from then on", async () => {
    const { sender, switches } = await sending(SECRET, [OTHER, SECRET]);
    const receipt = await sender.send({ a: 1 });
    expect(receipt.attempts).toMatchObject([{ number: 1, status: 200, corrected: ["secret"] }]);
    expect(header(0, "webhook-event-id")).toBe(header(1, "webhook-event-id"));
    await sender.send({ a: 2 });
    expect(server.requests).toHaveLength(3);
    expect(switches).toEqual([
      [1, false],
      [1, true],
    ]);
  });

  it("costs nothing when the new one is taken already", async () => {
    const { sender, switches } = await sending([SECRET, OTHER], [SECRET, OTHER]);
    await sender.send({ a: 1 });
    expect(server.requests).toHaveLength(1);
    expect(switches).toEqual([]);
  });

  it("is promoted once, however many events find out at the same time", async () => {
    const { sender, switches } = await sending(SECRET, [OTHER, SECRET]);
    await Promise.all(Array.from({ length: 20 }, (_, index) => sender.send({ index })));
    expect(server.runs.size).toBe(20);
    expect(switches.filter(([, promoted]) => promoted)).toEqual([[1, true]]);
  });

  it("promotes nothing when neither works", async () => {
    const { sender, switches } = await sending(SECRET, [OTHER, `${OTHER}x`]);
    const failure = await sender.send({ a: 1 }).catch((error: unknown) => error as DeliveryError);
    expect(failure).toMatchObject({ code: "AUTHENTICATION_REFUSED" });
    expect(server.requests).toHaveLength(2);
    expect(switches).toEqual([[1, false]]);
  });
});

describe("an answer that was lost", () => {
  it("is a delivery when the next attempt gets 409", async () => {
    server = await receiverServer({
      async intercept(request, response, receive) {
        const first = server.requests.length === 1;
        if (first) response.end = () => response.socket?.resetAndDestroy() as never;
        await receive(request, response);
      },
    });
    const sender = createSender({ url: server.url, signer: hmacSigner({ secret: SECRET }), wait });
    const receipt = await sender.send({ a: 1 });
    expect(receipt).toMatchObject({ outcome: "accepted", status: 409 });
    expect(receipt.attempts.map(({ code }) => code)).toEqual(["CONNECTION_LOST", undefined]);
    expect([...server.runs.values()]).toEqual([1]);
  });

  it("is a delivery on a connection that was kept, too, within one attempt", async () => {
    server = await receiverServer({
      async intercept(request, response, receive) {
        if (server.requests.length === 2) response.end = () => response.socket?.resetAndDestroy() as never;
        await receive(request, response);
      },
    });
    const sender = createSender({ url: server.url, signer: hmacSigner({ secret: SECRET }), wait });
    await sender.send({ a: 1 });
    const receipt = await sender.send({ a: 2 });
    expect(receipt).toMatchObject({ outcome: "accepted", status: 409 });
    expect(receipt.attempts).toHaveLength(1);
  });

  it("is a delivery, too, where the second copy was refused and the attempt went on with the other secret", async () => {
    const secrets = [SECRET, generateSecret()];
    server = await receiverServer({
      auth: { method: "hmac", secret: secrets },
      async intercept(request, response, receive) {
        const { length } = server.requests;
        if (length === 2) response.end = () => response.socket?.resetAndDestroy() as never;
        if (length !== 3) return receive(request, response);
        request.resume();
        response.writeHead(401).end();
      },
    });
    const sender = createSender({ url: server.url, signer: hmacSigner({ secret: secrets }), wait });
    await sender.send({ a: 1 });
    const receipt = await sender.send({ a: 2 });
    expect(receipt).toMatchObject({ outcome: "accepted", status: 409 });
    expect(receipt.attempts).toHaveLength(1);
    expect([...server.runs.values()]).toEqual([1, 1]);
  });

  it("is a duplicate when the id was used before the first attempt", async () => {
    server = await receiverServer();
    const make = () => createSender({ url: server.url, signer: hmacSigner({ secret: SECRET }), wait });
    const event = createEvent({ a: 1 });
    expect(await make().send(event)).toMatchObject({ outcome: "accepted" });
    expect(await make().send(event)).toMatchObject({ outcome: "duplicate", status: 409 });
  });
});
