import type { HeaderPair } from "hookproof";
import type { ReplayOrder, ReplayResult, RequestRow } from "./contract.js";
import { type Entry, headerValues, onlyHeader } from "./entry.js";
import { InspectorError } from "./inspector-error.js";
import { postRaw } from "./post-raw.js";
import { replayRequest } from "./replay-request.js";
import type { WatchedListener } from "./watched-listener.js";

/** A replay that is under way. */
interface UnderWay {
  readonly replay: NonNullable<RequestRow["replay"]>;
  /** Its number, once it has come in. */
  n: number | undefined;
}

/** Sends requests again over HTTP, and knows them when they come in. */
export interface Replays {
  send(entry: Entry, order: ReplayOrder, listener: WatchedListener): Promise<ReplayResult>;
  /** The replay that a request belongs to, by its id, timestamp and proof. */
  recognise(headers: readonly HeaderPair[]): UnderWay | undefined;
}

const MOST_AT_ONCE = 8;

/** Replays, with those that are under way. */
export function createReplays(): Replays {
  const underWay = new Map<string, UnderWay>();
  return {
    async send(entry, order, listener) {
      if (underWay.size >= MOST_AT_ONCE)
        throw new InspectorError(503, "REPLAYS_BUSY", `${MOST_AT_ONCE} replays are under way already.`);
      const request = await replayRequest(entry, order, listener);
      const { kind } = order;
      const key = keyOf(request.headers);
      const own: UnderWay = { replay: { of: entry.row.n, kind }, n: undefined };
      underWay.set(key, own);
      const started = performance.now();
      try {
        const answer = await postRaw(request);
        const eventId = onlyHeader(request.headers, "Webhook-Event-Id");
        return {
          kind,
          ...answer,
          ...(eventId === undefined ? {} : { eventId }),
          ...(own.n === undefined ? {} : { n: own.n }),
          durationMs: Math.round(performance.now() - started),
        };
      } finally {
        underWay.delete(key);
      }
    },
    recognise: (headers) => (underWay.size === 0 ? undefined : underWay.get(keyOf(headers))),
  };
}

function keyOf(headers: readonly HeaderPair[]): string {
  return JSON.stringify(
    ["Webhook-Event-Id", "Webhook-Timestamp", "Webhook-Signature", "Authorization"].map((name) =>
      headerValues(headers, name),
    ),
  );
}
