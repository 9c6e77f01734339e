// Serves webhook listeners without the service's API.
import type { IncomingMessage, ServerResponse } from "node:http";
import { sendAnswer } from "hookproof/node";
import type { Inspector } from "../inspector/inspector.js";
import { harmless } from "./harmless.js";
import {
  answerNotReady,
  notifyAll,
  type RunningServer,
  type ServerOptions,
  startServer,
} from "./http-server.js";
import { answerUnknown, type UnknownRequest } from "./unknown-path.js";
import {
  type AnyListener,
  type HandledRequest,
  type WebhookRouter,
  webhookRouter,
} from "./webhook-router.js";

/** Options of `startListeners`. */
export interface ListenersOptions extends ServerOptions {
  /**
   * The listeners, once the server's own URL is known: without a proxy in front it is their base URL.
   */
  listeners: (serverUrl: string) => readonly AnyListener[] | Promise<readonly AnyListener[]>;
  /** Called for every request that reached a listener, once it has been answered; what it throws or rejects with is dropped. */
  onHandled?: ((request: HandledRequest) => void) | undefined;
  /** Called for every request for a path that no listener has, once it has been answered with 404. */
  onUnknown?: ((request: UnknownRequest) => void) | undefined;
  /** Records every request, those that reached no listener too. */
  inspector?: Inspector | undefined;
}

/**
 * Starts a server with the webhook endpoint of the Access Governance Service (specification 4.10), bound to
 * loopback unless told otherwise.
 *
 * @example
 * ```ts
 * import { startListeners } from "hookproof-service";
 *
 * const server = await startListeners({
 *   listeners: (baseUrl) => [
 *     { listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: process.env.LISTENER_SECRET ?? "" } } },
 *   ],
 * });
 * await server.stop();
 * ```
 */
export async function startListeners({
  listeners,
  onHandled = () => {},
  onUnknown = () => {},
  inspector,
  ...options
}: ListenersOptions): Promise<RunningServer> {
  let ready: WebhookRouter | undefined;
  const handler = (req: IncomingMessage, res: ServerResponse) => {
    if (!ready) answerNotReady(req, res);
    else
      ready(req, res, (error) => {
        if (error !== undefined) answerFailed(req, res);
        else {
          const unknown = answerUnknown(req, res);
          notifyUnknown(unknown);
        }
      });
  };
  const notifyHandled = harmless(onHandled);
  const [recorded, heard] = [
    harmless((unknown: UnknownRequest) => inspector?.record(unknown)),
    harmless(onUnknown),
  ];
  const notifyUnknown = (unknown: UnknownRequest) => {
    recorded(unknown);
    heard(unknown);
  };
  const server = await startServer(handler, {
    ...options,
    onRefused: notifyAll(inspector?.recordRefused, options.onRefused),
  });
  try {
    const setups = await listeners(server.url);
    if (!inspector) ready = webhookRouter(setups, onHandled, notifyUnknown);
    else
      ready = webhookRouter(
        inspector.watch(setups, { serverUrl: server.url, certificate: options.tls?.cert }),
        (request) => {
          inspector.record(request);
          notifyHandled(request);
        },
        notifyUnknown,
      );
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** What nobody foresaw ends as a plain 503, never as a stack trace. */
function answerFailed(req: IncomingMessage, res: ServerResponse): void {
  // After the answer (an observer that throws) there is nothing left to say.
  if (res.headersSent) return;
  const body = JSON.stringify({ code: "RUN_FAILED", message: "The request could not be handled." });
  sendAnswer({ status: 503, headers: [["Content-Type", "application/json; charset=utf-8"]], body }, req, res);
}
