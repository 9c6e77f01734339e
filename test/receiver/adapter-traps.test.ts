import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { receivedRequest, sendAnswer, toNodeListener } from "hookproof/node";
import { createReceiver, type LambdaRequest, lambdaHandler } from "hookproof/receiver";
import { afterEach, describe, expect, it } from "vitest";
import { exchange, serve } from "../kit/loopback.js";
import { LISTENER, signedRequest } from "../kit/signed-request.js";

const PATH = "/api/v1/webhooks/incoming/lst_offboarding";
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** An Express application with a body parser in front of the receiver, and the error it ended in. */
async function behindParser(parser: express.Handler) {
  const receiver = createReceiver({ listener: LISTENER });
  const app = express();
  app.use(parser);
  app.all(
    PATH,
    toNodeListener(receiver, async () => {}),
  );
  let caught: unknown;
  app.use(((error, _req, res, _next) => {
    caught = error;
    res.status(500).end();
  }) as express.ErrorRequestHandler);
  const server = await serve(app);
  stops.push(server.stop);
  const [status] = await exchange(server.url + PATH, await signedRequest());
  return { status, error: caught };
}

describe("Express", () => {
  it("a body that express.json() parsed says to mount the receiver before it", async () => {
    const { error } = await behindParser(express.json());
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("Mount the receiver before express.json()");
  });

  it("a body that express.text() decoded says to keep the bytes", async () => {
    const { error } = await behindParser(express.text({ type: "*/*" }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('express.raw({ type: "*/*" })');
  });

  it("the bytes that express.raw() keeps are verified", async () => {
    expect(await behindParser(express.raw({ type: "*/*" }))).toEqual({ status: 200, error: undefined });
  });
});

describe("Fastify", () => {
  async function caughtIn(receive: (request: import("fastify").FastifyRequest) => unknown) {
    let caught: unknown;
    const app = fastify();
    app.post(PATH, async (request, reply) => {
      try {
        receive(request);
      } catch (error) {
        caught = error;
      }
      return reply.send({});
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    stops.push(() => app.close() as unknown as Promise<void>);
    await exchange(url + PATH, await signedRequest());
    return caught;
  }

  it("its own request says to hand over request.raw", async () => {
    const error = await caughtIn((request) => receivedRequest(request as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("request.raw");
  });

  it("a body that its JSON parser took says to exclude the route", async () => {
    const error = await caughtIn((request) => receivedRequest(request.raw));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("exclude its route");
  });

  it("a parsed body handed over as one says that its bytes are gone", async () => {
    const receiver = createReceiver({ listener: LISTENER });
    const { body: _, ...head } = await signedRequest();
    const parsed = receiver.receive({ ...head, body: { user: "u_1" } as never }, async () => {});
    await expect(parsed).rejects.toThrow(/^body must be the raw bytes/);
  });
});

describe("web handlers", () => {
  async function caughtIn(receive: (c: import("hono").Context) => Promise<Response>) {
    const app = new Hono();
    let caught: unknown;
    app.onError((error, c) => {
      caught = error;
      return c.text("", 500);
    });
    app.post(PATH, receive);
    const { method, headers, body } = await signedRequest();
    await app.request(PATH, { method, headers: headers as Record<string, string>, body: body as BodyInit });
    return caught;
  }
  const receiver = createReceiver({ listener: LISTENER });

  it("Hono's own request says to hand over c.req.raw", async () => {
    const error = await caughtIn((c) => receiver.handle(c.req as never, async () => {}));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("c.req.raw");
  });

  it("a body that json() read says to hand over the request before", async () => {
    const error = await caughtIn(async (c) => {
      await c.req.raw.json();
      return receiver.handle(c.req.raw, async () => {});
    });
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("before anything calls json()");
  });
});

describe("Lambda", () => {
  const handler = lambdaHandler(createReceiver({ listener: LISTENER }), async () => {});

  it.each([
    ["a test event of the console", { key1: "value1" }],
    ["an integration without proxy", { body: { user: "u_1" }, method: "POST" }],
    ["an event of VPC Lattice", { version: "2.0", method: "POST", path: PATH, requestContext: {} }],
    ["nothing", null],
  ])("%s says to use a proxy integration", async (_name, event) => {
    await expect(handler(event as never)).rejects.toThrow(/^The event is not an HTTP request/);
  });

  it("of a header that was sent twice, format 1.0 shows both lines", async () => {
    const { headers, body } = await signedRequest();
    const lists = Object.fromEntries(
      Object.entries(headers as Record<string, string>).map(([name, value]) => [name, [value]]),
    );
    const event = {
      httpMethod: "POST",
      path: PATH,
      headers: headers as Record<string, string>,
      multiValueHeaders: {
        ...lists,
        "Webhook-Signature": ["A".repeat(43), ...(lists["Webhook-Signature"] ?? [])],
      },
      body: new TextDecoder().decode(body as Uint8Array),
      isBase64Encoded: false,
      requestContext: { identity: { sourceIp: "203.0.113.7" } },
    };
    expect(await handler(event)).toMatchObject({
      statusCode: 401,
      body: expect.stringContaining("SIGNATURE_MALFORMED"),
    });
  });

  describe("behind a load balancer, with allowed ranges", () => {
    const allowedCidrs = ["203.0.113.0/24"];
    const ranged = lambdaHandler(createReceiver({ listener: { ...LISTENER, allowedCidrs } }), async () => {});
    it.each([
      ["203.0.113.7", 200],
      ["198.51.100.1, 203.0.113.7", 200],
      ["203.0.113.7, 198.51.100.1", 403],
      ["", 403],
      [undefined, 403],
    ])("X-Forwarded-For %j is answered with %i", async (forwarded, status) => {
      const { headers, body } = await signedRequest();
      const answer = await ranged({
        httpMethod: "POST",
        path: PATH,
        headers: { ...(headers as Record<string, string>), "x-forwarded-for": forwarded },
        body: new TextDecoder().decode(body as Uint8Array),
        isBase64Encoded: false,
        requestContext: { elb: {} },
      });
      expect(answer.statusCode).toBe(status);
    });
  });

  it("a body in base64 with line breaks arrives whole", async () => {
    const { headers, body } = await signedRequest({ filler: "x".repeat(60_000) });
    const base64 = Buffer.from(body as Uint8Array).toString("base64");
    const answer = await handler({
      httpMethod: "POST",
      path: PATH,
      headers: headers as Record<string, string>,
      body: base64.replace(/.{20}/g, "$&\r\n"),
      isBase64Encoded: true,
      requestContext: { identity: { sourceIp: "203.0.113.7" } },
    });
    expect(answer.statusCode).toBe(200);
  });

  it("a body that a middleware parsed says to take it out", async () => {
    const http = { method: "POST", sourceIp: "203.0.113.7" };
    const event = { version: "2.0", rawPath: PATH, headers: {}, requestContext: { http } };
    const parsed = { ...event, isBase64Encoded: false, body: { user: "u_1" } } as unknown as LambdaRequest;
    await expect(handler(parsed)).rejects.toThrow(/Take the JSON body parser out/);
  });
});

it("sendAnswer after receive, without the listener", async () => {
  const receiver = createReceiver({ listener: LISTENER });
  const server = await serve(async (req, res) =>
    sendAnswer(await receiver.receive(receivedRequest(req), async () => {}), req, res),
  );
  stops.push(server.stop);
  expect(await exchange(server.url + PATH, await signedRequest())).toEqual([200, {}]);
});
