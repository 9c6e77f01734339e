import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

/** Where a local server listens. */
export interface ServerOptions {
  /** 0, the default, takes a free port. */
  port?: number | undefined;
  /** 127.0.0.1 by default; anything else opens the server to others. */
  host?: string | undefined;
  /** Certificate and key in PEM, for HTTPS. */
  tls?: { cert: string; key: string } | undefined;
}

/** A server that is listening. */
export interface RunningServer {
  /** Scheme, host and port, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets what is under way finish for a moment, then closes. */
  stop(): Promise<void>;
}

/** Slow clients are cut off after these, so that they cannot hold the others up. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};
const STOP_AFTER_MS = 2_000;

/** Starts an HTTP server and resolves once it listens. */
export async function startServer(
  handler: RequestListener,
  { port = 0, host = "127.0.0.1", tls }: ServerOptions,
): Promise<RunningServer> {
  const server = tls ? createTlsServer({ ...LIMITS, ...tls }, handler) : createServer(LIMITS, handler);
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

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), STOP_AFTER_MS);
  await closed;
  clearTimeout(timer);
}
