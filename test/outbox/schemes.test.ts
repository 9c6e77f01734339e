import { generateSecret, hmacSigner } from "hookproof";
import { toNodeListener } from "hookproof/node";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { createReceiver, type Receiver } from "hookproof/receiver";
import {
  generateStandardKeys,
  generateStandardSecret,
  standardWebhooksSigner,
  standardWebhooksVerifier,
} from "hookproof/standard-webhooks";
import { expect, it } from "vitest";
import { acmeSigner, acmeVerifier } from "../../examples/own-scheme.mjs";
import { httpServer, started } from "../kit/local-server.js";

it("one event goes to listeners of four kinds over HTTP, once to each, with a copy after an answer that was lost", async () => {
  const [hmac, shared, keys] = [generateSecret(), generateStandardSecret(), await generateStandardKeys()];
  const received: string[] = [];
  const serve = async (name: string, receiver: Receiver) => {
    const listener = toNodeListener(receiver, async ({ payload }) =>
      received.push(`${name} ${JSON.stringify(payload)}`),
    );
    let requests = 0;
    const { port } = await started(
      httpServer((req, res) => {
        // The first answer of each is lost after the event was taken.
        if (requests++ === 0) res.end = ((): typeof res => res.destroy()) as typeof res.end;
        void listener(req, res);
      }),
    );
    return `http://127.0.0.1:${port}`;
  };

  const { port } = await started(httpServer((_, res) => res.end())); // a port for the base URL of the first
  const baseUrl = `http://127.0.0.1:${port}`;
  const own = createReceiver({ listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: hmac } } });
  const at = (secrets: string) => createReceiver({ verifier: standardWebhooksVerifier({ secrets }) });
  const outbox = createOutbox({
    store: memoryStore(),
    quiet: true,
    pollMs: 5,
    listeners: {
      own: {
        url: `${await serve("own", own)}/api/v1/webhooks/incoming/lst_1`,
        signer: hmacSigner({ secret: hmac }),
        retry: { firstDelayMs: 5 },
      },
      shared: {
        url: `${await serve("shared", at(shared))}/hooks?shop=7`,
        signer: standardWebhooksSigner({ secrets: shared }),
        retry: { firstDelayMs: 5 },
      },
      keyed: {
        url: await serve("keyed", at(keys.publicKey)),
        signer: standardWebhooksSigner({ secrets: [keys.privateKey, shared] }),
        retry: { firstDelayMs: 5 },
      },
      acme: {
        url: await serve("acme", createReceiver({ verifier: acmeVerifier({ secret: "a" }) })),
        signer: acmeSigner({ secret: "a" }),
        retry: { firstDelayMs: 5 },
      },
    },
  });
  const listeners = ["own", "shared", "keyed", "acme"];
  const [{ eventId } = { eventId: "" }] = await outbox.enqueue({
    listeners: listeners as never,
    payload: { n: 1 },
  });
  outbox.start();
  await expect
    .poll(async () => (await outbox.find(eventId)).map(({ state }) => state))
    .toEqual(Array(4).fill("delivered"));
  await outbox.stop();
  expect(received.sort()).toEqual(listeners.map((name) => `${name} {"n":1}`).sort());
});
