import type { IncomingMessage } from "node:http";
import type { HeaderPair } from "../protocol/headers.js";

/** What Node keeps where `maxHeadersCount` is not set: 2,000 names and values, which is 1,000 lines. */
const DEFAULT_MOST = 2_000;

/**
 * Whether Node may have dropped header lines of a request, as it does without a word: it stops collecting once it
 * has as many as the server's `maxHeadersCount`. It collects 32 lines at a time, so that a request of exactly so many
 * lines cannot be told from one of more.
 */
export function mayLackHeaders(request: IncomingMessage): boolean {
  // http.Server is a net.Server, which every socket names; the type does not know of it.
  const { server } = (request.socket ?? {}) as { server?: { maxHeadersCount?: number | null } };
  const given = server?.maxHeadersCount;
  const most = typeof given === "number" ? given * 2 : DEFAULT_MOST;
  return most > 0 && request.rawHeaders.length >= most;
}

/** Node's flat list of header names and values as pairs, in order and with nothing merged or dropped. */
export function headerPairs(rawHeaders: readonly string[]): HeaderPair[] {
  const pairs: HeaderPair[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    pairs.push([rawHeaders[i] as string, rawHeaders[i + 1] as string]);
  return pairs;
}
