import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";

/** A request as the receiver saw it. */
interface CountedRequest {
  readonly id: string;
  /** What the header X-Worker says. */
  readonly worker: string;
  /** Whether it was the one that ran. */
  readonly ran: boolean;
}

/** A listener that runs each event once and counts what it has to do at the same time. */
interface CountingReceiver {
  readonly url: string;
  readonly requests: readonly CountedRequest[];
  readonly runs: ReadonlySet<string>;
  /** The most requests that were open at once. */
  most(): number;
  /** Events of which two requests were open at once. */
  readonly twice: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** Rounds of the event loop in which all has arrived that was sent before something that has: a connection's end takes two. */
const ROUNDS = 3;

/** @param answerMs after how long the next request is answered */
export async function countingReceiver(answerMs: () => number): Promise<CountingReceiver> {
  const requests: CountedRequest[] = [];
  const runs = new Set<string>();
  /** Begun so long ago that the end of what ended before them is known; neither answered nor given up. */
  const open = new Set<CountedRequest>();
  const twice = new Set<string>();
  let most = 0;
  const server = createServer(async (request, response) => {
    const id = String(request.headers["webhook-event-id"]);
    const ran = !runs.has(id);
    runs.add(id);
    const seen = { id, worker: String(request.headers["x-worker"]), ran };
    requests.push(seen);
    let isOver = false;
    const end = () => {
      isOver = true;
      open.delete(seen);
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
    for (let round = 0; round < ROUNDS; round++) await nextRound();
    if (isOver) return;
    if ([...open].some((other) => other.id === id)) twice.add(id);
    most = Math.max(most, open.add(seen).size);
  });
  server.on("connection", (socket) => socket.on("error", () => {}));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_counting`,
    requests,
    runs,
    most: () => most,
    twice,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
