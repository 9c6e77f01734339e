// The header lines of a request that may go on to another server.
import type { HeaderPair } from "hookproof";

/** Headers that belong to one connection, or that are made again for the next. */
const HOP_BY_HOP = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * The header lines of a request that go on with it to another server.
 *
 * @example
 * ```ts
 * import { endToEndHeaders } from "hookproof-service";
 *
 * endToEndHeaders([["Host", "127.0.0.1"], ["Webhook-Timestamp", "1767225600"]]); // the second alone
 * ```
 */
export function endToEndHeaders(headers: readonly HeaderPair[]): HeaderPair[] {
  return headers.filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()));
}
