import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the receiver saw it; times are `performance.now()` of the test's process. */
interface CountedRequest {
  readonly id: string;
  /** What the header X-Worker says. */
  readonly worker: string;
  readonly at: number;
  /** When it was answered or its connection was closed, whichever came first. */
  readonly endedAt: number;
  /** Whether it was the one that ran. */
  readonly ran: boolean;
}

/** A listener that runs each event once and counts what it has to do at the same time. */
interface CountingReceiver {
  readonly url: string;
  readonly requests: readonly CountedRequest[];
  readonly runs: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** @param answerMs after how long the next request is answered */
export async function countingReceiver(answerMs: () => number): Promise<CountingReceiver> {
  const requests: CountedRequest[] = [];
  const runs = new Set<string>();
  const server = createServer((request, response) => {
    const id = String(request.headers["webhook-event-id"]);
    const at = performance.now();
    const ran = !runs.has(id);
    runs.add(id);
    const seen = { id, worker: String(request.headers["x-worker"]), at, endedAt: Infinity, ran };
    requests.push(seen);
    const end = () => {
      seen.endedAt = Math.min(seen.endedAt, performance.now());
    };
    request.resume();
    const timer = setTimeout(() => {
      end(); // before the sender can know
      response.statusCode = ran ? 200 : 409;
      response.end();
    }, answerMs());
    response.on("close", () => {
      end();
      clearTimeout(timer);
    });
  });
  server.on("connection", (socket) => socket.on("error", () => {}));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_counting`,
    requests,
    runs,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/**
 * The most requests that were open at once. One that was open together with another for no longer than `slackMs` does
 * not count: two connections' news come in any order.
 */
export function mostAtOnce(requests: readonly CountedRequest[], slackMs: number): number {
  const changes = requests.flatMap(({ at, endedAt }) =>
    endedAt - slackMs > at
      ? [
          { time: at, by: 1 },
          { time: endedAt - slackMs, by: -1 },
        ]
      : [],
  );
  changes.sort((a, b) => a.time - b.time || a.by - b.by);
  let open = 0;
  let most = 0;
  for (const { by } of changes) {
    open += by;
    most = Math.max(most, open);
  }
  return most;
}

/** Events of which two requests were open at once for longer than `slackMs`. */
export function sentTwiceAtOnce(requests: readonly CountedRequest[], slackMs: number): string[] {
  const byId = new Map<string, CountedRequest[]>();
  for (const one of requests) byId.set(one.id, [...(byId.get(one.id) ?? []), one]);
  return [...byId].filter(([, all]) => mostAtOnce(all, slackMs) > 1).map(([id]) => id);
}
