import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { sendAnswer } from "hookproof/node";
import { harmless } from "./harmless.js";

/** Where a local server listens. */
export interface ServerOptions {
  /** 0, the default, takes a free port. */
  port?: number | undefined;
  /** 127.0.0.1 by default; anything else opens the server to others. */
  host?: string | undefined;
  /** Certificate and key in PEM, for HTTPS. */
  tls?: { cert: string; key: string } | undefined;
  /** How long slow clients are waited for. */
  limits?: ServerLimits | undefined;
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
  /** Scheme, host and port, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets what is under way finish for a moment, then closes. */
  stop(): Promise<void>;
}

const STOP_AFTER_MS = 2_000;

/** Starts an HTTP server and resolves once it listens. A handler that throws or rejects is answered with 500. */
export async function startServer(
  handler: RequestListener,
  { port = 0, host = "127.0.0.1", tls, limits = {} }: ServerOptions,
): Promise<RunningServer> {
  const { headersMs = 10_000, requestMs = 15_000, keepAliveMs = 5_000, checkEveryMs = 1_000 } = limits;
  const timeouts = {
    headersTimeout: headersMs,
    requestTimeout: Math.max(requestMs, headersMs),
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkEveryMs,
  };
  const listener = nothingAfterTheEnd(handler);
  const server = tls
    ? createTlsServer({ ...timeouts, handshakeTimeout: headersMs, ...tls }, listener)
    : createServer(timeouts, listener);
  // Node drops every header line after the 2,000th, and with it the second of two that must not differ.
  // The 16 KiB for all headers stay the limit.
  server.maxHeadersCount = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    url: `${tls ? "https" : "http"}://${name}:${address.port}`,
    port: address.port,
    stop: () => stop(server),
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
function nothingAfterTheEnd(handler: RequestListener): RequestListener {
  const handled = harmless(handler, (_error, req, res) => {
    if (res.headersSent) res.destroy();
    else sendAnswer({ status: 500, headers: [], body: "" }, req, res);
  });
  const latest = new WeakMap<Socket, ServerResponse>();
  return (req, res) => {
    const before = latest.get(req.socket);
    const isClosing = before?.headersSent === true && before.getHeader("connection") === "close";
    if (isClosing || req.socket.destroyed) return;
    latest.set(req.socket, res);
    handled(req, res);
  };
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), STOP_AFTER_MS);
  await closed;
  clearTimeout(timer);
}
