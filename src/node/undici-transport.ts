import { HookproofError } from "../errors.js";
import type { Transport, TransportRequest, TransportResponse } from "../http/transport.js";
import { aborted, timedOut, transportError } from "../http/transport-errors-node.js";
import { concatBytes } from "../primitives/bytes.js";
import { headerPairs } from "./raw-headers.js";

/** An undici `Dispatcher` (`Agent`, `Pool`, `ProxyAgent`, `MockAgent`), as far as it is used here. */
export interface UndiciDispatcher {
  request(options: {
    origin: string;
    path: string;
    method: "GET" | "POST";
    headers: string[];
    body?: Uint8Array | null;
    signal: AbortSignal;
    headersTimeout: number;
    bodyTimeout: number;
    responseHeaders: "raw";
  }): Promise<{
    statusCode: number;
    /** With `responseHeaders: "raw"` a flat list of names and values. */
    headers: unknown;
    body: AsyncIterable<Uint8Array>;
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
    const timeout = AbortSignal.timeout(Math.ceil(request.timeoutMs));
    try {
      return await exchange(dispatcher, request, timeout);
    } catch (error) {
      if (request.signal?.aborted) throw aborted();
      if (timeout.aborted) throw timedOut("complete answer", request.timeoutMs);
      throw error instanceof Error
        ? transportError(error, request.url)
        : new HookproofError("CONNECTION_FAILED", "The dispatcher failed.", { cause: error });
    }
  };
}

async function exchange(
  dispatcher: UndiciDispatcher,
  request: TransportRequest,
  timeout: AbortSignal,
): Promise<TransportResponse> {
  const { origin, pathname, search } = new URL(request.url);
  const { statusCode, headers, body } = await dispatcher.request({
    origin,
    path: pathname + search,
    method: request.method as "GET" | "POST",
    headers: request.headers.flat(),
    body: request.body ?? null,
    signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
    // The whole exchange is limited; undici's own limits would only say so earlier.
    headersTimeout: 0,
    bodyTimeout: 0,
    responseHeaders: "raw",
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > request.maxResponseBytes) break; // leaving the loop closes the connection
  }
  return {
    status: statusCode,
    headers: headerPairs(headers as string[]),
    body: concatBytes(chunks).subarray(0, request.maxResponseBytes),
    truncated: length > request.maxResponseBytes,
  };
}
