// Tells connected pages of every change.
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { InspectorError } from "../page/inspector-error.js";
import { type InspectorEvents, LIMITS, type RequestRow } from "./contract.js";

/** What the feed tells of: it is asked at the moment of sending, so nothing waits in a queue. */
interface FeedSource {
  row(n: number): RequestRow | undefined;
  droppedUpTo(): number;
  forced(): InspectorEvents["forced"];
  /** What became of the calls with these numbers. */
  calls(numbers: readonly number[]): InspectorEvents["calls"];
}

interface Feed {
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
interface FeedOptions {
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
  return new ChangeFeed(source, options);
}

class ChangeFeed implements Feed {
  readonly instance = randomBytes(6).toString("base64url");
  readonly #source: FeedSource;
  readonly #batchMs: number;
  readonly #stalledMs: number;
  readonly #maxClients: number;
  readonly #maxChanges: number;
  readonly #clients = new Set<Client>();
  /** The newest changes; the first of them has the number `#forgotten` + 1. */
  #changes: Change[] = [];
  #forgotten = 0;
  #batch: NodeJS.Timeout | undefined;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(source: FeedSource, options: FeedOptions) {
    this.#source = source;
    this.#batchMs = options.batchMs ?? LIMITS.batchMs;
    this.#stalledMs = options.stalledMs ?? 30_000;
    this.#maxClients = options.maxClients ?? 32;
    this.#maxChanges = options.maxChanges ?? 4 * LIMITS.requests;
    this.#heartbeat = setInterval(() => this.#beat(), options.heartbeatMs ?? LIMITS.heartbeatMs).unref();
  }

  get lastEventId(): string {
    return this.#idOf(this.#count());
  }

  rowChanged(n: number): void {
    this.#changed(n);
  }

  dropped(): void {
    this.#changed("dropped");
  }

  forcedChanged(): void {
    this.#changed("forced");
  }

  callsChanged(call?: number): void {
    this.#changed({ call });
  }

  follow(response: ServerResponse, after: string | undefined): void {
    if (this.#clients.size >= this.#maxClients)
      throw new InspectorError(503, "TOO_MANY_PAGES", `${this.#maxClients} pages are connected already.`);
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      // Proxies of development servers would collect events otherwise.
      "X-Accel-Buffering": "no",
    });
    const seen = this.#seenBy(after);
    const client: Client = { response, seen: seen ?? this.#count(), blockedSince: undefined };
    this.#clients.add(client);
    response.once("close", () => this.#clients.delete(client));
    this.#write(client, "retry: 1000\n\n");
    if (after !== undefined && seen === undefined)
      this.#write(client, eventText("reset", {}, this.#idOf(client.seen)));
    this.#sendTo(client);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#batch);
    for (const { response } of this.#clients) response.end();
  }

  #count(): number {
    return this.#forgotten + this.#changes.length;
  }

  #idOf(change: number): string {
    return `${this.instance}.${change}`;
  }

  /** How far a client is; undefined where the id is of another run of the server, or none. */
  #seenBy(id: string | undefined): number | undefined {
    const [of, change = ""] = id?.split(".") ?? [];
    if (of !== this.instance || !/^[0-9]{1,15}$/.test(change)) return undefined;
    return Number(change) <= this.#count() ? Number(change) : undefined;
  }

  #changed(change: Change): void {
    this.#changes.push(change);
    // Twice as many are let grow, so that the list is not copied for every change.
    if (this.#changes.length > 2 * this.#maxChanges) {
      this.#forgotten += this.#changes.length - this.#maxChanges;
      this.#changes = this.#changes.slice(-this.#maxChanges);
    }
    if (this.#clients.size > 0) this.#batch ??= setTimeout(() => this.#sendAll(), this.#batchMs).unref();
  }

  #sendAll(): void {
    this.#batch = undefined;
    for (const client of this.#clients) this.#sendTo(client);
  }

  #sendTo(client: Client): void {
    while (client.seen < this.#count() && client.blockedSince === undefined) {
      if (client.seen < this.#forgotten) {
        client.seen = this.#count();
        this.#write(client, eventText("reset", {}, this.#idOf(client.seen)));
        return;
      }
      const from = client.seen - this.#forgotten;
      const news = this.#changes.slice(from, from + LIMITS.pageRows);
      client.seen += news.length;
      this.#write(client, this.#batchText(news, this.#idOf(client.seen)));
    }
  }

  /** Some changes as events; the last one has the id, so that a torn batch is sent again. */
  #batchText(news: readonly Change[], id: string): string {
    const numbers = new Set(news.filter((change) => typeof change === "number"));
    const rows = [...numbers].flatMap((n) => this.#source.row(n) ?? []);
    const calls = news.filter((change) => typeof change === "object").map(({ call }) => call);
    return [
      rows.length > 0 ? eventText("rows", { rows }) : "",
      news.includes("forced") ? eventText("forced", this.#source.forced()) : "",
      calls.length > 0 ? eventText("calls", this.#source.calls(calls.filter((n) => n !== undefined))) : "",
      eventText("dropped", { upTo: this.#source.droppedUpTo() }, id),
    ].join("");
  }

  #write(client: Client, text: string): void {
    if (client.response.write(text)) return;
    client.blockedSince = Date.now();
    client.response.once("drain", () => {
      client.blockedSince = undefined;
      this.#sendTo(client);
    });
  }

  #beat(): void {
    for (const client of this.#clients) {
      if (client.blockedSince === undefined) this.#write(client, ": still here\n\n");
      else if (Date.now() - client.blockedSince >= this.#stalledMs) client.response.destroy();
    }
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
