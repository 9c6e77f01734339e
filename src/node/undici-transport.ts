import { EventEmitter } from "node:events";
import type { Readable } from "node:stream";
import type { HookproofError } from "../errors.js";
import type { Transport, TransportRequest, TransportResponse } from "../http/transport.js";
import { aborted, timedOut, transportError } from "../http/transport-errors-node.js";
import { headerPairs } from "./raw-headers.js";

/** An undici `Dispatcher` (`Agent`, `Pool`, `ProxyAgent`, `MockAgent`), as far as it is used here. */
export interface UndiciDispatcher {
  request(options: {
    origin: string;
    path: string;
    method: "GET" | "POST";
    headers: string[];
    body?: Uint8Array | null;
    signal: EventEmitter;
    headersTimeout: number;
    bodyTimeout: number;
    responseHeaders: "raw";
  }): Promise<{
    statusCode: number;
    /** With `responseHeaders: "raw"` a flat list of names and values. */
    headers: unknown;
    body: Readable;
  }>;
}

/**
 * A transport over an undici dispatcher of your own: its pool, proxy, CA and client certificates are used. It
 * connects by itself, so the address guard is its affair (`connect: { lookup: guardedLookup() }`).
 *
 * @throws {TypeError} for something that is not a dispatcher
 *
 * @example
 * ```ts
 * import { createSender, hmacSigner } from "hookproof";
 * import { type UndiciDispatcher, undiciTransport } from "hookproof/node";
 *
 * const senderOver = (dispatcher: UndiciDispatcher) =>
 *   createSender({
 *     url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
 *     signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }),
 *     transport: undiciTransport(dispatcher), // new Agent({ connections: 50 }), for example
 *   });
 * ```
 */
export function undiciTransport(dispatcher: UndiciDispatcher): Transport {
  if (typeof dispatcher?.request !== "function")
    throw new TypeError("dispatcher must be an undici Dispatcher");
  return async (request) => {
    if (request.signal?.aborted) throw aborted();
    // undici takes an emitter for a signal, which costs a fraction of an AbortSignal.
    const stop = new EventEmitter();
    let failure: HookproofError | undefined;
    const end = (reason: HookproofError) => {
      failure = reason;
      stop.emit("abort");
    };
    const onAbort = () => end(aborted());
    const timer = setTimeout(() => end(timedOut("complete answer", request.timeoutMs)), request.timeoutMs);
    request.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await exchange(dispatcher, request, stop);
    } catch (error) {
      throw failure ?? transportError(error as Error, request.url);
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", onAbort);
    }
  };
}

async function exchange(
  dispatcher: UndiciDispatcher,
  request: TransportRequest,
  signal: EventEmitter,
): Promise<TransportResponse> {
  const { origin, pathname, search } = new URL(request.url);
  const { statusCode, headers, body } = await dispatcher.request({
    origin,
    path: pathname + search,
    method: request.method as "GET" | "POST",
    headers: request.headers.flat(),
    body: request.body ?? null,
    signal,
    // The whole exchange is limited; undici's own limits would only say so earlier.
    headersTimeout: 0,
    bodyTimeout: 0,
    responseHeaders: "raw",
  });
  return {
    status: statusCode,
    headers: headerPairs(headers as string[]),
    ...(await readUpTo(body, request.maxResponseBytes)),
  };
}

function readUpTo(body: Readable, limit: number): Promise<{ body: Uint8Array; truncated: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (truncated: boolean) =>
      resolve({ body: Buffer.concat(chunks).subarray(0, limit), truncated });
    body.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= limit) return;
      finish(true);
      body.destroy(); // and with it the connection
    });
    body.on("end", () => finish(false));
    body.on("error", reject);
  });
}
