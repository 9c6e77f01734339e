import type { IncomingMessage } from "node:http";
import { comesAfterTheEnd } from "./unread-body.js";

/**
 * The chunks of a request's body; leaving them early leaves the connection open for the answer, and what still
 * arrives is dropped. The stream's own iterator costs several times as much as everything else in reading a
 * small body.
 */
export function requestBody(request: IncomingMessage): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => chunksOf(request) };
}

/** Bytes that a framework has read and kept, in the same form. */
export async function* keptBody(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

const DONE: IteratorResult<Uint8Array> = { done: true, value: undefined };

function chunksOf(request: IncomingMessage): AsyncIterator<Uint8Array> {
  const arrived: Uint8Array[] = [];
  const isBroken = comesAfterTheEnd(request) || (request.destroyed && !request.complete);
  let state: "open" | "ended" | "broken" = isBroken ? "broken" : "open";
  let wake = () => {};

  const onData = (chunk: Uint8Array) => {
    arrived.push(chunk);
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
      if (chunk) return { done: false, value: chunk };
      if (state === "broken") throw new Error("the request broke off");
      return DONE;
    },
    async return() {
      request.off("data", onData);
      return DONE;
    },
  };
}
