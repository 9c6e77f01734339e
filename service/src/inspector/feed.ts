// Tells connected pages of every change.
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type InspectorEvents, LIMITS, type RequestRow } from "./contract.js";
import { InspectorError } from "./inspector-error.js";

/** What the feed tells of: it is asked at the moment of sending, so nothing waits in a queue. */
export interface FeedSource {
  row(n: number): RequestRow | undefined;
  droppedUpTo(): number;
  forced(): InspectorEvents["forced"];
  /** What became of the calls with these numbers. */
  calls(numbers: readonly number[]): InspectorEvents["calls"];
}

/** Tells connected pages of every change. */
export interface Feed {
  /** Names this run of the server in event ids. */
  readonly instance: string;
  /** The id of the last change. */
  readonly lastEventId: string;
  /** A row is new or another one. */
  rowChanged(n: number): void;
  dropped(): void;
  forcedChanged(): void;
  /** A call is new, or, without a number, calls were dropped. */
  callsChanged(n?: number): void;
  /** Answers with the events behind an id, and goes on until the client or the server ends it. */
  follow(response: ServerResponse, after: string | undefined): void;
  close(): void;
}

/** Options of `createFeed`, for tests. */
export interface FeedOptions {
  batchMs?: number | undefined;
  heartbeatMs?: number | undefined;
  /** How long a client may leave what was sent to it unread. */
  stalledMs?: number | undefined;
  maxClients?: number | undefined;
  /** How many changes a client may be behind. */
  maxChanges?: number | undefined;
}

type Change = number | "dropped" | "forced" | { readonly call: number | undefined };

interface Client {
  readonly response: ServerResponse;
  /** The changes it has been sent. */
  seen: number;
  /** Since when it has not read what was sent. */
  blockedSince: number | undefined;
}

/**
 * A feed of changes. A client that reads slowly gets the newest state of each row later: only numbers of rows
 * are remembered, nothing is buffered for it, and one that reads nothing at all is cut off.
 */
export function createFeed(source: FeedSource, options: FeedOptions = {}): Feed {
  const {
    batchMs = LIMITS.batchMs,
    heartbeatMs = LIMITS.heartbeatMs,
    stalledMs = 30_000,
    maxClients = 32,
    maxChanges = 4 * LIMITS.requests,
  } = options;
  const instance = randomBytes(6).toString("base64url");
  const clients = new Set<Client>();
  /** The newest changes; the first of them has the number `forgotten` + 1. */
  let changes: Change[] = [];
  let forgotten = 0;
  let batch: NodeJS.Timeout | undefined;
  const heartbeat = setInterval(beat, heartbeatMs).unref();

  const count = () => forgotten + changes.length;
  const idOf = (change: number) => `${instance}.${change}`;

  function changed(change: Change): void {
    changes.push(change);
    // Twice as many are let grow, so that the list is not copied for every change.
    if (changes.length > 2 * maxChanges) {
      forgotten += changes.length - maxChanges;
      changes = changes.slice(-maxChanges);
    }
    if (clients.size > 0) batch ??= setTimeout(sendAll, batchMs).unref();
  }

  function sendAll(): void {
    batch = undefined;
    for (const client of clients) sendTo(client);
  }

  function sendTo(client: Client): void {
    while (client.seen < count() && client.blockedSince === undefined) {
      if (client.seen < forgotten) {
        client.seen = count();
        write(client, eventText("reset", {}, idOf(client.seen)));
        return;
      }
      const news = changes.slice(client.seen - forgotten, client.seen - forgotten + LIMITS.pageRows);
      client.seen += news.length;
      write(client, batchText(news, idOf(client.seen)));
    }
  }

  /** Some changes as events; the last one has the id, so that a torn batch is sent again. */
  function batchText(news: readonly Change[], id: string): string {
    const numbers = new Set(news.filter((change) => typeof change === "number"));
    const rows = [...numbers].flatMap((n) => source.row(n) ?? []);
    const calls = news.filter((change) => typeof change === "object").map(({ call }) => call);
    return [
      rows.length > 0 ? eventText("rows", { rows }) : "",
      news.includes("forced") ? eventText("forced", source.forced()) : "",
      calls.length > 0 ? eventText("calls", source.calls(calls.filter((n) => n !== undefined))) : "",
      eventText("dropped", { upTo: source.droppedUpTo() }, id),
    ].join("");
  }

  function write(client: Client, text: string): void {
    if (client.response.write(text)) return;
    client.blockedSince = Date.now();
    client.response.once("drain", () => {
      client.blockedSince = undefined;
      sendTo(client);
    });
  }

  function beat(): void {
    for (const client of clients) {
      if (client.blockedSince === undefined) write(client, ": still here\n\n");
      else if (Date.now() - client.blockedSince >= stalledMs) client.response.destroy();
    }
  }

  return {
    instance,
    get lastEventId() {
      return idOf(count());
    },
    rowChanged: (n) => changed(n),
    dropped: () => changed("dropped"),
    forcedChanged: () => changed("forced"),
    callsChanged: (call) => changed({ call }),
    follow(response, after) {
      if (clients.size >= maxClients)
        throw new InspectorError(503, "TOO_MANY_PAGES", `${maxClients} pages are connected already.`);
      response.writeHead(200, {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store",
        // Proxies of development servers would collect events otherwise.
        "X-Accel-Buffering": "no",
      });
      const client: Client = { response, seen: seenBy(after) ?? count(), blockedSince: undefined };
      clients.add(client);
      response.once("close", () => clients.delete(client));
      write(client, "retry: 1000\n\n");
      if (after !== undefined && seenBy(after) === undefined)
        write(client, eventText("reset", {}, idOf(client.seen)));
      sendTo(client);
    },
    close() {
      clearInterval(heartbeat);
      clearTimeout(batch);
      for (const { response } of clients) response.end();
    },
  };

  /** How far a client is; undefined where the id is of another run of the server, or none. */
  function seenBy(id: string | undefined): number | undefined {
    const [of, change = ""] = id?.split(".") ?? [];
    if (of !== instance || !/^[0-9]{1,15}$/.test(change)) return undefined;
    return Number(change) <= count() ? Number(change) : undefined;
  }
}

function eventText<Name extends keyof InspectorEvents>(
  name: Name,
  data: InspectorEvents[Name],
  id?: string,
): string {
  const event = `event: ${name}\ndata: ${JSON.stringify(data)}\n`;
  return `${event}${id === undefined ? "" : `id: ${id}\n`}\n`;
}
