import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 2_000;

/** Connections whose end was announced: what still arrives is not processed (RFC 9112 section 9.6). */
const ending = new WeakSet<Socket>();

/** The chunks of a request's body; leaving them early leaves the connection open for the answer. */
export function requestChunks(request: IncomingMessage): AsyncIterable<Uint8Array> {
  if (ending.has(request.socket)) return brokenOff();
  return request.iterator({ destroyOnReturn: false });
}

/** Node hands over requests that a client sent after one whose answer closed the connection. */
// biome-ignore lint/correctness/useYield: the body of such a request has no chunk, only an end
async function* brokenOff(): AsyncIterable<Uint8Array> {
  throw new Error("the connection was closed before this request");
}

/**
 * Prepares the end of a connection whose request has not been read to its end: the answer says so, and what
 * still arrives is read for a moment and dropped, or the client would see a reset instead of the answer.
 */
export function closeAfterAnswer(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  response.setHeader("Connection", "close");
  const { socket } = request;
  ending.add(socket);
  let dropped = 0;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > LINGER_BYTES) socket.destroy();
  });
}
