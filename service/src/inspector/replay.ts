// Sends requests again and knows them when they come in.
import type { HeaderPair } from "hookproof";
import { InspectorError } from "../page/inspector-error.js";
import type { ReplayOrder, ReplayResult, TestEventResult } from "./contract.js";
import { type Entry, headerValues, onlyHeader } from "./entry.js";
import { postRaw, type RawRequest } from "./post-raw.js";
import type { Origin } from "./record-request.js";
import { replayRequest, testRequest } from "./replay-request.js";
import type { WatchedListener } from "./watched-listener.js";

/** A request of the page that is under way. */
interface UnderWay {
  readonly origin: Origin;
  /** Its id, timestamp and proof, once they are made. */
  key: string | undefined;
  /** Its number, once it has come in. */
  n: number | undefined;
}

/** Sends requests again over HTTP, and knows them when they come in. */
interface Replays {
  send(entry: Entry, order: ReplayOrder, listener: WatchedListener): Promise<ReplayResult>;
  /** Sends an event that is signed as the listener demands. */
  sendTest(listener: WatchedListener, body?: string): Promise<TestEventResult>;
  /** What a request of the page is, by its id, timestamp and proof. */
  recognise(headers: readonly HeaderPair[]): UnderWay | undefined;
}

const MAX_AT_ONCE = 8;

/** Replays, with those that are under way. */
export function createReplays(): Replays {
  const underWay = new Set<UnderWay>();

  async function post(made: () => Promise<RawRequest>, origin: Origin): Promise<TestEventResult> {
    if (underWay.size >= MAX_AT_ONCE)
      throw new InspectorError(503, "REPLAYS_BUSY", `${MAX_AT_ONCE} replays are under way already.`);
    const own: UnderWay = { origin, key: undefined, n: undefined };
    underWay.add(own);
    try {
      return await sent(await made(), own);
    } finally {
      underWay.delete(own);
    }
  }

  async function sent(request: RawRequest, own: UnderWay): Promise<TestEventResult> {
    own.key = keyOf(request.headers);
    const started = performance.now();
    const answer = await postRaw(request);
    const eventId = onlyHeader(request.headers, "Webhook-Event-Id");
    return {
      ...answer,
      ...(eventId === undefined ? {} : { eventId }),
      ...(own.n === undefined ? {} : { n: own.n }),
      durationMs: Math.round(performance.now() - started),
    };
  }

  return {
    async send(entry, order, listener) {
      const { kind } = order;
      const replay = { of: entry.row.n, kind };
      return { kind, ...(await post(() => replayRequest(entry, order, listener), { replay })) };
    },
    sendTest: (listener, body) => post(() => testRequest(listener, body), { isTest: true }),
    recognise(headers) {
      if (underWay.size === 0) return undefined;
      const key = keyOf(headers);
      // Of copies that are alike each one that comes in is the next of them.
      return [...underWay].find((one) => one.key === key && one.n === undefined);
    },
  };
}

function keyOf(headers: readonly HeaderPair[]): string {
  return JSON.stringify(
    // The User-Agent of a test event is its own, as not every scheme has its proof in these header lines.
    ["Webhook-Event-Id", "Webhook-Timestamp", "Webhook-Signature", "Authorization", "User-Agent"].map(
      (name) => headerValues(headers, name),
    ),
  );
}
