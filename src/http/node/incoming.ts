// Reads requests of Node's HTTP without losing what was sent.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What Node keeps where `maxHeadersCount` is not set: 2,000 names and values, which is 1,000 lines. */
const DEFAULT_MAX = 2_000;

/**
 * Whether Node may have dropped header lines of a request, as it does without a word: it stops collecting once it
 * has as many as the server's `maxHeadersCount`. It collects 32 lines at a time, so a request of exactly that many
 * lines cannot be told from one of more.
 */
export function mayLackHeaders(request: IncomingMessage): boolean {
  // Every socket of a net.Server names it, and http.Server is one; the type does not say so.
  const { server } = (request.socket ?? {}) as { server?: { maxHeadersCount?: number | null } };
  const given = server?.maxHeadersCount;
  const max = typeof given === "number" ? given * 2 : DEFAULT_MAX;
  return max > 0 && request.rawHeaders.length >= max;
}

/** Bytes that a framework has read and kept, in the form of a request's body. */
export async function* keptBody(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

/**
 * The chunks of a request's body. A caller that leaves them early leaves the connection open for the answer, and
 * what still arrives is dropped. The stream's own iterator takes several times as long as all other work on a
 * small body.
 */
export function requestBody(request: IncomingMessage): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => chunksOf(request) };
}

const DONE: IteratorResult<Uint8Array> = { done: true, value: undefined };

/** How much of a body waits for its reader before the connection does. */
const MAX_WAITING_BYTES = 256 * 1024;

function chunksOf(request: IncomingMessage): AsyncIterator<Uint8Array> {
  const arrived: Uint8Array[] = [];
  let waiting = 0;
  const isBroken = comesAfterTheEnd(request) || (request.destroyed && !request.complete);
  let state: "open" | "ended" | "broken" = isBroken ? "broken" : "open";
  let wake = () => {};

  const onData = (chunk: Uint8Array) => {
    arrived.push(chunk);
    waiting += chunk.length;
    // A reader that is slower than its sender, such as a disk, would have all of it in memory.
    if (waiting >= MAX_WAITING_BYTES) hold(request);
    wake();
  };
  const onEnd = () => {
    state = "ended";
    wake();
  };
  const onBroken = () => {
    if (state === "open") state = "broken";
    wake();
  };
  if (!isBroken) request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);

  return {
    async next() {
      while (arrived.length === 0 && state === "open")
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const chunk = arrived.shift();
      waiting -= chunk?.length ?? 0;
      if (arrived.length === 0) letGo(request);
      if (chunk) return { done: false, value: chunk };
      if (state === "broken") throw new Error("the request broke off");
      return DONE;
    },
    async return() {
      request.off("data", onData);
      letGo(request);
      return DONE;
    },
  };
}

/** Requests that wait for their reader. */
const held = new WeakSet<IncomingMessage>();

function hold(request: IncomingMessage): void {
  held.add(request);
  request.pause();
}

function letGo(request: IncomingMessage): void {
  if (held.delete(request)) request.resume();
}

const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 2_000;

/** Connections whose end was announced: what still arrives is not processed (RFC 9112 section 9.6). */
const ending = new WeakSet<Socket>();

/** Node hands over requests that a client sent after one whose answer closed the connection. */
function comesAfterTheEnd(request: IncomingMessage): boolean {
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
  letGo(request); // its reader may have left
}
