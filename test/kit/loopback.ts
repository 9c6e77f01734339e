import { createServer, type RequestListener, request as startRequest } from "node:http";
import type { AddressInfo } from "node:net";
import type { ReceivedRequest } from "hookproof/receiver";

/** Serves on a free port of 127.0.0.1. */
export async function serve(listener: RequestListener): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Sends a request over a connection of its own; the answer's status and its JSON. */
export function exchange(url: string, request: ReceivedRequest): Promise<[status: number, body: unknown]> {
  return new Promise((resolve, reject) => {
    const headers = request.headers as Record<string, string>;
    const outgoing = startRequest(
      url,
      { method: request.method, headers, agent: false },
      async (response) => {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        try {
          resolve([response.statusCode ?? 0, JSON.parse(text)]);
        } catch {
          resolve([response.statusCode ?? 0, text]);
        }
      },
    );
    outgoing.once("error", reject);
    outgoing.end(request.body as Uint8Array | string);
  });
}
