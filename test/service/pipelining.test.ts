import { connect } from "node:net";
import { createEvent, generateSecret, hmacSigner, signRequest } from "hookproof";
import { type Service, startListeners } from "hookproof-service";
import { afterEach, describe, expect, it } from "vitest";
import { ask, startService } from "./running-service.js";

const KEPT = "/api/v1/auth-configs/ac-okta";
const TOKEN_PATH = "/auth/v1/token";
const BODY = JSON.stringify({ some: "body" });

/** Everything a server says on a connection until it ends it, or has answered `answers` times. */
function exchange(port: number, packet: string, answers: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(packet));
    let said = "";
    const end = () => {
      socket.destroy();
      resolve(said);
    };
    socket.on("data", (data) => {
      said += data;
      if (answersIn(said) >= answers) end();
    });
    socket.on("close", end).on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET") end();
      else reject(error);
    });
  });
}

const answersIn = (said: string) => said.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0;

function request(method: string, path: string, body: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ Host: "x", "Content-Length": String(Buffer.byteLength(body)), ...headers });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

const JSON_TYPE = { "Content-Type": "application/json" };

describe("a request behind another one in the same packet is run and answered, or neither", () => {
  let service: Service;
  const first: [what: string, packet: string, prepare?: () => void][] = [
    ["a path that is not there", request("POST", "/nowhere", BODY)],
    ["a method that is not taken", request("PUT", KEPT, BODY)],
    ["no token", request("POST", "/local/v1/secrets", BODY, JSON_TYPE)],
    ["a path that cannot be decoded", request("POST", "/api/v1/auth-configs/%ff", BODY)],
    ["a listener that is not there", request("POST", "/api/v1/webhooks/incoming/none", BODY)],
    ["credentials in the header", request("POST", TOKEN_PATH, BODY, { Authorization: "Basic x" })],
    ["a GET of the token endpoint with a body", request("GET", TOKEN_PATH, BODY)],
    ["a health check with a body", request("POST", "/healthz", BODY)],
    ["the reference page with a body", request("GET", "/reference", BODY)],
    [
      "a fault",
      request("POST", TOKEN_PATH, BODY),
      () => service.setFault("createToken", { status: 503, times: 1 }),
    ],
    [
      "a cut",
      request("POST", TOKEN_PATH, BODY),
      () => service.setFault("createToken", { disconnect: true, times: 1 }),
    ],
  ];

  it.each(first)("%s", async (_what, packet, prepare) => {
    service = await startService();
    prepare?.();
    const headers = { Authorization: `Bearer ${await service.token()}` };
    const remove = request("DELETE", KEPT, "", headers);
    const said = await exchange(service.port, packet + remove, 2);
    const isGone = (await ask(service, "GET", KEPT)).status === 404;
    expect({ isGone, said }).toMatchObject({ isGone: answersIn(said) === 2 });
  });
});

describe("behind an answer that closes the connection, nothing is run", () => {
  const ended: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await Promise.all(ended.splice(0).map((stop) => stop()));
  });

  it.each(["/nowhere", "/api/v1/webhooks/incoming/none", "/api/v1/webhooks/incoming/%ff"])(
    "an event behind a request for %s",
    async (path) => {
      const secret = generateSecret();
      const ran: string[] = [];
      const server = await startListeners({
        listeners: (baseUrl) => [
          {
            listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret } },
            run: async (event) => void ran.push(event.id),
          },
        ],
      });
      ended.push(server.stop);
      const url = `${server.url}/api/v1/webhooks/incoming/lst_1`;
      const signed = await signRequest({ url, signer: hmacSigner({ secret }), event: createEvent({ a: 1 }) });
      const headers = Object.fromEntries(new Headers(signed.headers));
      const event = request(
        "POST",
        "/api/v1/webhooks/incoming/lst_1",
        Buffer.from(signed.body).toString(),
        headers,
      );
      const said = await exchange(server.port, request("POST", path, BODY) + event, 2);
      expect(said).toMatch(/^HTTP\/1\.1 404 /);
      expect(said.toLowerCase()).toContain("connection: close");
      expect(answersIn(said)).toBe(1);
      expect(ran).toEqual([]);
      // Alone it is good.
      expect(await exchange(server.port, event, 1)).toMatch(/^HTTP\/1\.1 20[02] /);
      expect(ran).toHaveLength(1);
    },
  );
});

it("a request that arrived before an idle connection ends is answered, however late the thread comes to it", async () => {
  const service = await startService({ limits: { keepAliveMs: 10 } });
  const read = request("GET", KEPT, "", { Authorization: `Bearer ${await service.token()}` });
  const socket = connect(service.port, "127.0.0.1", () => socket.write(read));
  let said = "";
  const ended = new Promise<unknown>((resolve) => socket.on("close", resolve).on("error", resolve));
  socket.on("data", (data) => {
    said += data;
    if (answersIn(said) === 2) socket.end();
    if (answersIn(said) > 1) return;
    socket.write(read);
    // Past the end, with the second that Node adds to it: its timer is due before what was written is read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  });
  await ended;
  expect(answersIn(said)).toBe(2);
});
