// Starts HTTP servers with limits for slow clients.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { ServerOptions as TlsServerOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { sendAnswer } from "hookproof/node";
import { harmless } from "./harmless.js";
import { KINDS } from "./options.js";
import { answerRefused, type RefusedByNode } from "./refused-by-node.js";

/** Where a local server listens. */
export interface ServerOptions {
  /** 0, the default, takes a free port. */
  port?: number | undefined;
  /** 127.0.0.1 by default; another address, such as `0.0.0.0` in a container, opens the server to others. */
  host?: string | undefined;
  /** Certificate and key in PEM, for HTTPS. */
  tls?: { cert: string; key: string } | undefined;
  /** How long slow clients are waited for. */
  limits?: ServerLimits | undefined;
  /** Called for every request that Node itself has refused, such as one with too many header bytes (431). */
  onRefused?: ((refused: RefusedByNode) => void) | undefined;
}

/** Slow clients are cut off after these, so that they cannot hold the others up. */
export interface ServerLimits {
  /** From the connection, or the end of the request before, to the end of the headers; 10,000 ms by default. */
  headersMs?: number | undefined;
  /** The same to the end of the body; 15,000 ms by default, and never less than `headersMs`. */
  requestMs?: number | undefined;
  /** How long a connection is kept for another request; 5,000 ms by default. */
  keepAliveMs?: number | undefined;
  /** How often the first two are looked at; 1,000 ms by default. */
  checkEveryMs?: number | undefined;
}

/** A server that is listening. */
export interface RunningServer {
  /** Scheme, host and port, without a trailing slash: where this machine reaches it. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets what is under way finish for a moment, then closes. */
  stop(): Promise<void>;
}

const STOP_AFTER_MS = 2_000;

/** What is spoken over TLS, the preferred one first: by itself, Node refuses who offers the older one alone. */
const SPOKEN = ["http/1.1", "http/1.0"];

/** Starts an HTTP server and resolves once it listens. A handler that throws or rejects is answered with 500. */
export async function startServer(
  handler: RequestListener,
  { port = 0, host = "127.0.0.1", tls, limits = {}, onRefused }: ServerOptions,
): Promise<RunningServer> {
  const { headersMs = 10_000, requestMs = 15_000, keepAliveMs = 5_000, checkEveryMs = 1_000 } = limits;
  const timeouts = {
    headersTimeout: headersMs,
    requestTimeout: Math.max(requestMs, headersMs),
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkEveryMs,
  };
  const latest = new WeakMap<Duplex, ServerResponse>();
  const listener = nothingAfterTheEnd(handler, latest);
  if (!KINDS.port[1](port)) throw new TypeError(`port must be ${KINDS.port[0]}`);
  if (!KINDS.text[1](host)) throw new TypeError(`host must be ${KINDS.text[0]}`);
  const server = tls
    ? await overTls({ ...timeouts, handshakeTimeout: headersMs, ALPNProtocols: SPOKEN, ...tls }, listener)
    : createServer(timeouts, listener);
  // Node drops every header line after the 2,000th, and with it the second of two that must not differ.
  // The 16 KiB for all headers stay the limit.
  server.maxHeadersCount = 0;
  server.on("timeout", closeUnlessAsked);
  if (onRefused) notifyRefused(server, latest, harmless(onRefused));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const words = inOptions(error, host, port);
      reject(words === undefined ? error : Object.assign(error, { message: words }));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `${tls ? "https" : "http"}://${reachable(address)}:${address.port}`,
    port: address.port,
    stop: () => stop(server),
  };
}

/** Starts a server on a port that was given; otherwise on its usual one, or on a free one where that is taken. */
export function startOnUsualPort(
  handler: RequestListener,
  { host, port }: Pick<ServerOptions, "host" | "port">,
  usualPort: number,
): Promise<RunningServer> {
  return startServer(handler, { host, port: port ?? usualPort }).catch((error: NodeJS.ErrnoException) => {
    if (port !== undefined || error.code !== "EADDRINUSE") throw error;
    return startServer(handler, { host, port: 0 });
  });
}

/** What is wrong with which option; the system's own words name none. */
function inOptions({ code = "" }: NodeJS.ErrnoException, host: string, port: number): string | undefined {
  if (["ENOTFOUND", "EADDRNOTAVAIL", "EAI_AGAIN"].includes(code))
    return `host ${host} is no address of this machine`;
  if (code === "EADDRINUSE") return `port ${port} is in use`;
  return code === "EACCES" ? `port ${port} may not be used by this user` : undefined;
}

/** A server over TLS, which is loaded by who serves over it. OpenSSL's own words name no option. */
async function overTls(options: TlsServerOptions, listener: RequestListener): Promise<Server> {
  const { createServer: createTlsServer } = await import("node:https");
  try {
    return createTlsServer(options, listener);
  } catch (cause) {
    throw new TypeError("tls.cert and tls.key must be a certificate in PEM and its private key", { cause });
  }
}

/** A name for an address in a URL; "all addresses" is none to connect to, and the loopback one is among them. */
function reachable({ address, family }: AddressInfo): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  if (address === "::") return "[::1]";
  return family === "IPv6" ? `[${address}]` : address;
}

/** A handler that is loaded when the first request asks for it, so that a server starts without it. */
export function loadedWhenAsked(load: () => Promise<RequestListener>): RequestListener {
  let loading: Promise<RequestListener> | undefined;
  return async (req, res) => {
    loading ??= load();
    return (await loading)(req, res);
  };
}

/** The answer of a server whose routes are not made yet. */
export function answerNotReady(req: IncomingMessage, res: ServerResponse): void {
  sendAnswer({ status: 503, headers: [], body: "" }, req, res);
}

/**
 * Node hands over requests that a client has sent behind one whose answer closed the connection. None of them can be
 * answered, so none of them is run (RFC 9112 section 9.6).
 */
function nothingAfterTheEnd(
  handler: RequestListener,
  latest: WeakMap<Duplex, ServerResponse>,
): RequestListener {
  const handled = harmless(handler, (_error, req, res) => {
    if (res.headersSent) res.destroy();
    else sendAnswer({ status: 500, headers: [], body: "" }, req, res);
  });
  return (req, res) => {
    const before = latest.get(req.socket);
    const isClosing = before?.headersSent === true && before.getHeader("connection") === "close";
    if (isClosing || req.socket.destroyed) return;
    latest.set(req.socket, res);
    handled(req, res);
  };
}

/**
 * Closes a connection that has been idle for too long. Node looks at its timers before it reads: after the thread was
 * busy, a request may have arrived in time and be unread, and a close would be a reset for its client.
 */
function closeUnlessAsked(socket: Socket): void {
  const { bytesRead } = socket;
  // What has arrived is read before immediates run; it starts the timer again.
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy();
  });
}

type OnRefused = NonNullable<ServerOptions["onRefused"]>;

/** Notifies an inspector and whoever else asked; neither keeps the other from it. */
export function notifyAll(...asked: readonly (OnRefused | undefined)[]): OnRefused | undefined {
  const callbacks = asked.filter((one) => one !== undefined).map((one) => harmless(one));
  if (callbacks.length === 0) return undefined;
  return (refused) => {
    for (const one of callbacks) one(refused);
  };
}

/** Reports what Node's parser refuses. A request whose handler is at work is that handler's to report. */
function notifyRefused(
  server: Server,
  latest: WeakMap<Duplex, ServerResponse>,
  notify: (refused: RefusedByNode) => void,
): void {
  server.on("clientError", (error, socket) => {
    const underWay = latest.get(socket)?.writableEnded === false;
    if (underWay && latest.get(socket)?.headersSent) socket.destroy(error);
    else {
      const refused = answerRefused(error, socket as Socket);
      if (refused && !underWay) notify(refused);
    }
  });
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), STOP_AFTER_MS);
  await closed;
  clearTimeout(timer);
}
