import { connect, createServer, type Server, type Socket } from "node:net";

/** A way to a server on loopback that can be made slow, silent or short. */
export interface TcpProxy {
  readonly port: number;
  /** Milliseconds that every byte is late, each way. */
  delayMs: number;
  /** Forwards nothing more on the connections there are, and closes none of them: a firewall that forgot them. */
  forget(): void;
  /** Cuts a connection as soon as an answer comes. */
  losesAnswers: boolean;
  /** Cuts a connection once it has forwarded a request that holds this text, before the answer comes back. */
  cutAfter(text: string): void;
  /** How many connections it has taken so far. */
  readonly connections: number;
  stop(): Promise<void>;
}

export async function tcpProxy(target: { readonly port: number; readonly host?: string }): Promise<TcpProxy> {
  const pairs = new Set<{ sockets: [Socket, Socket]; isForgotten: boolean; isCut: boolean }>();
  let text: string | undefined;
  let connections = 0;
  const server: Server = createServer((client) => {
    connections += 1;
    const upstream = connect(target.port, target.host ?? "127.0.0.1");
    const pair = { sockets: [client, upstream] as [Socket, Socket], isForgotten: false, isCut: false };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      if (pair.isForgotten) return;
      client.destroy();
      upstream.destroy();
    };
    for (const socket of pair.sockets) {
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", end);
    }
    const forward = (from: Socket, to: Socket) =>
      from.on("data", (chunk) => {
        const isLast = from === client && text !== undefined && chunk.includes(text);
        if (isLast) {
          text = undefined;
          pair.isCut = true;
        }
        const pass = () => {
          if (pair.isForgotten) return;
          if ((pair.isCut || proxy.losesAnswers) && from === upstream) return void client.destroy(); // the server has answered
          to.write(chunk);
        };
        if (proxy.delayMs > 0) setTimeout(pass, proxy.delayMs);
        else pass();
      });
    forward(client, upstream);
    forward(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: TcpProxy = {
    port: (server.address() as { port: number }).port,
    delayMs: 0,
    losesAnswers: false,
    forget() {
      for (const pair of pairs) pair.isForgotten = true;
    },
    cutAfter(given) {
      text = given;
    },
    get connections() {
      return connections;
    },
    async stop() {
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
