import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "hookproof";
import { toNodeListener } from "hookproof/node";
import { createReceiver, memoryReplayStore } from "hookproof/receiver";
import { FAILURES } from "../support/receiver-failures.js";

const FAILING_SHARE = 0.3;

/** A verifying listener that fails in every way there is, and forgets no event id when it is restarted. */
export interface ChaosReceiver {
  /** `taking` runs its events; `refusing` refuses each of them for good. */
  readonly urls: { readonly taking: string; readonly refusing: string };
  /** What was run, in order. */
  readonly runs: { readonly id: string; readonly payload: { key?: string; place: number } }[];
  readonly counts: { requests: number; duplicates: number };
  /** How often it failed in each way. */
  readonly failures: ReadonlyMap<string, number>;
  /** Breaks every connection, and is not there for a while. */
  goDown(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export async function chaosReceiver(secret: string, clock: Clock): Promise<ChaosReceiver> {
  const ways = Object.entries(FAILURES);
  const failures = new Map(ways.map(([way]) => [way, 0]));
  const runs: ChaosReceiver["runs"] = [];
  const counts = { requests: 0, duplicates: 0 };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  const receiver = createReceiver({
    listener: { id: "lst_taking", baseUrl, auth: { method: "hmac", secret } },
    replayStore: memoryReplayStore({ clock }),
    clock,
  });
  const receive = toNodeListener(receiver, async ({ id, body }) => {
    runs.push({ id, payload: JSON.parse(new TextDecoder().decode(body)) });
  });

  async function listen(at: number): Promise<Server> {
    const next = createServer(async (request, response) => {
      counts.requests += 1;
      response.on("finish", () => {
        if (response.statusCode === 409) counts.duplicates += 1;
      });
      if (request.url?.endsWith("lst_refusing")) {
        request.resume();
        response.writeHead(422).end('{"code":"NOT_WANTED"}');
        return;
      }
      const chosen =
        Math.random() < FAILING_SHARE ? ways[Math.floor(Math.random() * ways.length)] : undefined;
      if (!chosen) return receive(request, response);
      failures.set(chosen[0], (failures.get(chosen[0]) ?? 0) + 1);
      await chosen[1](request, response, receive);
    });
    next.on("connection", (socket) => socket.on("error", () => {}));
    next.listen(at, "127.0.0.1");
    await once(next, "listening");
    return next;
  }

  async function close(): Promise<void> {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  const url = (name: string) => `${baseUrl}/api/v1/webhooks/incoming/lst_${name}`;
  return {
    urls: { taking: url("taking"), refusing: url("refusing") },
    runs,
    counts,
    failures,
    async goDown(ms) {
      await close();
      await new Promise((resolve) => setTimeout(resolve, ms));
      server = await listen(port);
    },
    stop: close,
  };
}
