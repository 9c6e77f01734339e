import type { Transport } from "../http/transport.js";
import { aborted } from "../http/transport-errors-node.js";
import { asUnsent } from "../http/unsent.js";
import { rememberLast } from "../primitives/remember-last.js";
import type { HeaderPair } from "../protocol/headers.js";
import { watchConnections } from "./undici-connections.js";
import { UndiciExchange } from "./undici-exchange.js";

/** An undici `Dispatcher` (`Agent`, `Pool`, `ProxyAgent`, `MockAgent`), as far as it is used here. */
export interface UndiciDispatcher {
  dispatch(
    options: {
      origin: string;
      path: string;
      method: "GET" | "POST";
      headers: string[];
      body: Uint8Array | null;
      headersTimeout: number;
      bodyTimeout: number;
    },
    handler: object,
  ): boolean;
}

/**
 * A transport over an undici dispatcher of your own: its pool, proxy, CA and client certificates are used. It
 * connects by itself, so the address guard is its affair (`connect: { lookup: guardedLookup() }`). undici does not show
 * the connection, so no answer is called authenticated, and no `Date` of it moves a clock.
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
  if (typeof dispatcher?.dispatch !== "function")
    throw new TypeError("dispatcher must be an undici Dispatcher");
  const locate = rememberLast(targetOf); // a sender has only one
  watchConnections(dispatcher);
  const { name } = dispatcher.constructor;
  // EnvHttpProxyAgent does not show for which URLs it has a proxy.
  const proxied = name === "EnvHttpProxyAgent" ? "perhaps" : /Proxy/.test(name) && "always";
  return (request) =>
    new Promise((resolve, reject) => {
      if (request.signal?.aborted) throw asUnsent(aborted());
      const { origin, path } = locate(request.url);
      const exchange = new UndiciExchange(request, { resolve, reject, proxied });
      const options = {
        origin,
        path,
        method: request.method as "GET" | "POST",
        headers: lines(request.headers),
        body: request.body ?? null,
        // The whole exchange is limited; undici's own limits would only say so earlier.
        headersTimeout: 0,
        bodyTimeout: 0,
      };
      try {
        dispatcher.dispatch(options, exchange);
      } catch (error) {
        exchange.onError(error as Error);
      }
    });
}

function targetOf(url: string): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

function lines(headers: readonly HeaderPair[]): string[] {
  const flat: string[] = [];
  for (const [name, value] of headers) flat.push(name, value);
  return flat;
}
