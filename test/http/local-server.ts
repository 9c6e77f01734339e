import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from "node:net";

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
