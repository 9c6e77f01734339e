import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "hookproof";
import { toNodeListener } from "hookproof/node";
import { createReceiver, type ListenerOptions } from "hookproof/receiver";
import { httpServer, type LocalServer } from "./local-server.js";

export const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";

/** A verifying listener on loopback that counts the runs of each event. */
export interface ReceiverServer extends LocalServer {
  readonly url: string;
  /** How often each event id was run. */
  readonly runs: ReadonlyMap<string, number>;
  /** Every request that came in, in order. */
  readonly requests: readonly IncomingMessage[];
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The real answer as `intercept` sees it: it is given back, or not waited for. */
type Receive = (...of: Parameters<Answer>) => void;

/**
 * @param intercept may answer in the receiver's place; calls `receive` for the real answer
 */
export async function receiverServer(
  options: {
    auth?: ListenerOptions["auth"];
    clock?: Clock;
    intercept?: (request: IncomingMessage, response: ServerResponse, receive: Receive) => unknown;
  } = {},
): Promise<ReceiverServer> {
  const { auth = { method: "hmac", secret: SECRET }, clock, intercept } = options;
  const runs = new Map<string, number>();
  const requests: IncomingMessage[] = [];
  let receive: Answer | undefined;
  const server = await httpServer(async (request, response) => {
    requests.push(request);
    if (!receive) throw new Error("not ready");
    // Its answers show the time by which it judges.
    if (clock) response.setHeader("Date", new Date(clock.now()).toUTCString());
    if (intercept) await intercept(request, response, receive);
    else await receive(request, response);
  });
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const receiver = createReceiver({ listener: { id: "lst_1", baseUrl, auth }, clock });
  receive = toNodeListener(receiver, async ({ id }) => {
    runs.set(id, (runs.get(id) ?? 0) + 1);
  });
  return { ...server, url: `${baseUrl}/api/v1/webhooks/incoming/lst_1`, runs, requests };
}
