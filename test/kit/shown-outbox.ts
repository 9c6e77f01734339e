import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { type OutboxPageOptions, startOutboxPage } from "hookproof-service";

/** What a listener says; markup and steering characters stay text wherever they are shown. */
export const EVIL = '<img src=x onerror="alert(1)"> \u202e';

const answers = (message: string): Readonly<Record<string, readonly [number, string]>> => ({
  well: [200, "{}"],
  down: [503, JSON.stringify({ code: "RECEIVER_DOWN", message })],
  refusing: [400, JSON.stringify({ code: "BODY_NOT_JSON", message })],
});

/** An outbox over a store, with events for a listener that is well, one that is down, and one that refuses; its page. */
export async function shownOutbox(
  store: OutboxStore,
  { says = EVIL, ...options }: Omit<OutboxPageOptions, "port"> & { readonly says?: string } = {},
) {
  const byListener = answers(says);
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const [status, body] = byListener[request.url?.split("/").at(-1) ?? ""] ?? [404, ""];
      response.writeHead(status, { "Content-Type": "application/json" }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/webhooks/incoming`;
  const signer = hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" });
  const listeners = Object.fromEntries(
    Object.keys(byListener).map((name) => [name, { url: `${base}/${name}`, signer }]),
  );
  const outbox = createOutbox({ store, listeners, quiet: true, worker: "orders-1:4711" });
  for (const listener of Object.keys(byListener))
    for (const n of [1, 2, 3]) await outbox.enqueue({ listener, payload: { type: "user.offboarded", n } });
  await outbox.drain();
  const page = await startOutboxPage(outbox, { port: 0, name: "app.db", ...options });
  return {
    outbox,
    page,
    token: new URL(page.pageUrl).hash.slice("#t=".length),
    async stop() {
      await page.stop();
      await outbox[Symbol.asyncDispose]();
      server.close();
    },
  };
}
