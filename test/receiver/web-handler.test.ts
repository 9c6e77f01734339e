import { createReceiver, type ReceivedEvent } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { BASE_URL, clock, hmacListener, hmacParts, type Parts } from "../kit/hostile-target.js";
import { LISTENER_ID } from "./received.js";

const receiver = () => createReceiver({ ...hmacListener(LISTENER_ID), clock });

/** A web request; HTTP's own headers are the runtime's affair. */
function webRequest(parts: Parts, init: RequestInit & { duplex?: "half" } = {}): Request {
  const headers = parts.headers.filter(([name]) => !["Host", "Connection", "Content-Length"].includes(name));
  return new Request(`${BASE_URL}${parts.target}`, {
    method: parts.method,
    headers: headers as [string, string][],
    ...(parts.method === "GET" ? {} : { body: Buffer.from(parts.body) }),
    ...init,
  });
}

async function codeOf(response: Response): Promise<[number, string]> {
  return [response.status, ((await response.json()) as { code: string }).code];
}

describe("handle, for web requests", () => {
  it("accepts, runs with the event, and answers JSON", async () => {
    const events: ReceivedEvent[] = [];
    const parts = hmacParts(LISTENER_ID, { body: '{"a":"€"}' });
    const response = await receiver().handle(webRequest(parts), async (event) => events.push(event));
    expect([response.status, response.headers.get("Content-Type"), await response.text()]).toEqual([
      200,
      "application/json",
      "{}",
    ]);
    expect(events).toMatchObject([{ id: parts.eventId, listenerId: LISTENER_ID, payload: { a: "€" } }]);
    expect(Buffer.from(events[0]?.body ?? []).equals(parts.body)).toBe(true);
  });

  it.each<[string, (request: Request) => Promise<unknown>]>([
    ["json()", (request) => request.json()],
    ["text()", (request) => request.text()],
    ["arrayBuffer()", (request) => request.arrayBuffer()],
  ])("a body that %s has read is a TypeError that says what to change", async (_name, read) => {
    const request = webRequest(hmacParts(LISTENER_ID));
    await read(request);
    await expect(receiver().handle(request, async () => {})).rejects.toThrow(
      expect.objectContaining({
        name: "TypeError",
        message: expect.stringContaining("before anything calls json()"),
      }),
    );
  });

  it("reads a stream in pieces, whatever their size", async () => {
    const parts = hmacParts(LISTENER_ID, { body: `"${"é".repeat(3_000)}"` });
    const pieces = [parts.body.subarray(0, 2), parts.body.subarray(2, 2), parts.body.subarray(2)];
    const body = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(new Uint8Array(piece));
      },
    });
    const response = await receiver().handle(webRequest(parts, { body, duplex: "half" }), async () => {});
    expect(response.status).toBe(200);
  });

  it("answers 413 while an endless stream still flows, and cancels it", async () => {
    let pulled = 0;
    let cancelled = false;
    const body = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(16_384));
      },
      cancel() {
        cancelled = true;
      },
    });
    const request = webRequest(hmacParts(LISTENER_ID), { body, duplex: "half" });
    expect(await codeOf(await receiver().handle(request, async () => {}))).toEqual([413, "BODY_TOO_LARGE"]);
    expect(pulled).toBeLessThan(10);
    expect(cancelled).toBe(true);
  });

  it("a stream that fails is 400, and nothing runs", async () => {
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new Error("the client left"));
      },
    });
    let runs = 0;
    const request = webRequest(hmacParts(LISTENER_ID), { body, duplex: "half" });
    const response = await receiver().handle(request, async () => runs++);
    expect(await codeOf(response)).toEqual([400, "BODY_UNREADABLE"]);
    expect(runs).toBe(0);
  });

  it("no body at all counts as an empty one", async () => {
    const parts = hmacParts(LISTENER_ID, { body: "" });
    const request = webRequest(parts, { body: null });
    expect(await codeOf(await receiver().handle(request, async () => {}))).toEqual([400, "BODY_NOT_JSON"]);
  });

  it.each(["Webhook-Timestamp", "Webhook-Event-Id", "Content-Type", "Webhook-Signature"])(
    "%s sent twice, which Headers joins with a comma, is refused",
    async (name) => {
      const parts = hmacParts(LISTENER_ID);
      const request = webRequest(parts);
      request.headers.append(name, request.headers.get(name) ?? "");
      const [status, code] = await codeOf(await receiver().handle(request, async () => {}));
      expect(status).toBe(name === "Webhook-Signature" ? 401 : 400);
      expect(code).toMatch(/_MALFORMED$/);
    },
  );

  it("carries the headers an answer needs: Allow and Retry-After", async () => {
    const wrongMethod = await receiver().handle(
      webRequest({ ...hmacParts(LISTENER_ID), method: "GET" }),
      async () => {},
    );
    expect([wrongMethod.status, wrongMethod.headers.get("Allow")]).toEqual([405, "POST"]);
    const down = {
      reserve: () => Promise.reject(new Error("down")),
      commit: async () => {},
      release: async () => {},
    };
    const broken = createReceiver({ ...hmacListener(LISTENER_ID), clock, replayStore: down });
    const response = await broken.handle(webRequest(hmacParts(LISTENER_ID)), async () => {});
    expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
  });

  it("takes the source address next to the request, as a web request has none", async () => {
    const { listener } = hmacListener(LISTENER_ID);
    const fenced = createReceiver({ listener: { ...listener, allowedCidrs: ["203.0.113.0/24"] }, clock });
    const handle = (sourceAddress?: string) =>
      fenced.handle(webRequest(hmacParts(LISTENER_ID)), async () => {}, { sourceAddress });
    expect((await handle("203.0.113.9")).status).toBe(200);
    expect((await handle("198.51.100.9")).status).toBe(403);
    expect((await handle()).status).toBe(403);
  });
});
