import { once } from "node:events";
import { request as ask, createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";

/** A server that is stopped after the running test. */
export async function started(starting: Promise<LocalServer>): Promise<LocalServer> {
  const server = await starting;
  onTestFinished(server.stop);
  return server;
}

/** A server of a test, on a free port of loopback. */
export interface LocalServer {
  readonly port: number;
  /** Every connection made so far. */
  readonly connections: readonly Socket[];
  stop(): Promise<void>;
}

export const httpServer = (listener: RequestListener, host?: string): Promise<LocalServer> =>
  listening(createServer(listener), host);

export const httpsServer = (options: ServerOptions, listener: RequestListener): Promise<LocalServer> =>
  listening(createTlsServer(options, listener));

/** A server that speaks whatever the test makes it speak. */
export const tcpServer = (onSocket: (socket: Socket) => void): Promise<LocalServer> =>
  listening(createTcpServer(onSocket));

/**
 * Writes the same until the connection closes: 16 KiB each millisecond, which a slow machine can do as well as a fast one,
 * and which leaves turns to whoever reads in the same process.
 */
export function pour(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text.repeat(16_384 / text.length)), 1);
  socket.on("close", () => clearInterval(timer));
}

/** A proxy that is spoken to over TLS, and does this once it is asked for a tunnel. */
export const httpsProxy = (
  options: ServerOptions,
  onConnect: (socket: Duplex) => void,
): Promise<LocalServer> =>
  listening(createTlsServer(options).on("connect", (_req, socket: Duplex) => onConnect(socket)));

async function listening(server: Server, host = "127.0.0.1"): Promise<LocalServer> {
  const connections: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    connections.push(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of connections) socket.destroy();
      }),
  };
}

/** A proxy that opens the tunnel it is asked for, to loopback only. */
export function connectProxy(asked: string[]): Promise<LocalServer> {
  return tcpServer(async (client) => {
    const [head] = (await once(client, "data")) as [Buffer];
    const line = head.toString().split("\r\n", 1)[0] ?? "";
    asked.push(line);
    const port = Number(/:(\d+) HTTP/.exec(line)?.[1]);
    const tunnel = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(tunnel).pipe(client);
    });
    tunnel.on("error", () => client.destroy());
  });
}

/** A forward proxy for plain HTTP: asks the host, which stands on loopback, and hands on its answer. */
export function forwardProxy(asked: string[]): Promise<LocalServer> {
  return httpServer((request, response) => {
    const { url = "", method, headers } = request;
    asked.push(`${method} ${url}`);
    const { port, pathname } = new URL(url);
    const onward = ask({ host: "127.0.0.1", port, path: pathname, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, [...answer.rawHeaders, "Via", "1.1 proxy"]);
      answer.pipe(response);
    });
    onward.on("error", () => response.writeHead(502).end());
    request.pipe(onward);
  });
}

/** A proxy that answers whatever it reads with one text after the other, and notes all of it. */
export function refusingProxy(answer: string | readonly string[], read: Buffer[]): Promise<LocalServer> {
  return tcpServer((client) => {
    const answers = [answer].flat();
    client.on("data", (chunk: Buffer) => {
      read.push(chunk);
      const next = answers.shift();
      if (next !== undefined) client.write(next);
    });
  });
}

/** What proxies answer to CONNECT instead of opening a tunnel, or after saying that they do. */
export const PROXY_ANSWERS: readonly (readonly [
  name: string,
  answer: string | readonly string[],
  told: string,
])[] = [
  ["202", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "202"],
  ["204", "HTTP/1.1 204 No Content\r\n\r\n", "204"],
  [
    "302 to a login page",
    "HTTP/1.1 302 Found\r\nLocation: http://portal/\r\nContent-Length: 0\r\n\r\n",
    "302",
  ],
  ["400", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "400"],
  [
    "400 with a Date that is 20 h ahead",
    `HTTP/1.1 400 Bad Request\r\nDate: ${new Date(Date.now() + 72_000_000).toUTCString()}\r\nContent-Length: 0\r\n\r\n`,
    "400",
  ],
  ["401", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "401"],
  ["403", "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", "403"],
  [
    "407",
    "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
    "407",
  ],
  ["409", "HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n", "409"],
  ["413", "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n", "413"],
  ["429", "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 86400\r\nContent-Length: 0\r\n\r\n", "429"],
  ["502", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "502"],
  [
    "200 and a page of its own",
    ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"],
    "TLS",
  ],
];
