import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Activity, createSender, hmacSigner, type Observer } from "hookproof";
import { diagnosticsChannelObserver } from "hookproof/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ReceiverServer, receiverServer, SECRET } from "../kit/receiver-server.js";

let server: ReceiverServer;
beforeEach(async () => {
  server = await receiverServer({
    intercept(request, response, receive) {
      if (server.requests.length > 1) return receive(request, response);
      request.resume();
      response.writeHead(500).end();
    },
  });
});
afterEach(() => server.stop());

const create = (observe: Observer) =>
  createSender({ url: server.url, signer: hmacSigner({ secret: SECRET }), observe, wait: async () => {} });

describe("an observer", () => {
  it("is told the whole story of a delivery, in order, and nothing secret", async () => {
    const story: Activity[] = [];
    const { eventId } = await create((event) => story.push(event)).send({ note: "confidential" });
    expect(story.map(({ type }) => type)).toEqual([
      "send-started",
      "attempt-started",
      "attempt-ended",
      "retry-scheduled",
      "attempt-started",
      "attempt-ended",
      "send-ended",
    ]);
    expect(story).toMatchObject([
      { eventId, url: server.url, bodyBytes: 23 },
      { attempt: 1 },
      { attempt: 1, outcome: "retry", status: 500, code: "RECEIVER_UNAVAILABLE" },
      { attempt: 2, code: "RECEIVER_UNAVAILABLE" },
      { attempt: 2 },
      { attempt: 2, outcome: "accepted", status: 200 },
      { outcome: "accepted", attempts: 2 },
    ]);
    expect(new Set(story.map((event) => "delivery" in event && event.delivery)).size).toBe(1);
    expect(JSON.stringify(story)).not.toMatch(/confidential|AAECAwQF/);
  });

  it("may send headers along, but not the protocol's own, nor any that would break the request", async () => {
    await create((event) => {
      if (event.type !== "attempt-started") return;
      event.headers.push(["traceparent", `00-${"1".repeat(32)}-${"2".repeat(16)}-0${event.attempt}`]);
      event.headers.push(["Webhook-Signature", "forged"], ["X-Evil", "a\r\nb"], ["Host", "elsewhere"]);
    }).send({});
    const [first, second] = server.requests;
    expect(first?.headers.traceparent).toMatch(/-01$/);
    expect(second?.headers.traceparent).toMatch(/-02$/);
    expect(second?.rawHeaders.filter((name) => /^(?:webhook-signature|host)$/i.test(name))).toHaveLength(2);
    expect(second?.headers).not.toHaveProperty("x-evil");
  });

  it("cannot harm a delivery, whether it throws or rejects", async () => {
    const throwing = create(() => {
      throw new Error("the log is full");
    });
    expect(await throwing.send({})).toMatchObject({ outcome: "accepted" });
    const rejecting = create((async () => Promise.reject(new Error("later"))) as Observer);
    expect(await rejecting.send({})).toMatchObject({ outcome: "accepted" });
  });
});

describe("diagnosticsChannelObserver", () => {
  it("publishes every event to whoever subscribed", async () => {
    const seen: string[] = [];
    const listen = (message: unknown) => void seen.push((message as Activity).type);
    subscribe("hookproof:sender", listen);
    try {
      await create(diagnosticsChannelObserver()).send({});
    } finally {
      unsubscribe("hookproof:sender", listen);
    }
    expect(seen).toHaveLength(7);
    expect(seen.at(-1)).toBe("send-ended");
    await create(diagnosticsChannelObserver()).send({});
    expect(seen).toHaveLength(7);
  });
});
