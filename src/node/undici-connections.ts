import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { type CountingSocket, tooMuchAhead, watchBytesAhead } from "../http/bytes-ahead-node.js";

/** What undici tells when it writes a request's headers. */
interface Sent {
  readonly request: {
    readonly method: string;
    readonly origin: unknown;
    readonly completed: boolean;
    readonly aborted: boolean;
  };
  readonly socket: Socket & { readonly alpnProtocol?: unknown };
}

/** The exchange whose request is being written in this very turn. */
let starting: ((socket: CountingSocket) => void) | undefined;
const proxies = new Set<string>();
let listens = false;

/**
 * undici shows a connection in its diagnostics only: between the start of a request and the end of that turn, what is
 * written is the request that started.
 */
export function takeConnection(onSocket: (socket: CountingSocket) => void): void {
  starting = onSocket;
  queueMicrotask(() => {
    if (starting === onSocket) starting = undefined;
  });
}

/** Listens to undici, from the first dispatcher on; the answers of this one's proxy to CONNECT are bounded too. */
export function watchConnections(dispatcher: object): void {
  const proxy = proxyOf(dispatcher);
  if (proxy) proxies.add(proxy);
  if (listens) return;
  listens = true;
  subscribe("undici:client:sendHeaders", (message) => {
    const { request, socket } = message as Sent;
    const onSocket = starting;
    starting = undefined;
    if (socket.alpnProtocol === "h2") return; // many requests, and nothing that is skipped unseen
    if (onSocket) onSocket(socket);
    else if (request.method === "CONNECT" && proxies.has(String(request.origin))) {
      // Nothing else ends it: the exchange that it is for has not begun yet.
      const isOver = () => request.completed || request.aborted;
      watchBytesAhead(socket, () => socket.destroy(tooMuchAhead()), isOver);
      // After an error of this code undici connects again at once, for as long as its request waits, and that may be
      // for ever: an exchange that has not begun cannot be taken back. After any other one it gives up.
      socket.prependListener("error", (error: NodeJS.ErrnoException) => {
        if (!isOver() && error.code === "UND_ERR_SOCKET") error.code = "ERR_PROXY_CONNECT";
      });
    }
  });
}

/** The origin of a `ProxyAgent`'s proxy, which stands under a symbol. */
function proxyOf(dispatcher: object): string | undefined {
  const symbol = Object.getOwnPropertySymbols(dispatcher).find(
    ({ description }) => description === "proxy agent options",
  );
  const known = symbol && (dispatcher as Record<symbol, { uri?: unknown } | undefined>)[symbol];
  return typeof known?.uri === "string" ? new URL(known.uri).origin : undefined;
}
