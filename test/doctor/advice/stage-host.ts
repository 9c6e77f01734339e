// The host that stories reach: files, two listeners, and a program with an encrypted outbox.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { hmacSigner } from "hookproof";
import { openSqlite, toNodeListener } from "hookproof/node";
import { aesGcmEncryption, createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { createReceiver, memoryReplayStore } from "hookproof/receiver";
import { onTestFinished } from "vitest";
import { serve } from "../../kit/loopback.js";

const LISTENERS = "/api/v1/webhooks/incoming/";
const PROGRAM = "/program/";

/** Serves next to a story that is played in this folder; the secret of the listeners is that of its `s.txt`. */
export async function hostOf(folder: string): Promise<string> {
  const secret = () => readFileSync(join(folder, "s.txt"), "utf8").trim();
  const listeners = new Map<string, RequestListener>();
  const { url, stop } = await serve(async (request, response) => {
    const path = request.url ?? "";
    if (path.startsWith(LISTENERS)) {
      const id = path.slice(LISTENERS.length);
      const listener = listeners.get(id) ?? listenerOf(id, url, secret());
      listeners.set(id, listener);
      listener(request, response);
    } else if (path.startsWith(PROGRAM)) {
      const signer = hmacSigner({ secret: secret() });
      await runProgram(path.slice(PROGRAM.length), folder, { url: `${url}${LISTENERS}lst_1`, signer });
      response.end();
    } else answerFile(join(folder, path), response);
  });
  onTestFinished(() => stop());
  return url;
}

/** A file of the folder; where a cache has an older copy (`.cached`), that one is shown. */
function answerFile(file: string, response: ServerResponse): void {
  const found = [`${file}.cached`, file].find((one) => existsSync(one));
  if (found === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { "Content-Type": "application/json" }).end(readFileSync(found));
}

/** A listener; while lst_busy answers an event's first request, it still processes another copy of the event. */
function listenerOf(id: string, baseUrl: string, secret: string): RequestListener {
  const replayStore = memoryReplayStore();
  const listener = { id, baseUrl, auth: { method: "hmac", secret } } as const;
  const answer = toNodeListener(createReceiver({ listener, replayStore, inFlightWaitMs: 0 }), async () => {});
  const known = new Set<string>();
  return async (request, response) => {
    const event = String(request.headers["webhook-event-id"]);
    if (id === "lst_busy" && !known.has(event)) {
      known.add(event);
      const copy = await replayStore.reserve(id, event);
      if (copy.state === "reserved") response.once("finish", () => replayStore.release(copy.reservation));
    }
    answer(request, response);
  };
}

/** A program enqueues an event, whose id it writes to `id.txt`, or delivers what is due with the right key or a wrong one. */
async function runProgram(
  does: string,
  folder: string,
  listener: { url: string; signer: ReturnType<typeof hmacSigner> },
): Promise<void> {
  const store = sqliteStore({ open: () => openSqlite(join(folder, "sealed.db")) });
  const key = Buffer.alloc(32, does === "deliver-with-wrong-key" ? "wrong" : "right");
  const encryption = aesGcmEncryption([{ id: "2026", key }]);
  const outbox = createOutbox({ store, listeners: { offboarding: listener }, encryption });
  if (does === "enqueue") {
    const { eventId } = await outbox.enqueue({ listener: "offboarding", payload: { userId: "u_123" } });
    writeFileSync(join(folder, "id.txt"), eventId);
  } else await outbox.drain();
  await outbox.stop();
  await store.close();
}
