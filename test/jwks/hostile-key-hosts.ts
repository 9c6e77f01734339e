import type { RequestListener } from "node:http";
import { createServer, Agent as HttpsAgent } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createTransport } from "../../src/http/node/transport.js";
import type { Transport, TransportRequest } from "../../src/http/transport.js";
import { type Certificate, runCertificates } from "../kit/certificates.js";

/** A certificate for 127.0.0.1 that signs itself. */
export const makeCertificate = (): Certificate => runCertificates().alone;

/** A real HTTPS server with a key set, or with something else in its place. */
export interface KeyHost {
  readonly url: string;
  /** How many requests arrived. */
  requests(): number;
  /** How many bytes left on all connections. */
  bytesSent(): number;
  stop(): Promise<void>;
}

export async function startKeyHost(certificate: Certificate, answer: RequestListener): Promise<KeyHost> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer(certificate, (request, response) => {
    requests++;
    answer(request, response);
  });
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    requests: () => requests,
    bytesSent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The library's own transport with the test's certificate and time limit. */
export function trusting(
  certificate: Certificate,
  asked: TransportRequest[] = [],
  timeoutMs = 10_000,
): Transport {
  const transport = createTransport({ agent: new HttpsAgent({ ca: certificate.cert }) });
  return (request) => {
    asked.push(request);
    return transport({ ...request, timeoutMs });
  };
}

/** Answers with a document as a key set host does; a text is the document as it stands. */
export function serveKeys(document: () => unknown, cacheControl = "max-age=300"): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { "Content-Type": "application/jwk-set+json", "Cache-Control": cacheControl });
    const served = document();
    response.end(typeof served === "string" ? served : JSON.stringify(served));
  };
}
