import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A host of key sets on loopback whose answer a test sets as it goes. */
export interface KeyHost {
  readonly url: string;
  readonly port: number;
  /** Requests that arrived. */
  requests: number;
  /** Connections that were opened. */
  connections: number;
  answer: (response: ServerResponse, request: IncomingMessage) => void;
  stop(): Promise<void>;
}

/** Starts a host; it answers 503 until it is told otherwise. */
export async function startKeyHost(): Promise<KeyHost> {
  const server = createServer((request, response) => {
    host.requests += 1;
    host.answer(response, request);
  });
  server.on("connection", () => {
    host.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host: KeyHost = {
    url: `http://127.0.0.1:${port}/jwks.json`,
    port,
    requests: 0,
    connections: 0,
    answer: (response) => response.writeHead(503).end(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return host;
}

/** An answer with a document and, if given, `Cache-Control`. */
export function serving(document: unknown, cacheControl?: string): KeyHost["answer"] {
  const body = typeof document === "string" ? document : JSON.stringify(document);
  return (response) => {
    response.setHeader("Content-Type", "application/jwk-set+json");
    if (cacheControl !== undefined) response.setHeader("Cache-Control", cacheControl);
    response.end(body);
  };
}
