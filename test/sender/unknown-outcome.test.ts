import { Agent as HttpAgent, type RequestListener } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import {
  createSender,
  type DeliveryError,
  type HookproofError,
  hmacSigner,
  type SenderOptions,
  type Transport,
} from "hookproof";
import { undiciTransport } from "hookproof/node";
import { HttpsProxyAgent } from "https-proxy-agent";
import { Agent } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTransport } from "../../src/http/node/transport.js";
import { createTransport as fetchTransport } from "../../src/http/transport-fetch.js";
import { runCertificates } from "../kit/certificates.js";
import { lateResult } from "../kit/late-result.js";
import { httpServer, httpsServer, refusingProxy, started, tcpServer } from "../kit/local-server.js";

const SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const at = (port: number, origin = "http://127.0.0.1") => `${origin}:${port}/api/v1/webhooks/incoming/lst_1`;

async function undelivered(options: Partial<SenderOptions>, signal?: AbortSignal): Promise<DeliveryError> {
  const { url = at(1), ...more } = options;
  const sender = createSender({
    url,
    signer: hmacSigner({ secret: SECRET }),
    retry: { maxAttempts: 1 },
    wait: async () => {},
    ...more,
  });
  const error = await sender.send({ a: 1 }, { signal }).catch((thrown: unknown) => thrown);
  return error as DeliveryError;
}

/** Nobody knows: it may have arrived, and is to be sent again. */
function expectUnknown(error: DeliveryError, code: string, tries = "1 attempt"): void {
  expect(error).toMatchObject({ name: "DeliveryError", code, mayHaveArrived: true });
  expect(error.message).toContain(
    ` Event ${error.event.id} was not confirmed in ${tries}: it may have arrived. Send it again under the same id.`,
  );
  expect(error.message).not.toContain("not delivered");
}

/** Nothing can have arrived. */
function expectUndelivered(error: DeliveryError, code: string, tries = "1 attempt"): void {
  expect(error).toMatchObject({ name: "DeliveryError", code, mayHaveArrived: false });
  expect(error.message).toMatch(new RegExp(` Event ${error.event.id} was not delivered in ${tries}\\.$`));
}

/** Answers with these statuses, one after the other, and the last one for ever. */
function answering(...statuses: number[]): RequestListener {
  return (request, response) =>
    request.resume().on("end", () => {
      const [status = 200] = statuses;
      if (statuses.length > 1) statuses.shift();
      response.writeHead(status).end();
    });
}

async function portOfNobody(): Promise<number> {
  const server = await tcpServer(() => {});
  await server.stop();
  return server.port;
}

const TRANSPORTS: Record<string, () => Transport> = {
  "the Node transport": () => createTransport(),
  undici() {
    const agent = new Agent();
    onTestFinished(() => agent.destroy());
    return undiciTransport(agent);
  },
  fetch: () => fetchTransport(),
};

describe.each(Object.entries(TRANSPORTS))("over %s, the outcome is unknown", (_name, transport) => {
  it("when the connection breaks after the request", async () => {
    const server = await started(
      httpServer((request) => request.resume().on("end", () => request.socket.destroy())),
    );
    const error = await undelivered({ url: at(server.port), transport: transport() });
    expectUnknown(error, _name === "fetch" ? "CONNECTION_FAILED" : "CONNECTION_LOST");
  });

  it("when the answer is no HTTP", async () => {
    const server = await started(refusingProxy("what?\r\n\r\n", []));
    const error = await undelivered({ url: at(server.port), transport: transport() });
    expectUnknown(error, _name === "fetch" ? "CONNECTION_FAILED" : "RESPONSE_INVALID");
  });

  it("when no answer comes in time", async () => {
    const error = await lateResult(async (attemptTimeoutMs) => {
      let requests = 0;
      const server = await started(httpServer(() => requests++));
      const error = await undelivered({ url: at(server.port), transport: transport(), attemptTimeoutMs });
      return requests > 0 ? error : undefined;
    });
    expectUnknown(error, "TIMED_OUT");
  });

  it("when the caller aborts what is under way, but not what had not begun", async () => {
    const abort = new AbortController();
    const server = await started(
      httpServer((request) => void request.resume().on("end", () => abort.abort())),
    );
    const options = { url: at(server.port), transport: transport() };
    expectUnknown(await undelivered(options, abort.signal), "ABORTED");
    expectUndelivered(await undelivered(options, abort.signal), "ABORTED");
  });

  it("when the answer is a 5xx, also where the last attempt is refused", async () => {
    const unavailable = await started(httpServer(answering(503)));
    const one = { url: at(unavailable.port), transport: transport() };
    expectUnknown(await undelivered(one), "RECEIVER_UNAVAILABLE");
    const refusing = await started(httpServer(answering(502, 401)));
    const two = { url: at(refusing.port), transport: transport(), retry: { maxAttempts: 3 } };
    expectUnknown(await undelivered(two), "AUTHENTICATION_REFUSED", "2 attempts");
  });

  it("but not when each attempt was refused", async () => {
    const server = await started(httpServer(answering(429, 408, 403)));
    const options = { url: at(server.port), transport: transport(), retry: { maxAttempts: 3 } };
    expectUndelivered(await undelivered(options), "SOURCE_REFUSED", "3 attempts");
  });
});

describe("nothing can have arrived", () => {
  it.each(["the Node transport", "undici"])("where nobody listens: %s", async (name) => {
    const url = at(await portOfNobody());
    expectUndelivered(await undelivered({ url, transport: TRANSPORTS[name]?.() }), "CONNECTION_FAILED");
  });

  it.each(["the Node transport", "undici"])("where the certificate is not trusted: %s", async (name) => {
    const server = await started(httpsServer(runCertificates().server, answering(200)));
    const url = at(server.port, "https://localhost");
    expectUndelivered(await undelivered({ url, transport: TRANSPORTS[name]?.() }), "TLS_FAILED");
  });

  it("where the connection does not come about in time", async () => {
    const server = await started(tcpServer(() => {}));
    const transport = createTransport({ connectTimeoutMs: 40 });
    const url = at(server.port, "https://localhost");
    expectUndelivered(await undelivered({ url, transport }), "TIMED_OUT");
  });

  it.each(["HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "what?\r\n\r\n"])(
    "where a proxy opens no tunnel: %j",
    async (answer) => {
      const proxy = await started(refusingProxy(answer, []));
      const agent = new HttpsProxyAgent(`http://127.0.0.1:${proxy.port}`);
      const url = at(443, "https://tenant.example.com");
      expectUndelivered(await undelivered({ url, transport: createTransport({ agent }) }), "PROXY_FAILED");
    },
  );

  it.each(["the Node transport", "undici"])("where a proxy answers 407: %s", async (name) => {
    const server = await started(httpServer(answering(407)));
    const options = { url: at(server.port), transport: TRANSPORTS[name]?.() };
    expectUndelivered(await undelivered(options), "PROXY_FAILED");
  });

  it.each(["the Node transport", "fetch"])("where the address is refused: %s", async (name) => {
    const guarded = name === "fetch" ? fetchTransport : createTransport;
    const options = { url: at(1), transport: guarded({ allowPrivateNetwork: false }) };
    expectUndelivered(await undelivered(options), "ADDRESS_REFUSED");
  });

  it("where the signer fails", async () => {
    const signer = hmacSigner({ secret: SECRET });
    const sign = async () => Promise.reject(new Error("no key service"));
    expectUndelivered(await undelivered({ signer: { ...signer, sign } }), "SIGNER_FAILED");
  });
});

it("a request that is sent again on a new connection that fails may have arrived on the first one", async () => {
  let requests = 0;
  const server = await httpServer((request, response) =>
    request.resume().on("end", async () => {
      if (++requests === 1) {
        response.end();
        return;
      }
      const { socket } = request;
      void server.stop();
      socket.destroy();
    }),
  );
  const transport = createTransport();
  const url = at(server.port);
  await createSender({ url, signer: hmacSigner({ secret: SECRET }), transport }).send({ a: 1 });
  expectUnknown(await undelivered({ url, transport }), "CONNECTION_FAILED");
  expect(requests).toBe(2);
});

it("what is lost on a connection that an agent had made before may have arrived", async () => {
  const server = await started(httpServer((request) => void request.socket.destroy()));
  class ReadyAgent extends HttpAgent {
    override createConnection(_options: unknown, done?: (error: Error | null, socket: Duplex) => void) {
      const socket = connect(server.port, "127.0.0.1", () => done?.(null, socket));
      return undefined;
    }
  }
  const transport = createTransport({ agent: new ReadyAgent() });
  expectUnknown(await undelivered({ url: at(server.port), transport }), "CONNECTION_LOST");
});

it("a copy that was lost before the one that was refused may have arrived", async () => {
  let requests = 0;
  const server = await started(
    httpServer((request, response) =>
      request.resume().on("end", () => {
        requests += 1;
        if (requests === 2) request.socket.destroy();
        else response.writeHead(requests === 1 ? 200 : 404).end();
      }),
    ),
  );
  const transport = createTransport();
  const url = at(server.port);
  await createSender({ url, signer: hmacSigner({ secret: SECRET }), transport }).send({ a: 1 });
  expectUnknown(await undelivered({ url, transport }), "LISTENER_NOT_FOUND");
  expect(requests).toBe(3);
});

it("a transport of somebody else's, that says nothing of what was sent, leaves it open", async () => {
  const transport = async () => Promise.reject(new Error("whatever"));
  expectUnknown(await undelivered({ transport }), "CONNECTION_FAILED");
});

it("past the window nobody is told to send the event again", async () => {
  const server = await started(httpServer(answering(503)));
  const retry = { maxAttempts: 2, windowMs: 0 };
  const error: HookproofError = await undelivered({ url: at(server.port), retry });
  expect(error).toMatchObject({ code: "WINDOW_CLOSED", mayHaveArrived: true });
  expect(error.message).toMatch(
    / was not confirmed in 1 attempt: it may have arrived\. Look whether it did before you send a new one\.$/,
  );
});
