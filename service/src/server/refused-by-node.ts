// Answers what Node's HTTP parser refused.
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

/** A request that Node's HTTP parser refused, so that no handler saw it. */
export interface RefusedByNode {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What was answered: 400, 408, 413 or 431. */
  readonly status: number;
  /** The parser's own code, such as `HPE_HEADER_OVERFLOW`. */
  readonly code: string;
  /** Why, in words. */
  readonly reason: string;
  /** The last bytes that came, as they came; empty where Node keeps none. */
  readonly bytes: Buffer;
  readonly sourceAddress: string | undefined;
}

/** What Node's `clientError` comes with. */
interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const WORDS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "Node refused it: the request line and header lines have more than 16 KiB.",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "Node refused it: a chunk of the body has an extension of more than 16 KiB.",
  ERR_HTTP_REQUEST_TIMEOUT: "Node gave up: the header lines did not end in time.",
  HPE_INVALID_EOF_STATE: "The connection ended in the middle of the request.",
};

/** Answers as Node does when nobody listens to `clientError`; what was refused, or undefined where nothing was. */
export function answerRefused(error: ClientError, socket: Socket): RefusedByNode | undefined {
  const { code = "unknown", reason, rawPacket = Buffer.alloc(0) } = error;
  const status = STATUS[code] ?? 400;
  const sourceAddress = socket.remoteAddress;
  // A failed TLS handshake comes this way too: there was no request, and nothing can be answered.
  const isOfParser = code.startsWith("HPE_") || code.startsWith("ERR_HTTP_");
  const isLost = !socket.writable || !isOfParser;
  if (!isLost) socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
  socket.destroy(error);
  if (isLost) return undefined;
  const words = WORDS[code] ?? `Node refused it: it is no HTTP/1.1 request (${reason ?? code}).`;
  return { at: Date.now(), status, code, reason: words, bytes: rawPacket, sourceAddress };
}
