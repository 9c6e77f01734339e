import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 2_000;

/** Connections whose end was announced: what still arrives is not processed (RFC 9112 section 9.6). */
const ending = new WeakSet<Socket>();

/** Node hands over requests that a client sent after one whose answer closed the connection. */
export function comesAfterTheEnd(request: IncomingMessage): boolean {
  return ending.has(request.socket);
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
