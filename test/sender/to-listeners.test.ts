import {
  hmacSigner,
  type ListenerResult,
  type SenderOptions,
  sendToListeners,
  type Transport,
} from "hookproof";
import { describe, expect, it } from "vitest";
import { receiverServer, SECRET } from "../kit/receiver-server.js";

const okAnswer = { status: 200, headers: [], body: new Uint8Array(), truncated: false };
const signer = hmacSigner({ secret: SECRET });
const urlOf = (name: string) => `https://tenant.example.com/api/v1/webhooks/incoming/${name}`;
const over = (name: string, transport: Transport): SenderOptions => ({ url: urlOf(name), signer, transport });
const payload = { type: "user.offboarded" };
type Found = SenderOptions | undefined;

async function resultsOf(results: AsyncIterable<ListenerResult>): Promise<string[]> {
  const seen: string[] = [];
  for await (const one of results) seen.push(`${one.listener} ${one.ok ? one.outcome : one.code}`);
  return seen;
}

describe("sendToListeners with listeners from a function", () => {
  it("sends each message to its listener, in order, with one look-up for each name", async () => {
    const [acme, bravo] = [await receiverServer(), await receiverServer()];
    const asked: string[] = [];
    const listeners = async (name: string) => {
      asked.push(name);
      return { url: name === "acme" ? acme.url : bravo.url, signer };
    };
    const names = ["acme", "bravo", "acme", "acme", "bravo"];
    const results = await resultsOf(
      sendToListeners(
        names.map((listener) => ({ listener, payload })),
        { listeners },
      ),
    );
    expect(results).toEqual(names.map((name) => `${name} accepted`));
    expect([acme.runs.size, bravo.runs.size]).toEqual([3, 2]);
    expect(asked.sort()).toEqual(["acme", "bravo"]);
    for (const server of [acme, bravo]) await server.stop();
  });

  it.each([
    ["does not know a name", (): undefined => undefined],
    [
      "throws",
      (): never => {
        throw new Error("the vault is sealed");
      },
    ],
    ["rejects", () => Promise.reject(new Error("the vault is sealed"))],
    ["gives a URL that is refused", () => ({ url: "http://elsewhere.example/x", signer })],
    ["gives another name", () => "acme" as never],
  ] as const)("names the listener where the function %s, and sends the others", async (_, answer) => {
    let asked = 0;
    const listeners = (name: string): Found | Promise<Found> => {
      if (name === "good") return over("good", async () => okAnswer);
      asked += 1;
      return answer();
    };
    const messages = ["good", "bad", "good", "bad"].map((listener) => ({ listener, payload }));
    expect(await resultsOf(sendToListeners(messages, { listeners, concurrency: 1 }))).toEqual([
      "good accepted",
      "bad LISTENER_NAME_UNKNOWN",
      "good accepted",
      "bad LISTENER_NAME_UNKNOWN",
    ]);
    expect(asked).toBe(2); // a name that failed is not remembered
  });

  it("passes on ids, and what is wrong with a payload", async () => {
    const ids: string[] = [];
    const listeners = () =>
      over("one", async ({ headers }) => {
        ids.push(new Headers(headers as [string, string][]).get("webhook-event-id") ?? "");
        return okAnswer;
      });
    const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
    const messages = [
      { listener: "one", payload, eventId },
      { listener: "one", payload: { n: 1n } as never },
      { listener: "one", payload, eventId: "no id" },
    ];
    expect(await resultsOf(sendToListeners(messages, { listeners }))).toEqual([
      "one accepted",
      "one PAYLOAD_NOT_JSON",
      "one EVENT_ID_INVALID",
    ]);
    expect(ids).toEqual([eventId]);
  });

  it("refuses options that cannot work at once, and what is no message", async () => {
    const listeners = () => undefined;
    expect(() => sendToListeners([], {} as never)).toThrow(TypeError);
    expect(() => sendToListeners([], { listeners: { a: 1 } as never })).toThrow(TypeError);
    for (const ttlMs of [0, -1, Number.NaN])
      expect(() => sendToListeners([], { listeners, ttlMs })).toThrow(RangeError);
    expect(() => sendToListeners([], { listeners, concurrency: 0 })).toThrow(RangeError);
    for (const message of [undefined, "acme", { payload }])
      await expect(resultsOf(sendToListeners([message as never], { listeners }))).rejects.toThrow(TypeError);
  });
});
