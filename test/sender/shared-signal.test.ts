import { getEventListeners } from "node:events";
import { createSender, hmacSigner, type StandardSchema, type Transport } from "hookproof";
import { undiciTransport } from "hookproof/node";
import { Agent } from "undici";
import { expect, it, onTestFinished } from "vitest";
import { receiverServer, SECRET } from "../kit/receiver-server.js";

const atOnce = Array.from({ length: 40 }, (_, n) => ({ type: "user.created" as const, n }));
type UserCreated = (typeof atOnce)[number];
const userCreated: StandardSchema<unknown, UserCreated> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: async (value) => ({ value: value as UserCreated }),
  },
};
const transports: Record<string, () => Transport | undefined> = {
  "node:http": () => undefined,
  undici: () => {
    const agent = new Agent();
    onTestFinished(() => agent.close());
    return undiciTransport(agent);
  },
  "one of the caller's": () => async () => ({
    status: 200,
    headers: [],
    body: new Uint8Array(),
    truncated: false,
  }),
};

// Node takes more than ten listeners of one signal for a leak, and says so on the application's standard error.
it.each(Object.entries(transports))(
  "a signal may end any number of sends at once over %s, without a warning of Node's",
  async (_, transport) => {
    const leaks: string[] = [];
    const onWarning = ({ name, message }: Error) => {
      if (name === "MaxListenersExceededWarning") leaks.push(message);
    };
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const server = await receiverServer();
    onTestFinished(server.stop);
    const sender = createSender({
      url: server.url,
      signer: hmacSigner({ secret: SECRET }),
      events: { "user.created": userCreated },
      transport: transport(),
    });
    const { signal } = new AbortController();
    await Promise.all(atOnce.map((payload) => sender.send(payload, { signal })));
    await new Promise(setImmediate);
    expect(leaks).toEqual([]);
    expect(getEventListeners(signal, "abort")).toEqual([]); // which would keep a composed one
  },
);

it("and ends all of them, with its reason for the transport", async () => {
  const reasons: unknown[] = [];
  const stop = new AbortController();
  const sender = createSender({
    url: "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1",
    signer: hmacSigner({ secret: SECRET }),
    transport: ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          reasons.push(signal.reason);
          reject(signal.reason);
        });
        if (++begun === atOnce.length) stop.abort(reason);
      }),
  });
  const reason = new Error("shutting down");
  let begun = 0;
  const results = await Promise.all(
    atOnce.map((payload) => sender.trySend(payload, { signal: stop.signal })),
  );
  expect(new Set(results.map((result) => !result.ok && result.code))).toEqual(new Set(["ABORTED"]));
  expect(reasons).toEqual(atOnce.map(() => reason));
  expect(await sender.trySend(atOnce[0], { signal: stop.signal })).toMatchObject({ code: "ABORTED" });
});
