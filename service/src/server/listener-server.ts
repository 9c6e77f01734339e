import express, { type ErrorRequestHandler } from "express";
import { sendJson } from "../api/error-answers.js";
import type { Inspector } from "../inspector/inspector.js";
import { harmless } from "./harmless.js";
import {
  answerNotReady,
  type RunningServer,
  type ServerOptions,
  startServer,
  toldTo,
} from "./http-server.js";
import { answerUnknown } from "./unknown-path.js";
import { type AnyListener, type HandledRequest, webhookRouter } from "./webhook-router.js";

/** Options of `startListeners`. */
export interface ListenersOptions extends ServerOptions {
  /**
   * The listeners, once the server's own URL is known: without a proxy in front it is their base URL.
   */
  listeners: (serverUrl: string) => readonly AnyListener[] | Promise<readonly AnyListener[]>;
  /** Told of every request that reached a listener, once it has been answered; what it throws or rejects with is dropped. */
  onHandled?: ((request: HandledRequest) => void) | undefined;
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
  inspector,
  ...options
}: ListenersOptions): Promise<RunningServer> {
  const app = express();
  app.disable("x-powered-by");
  let ready: express.Router | undefined;
  app.use((req, res, next) => (ready ? ready(req, res, next) : answerNotReady(req, res)));
  app.use((req, res) => {
    const unknown = answerUnknown(req, res);
    inspector?.record(unknown);
  });
  app.use(failed);
  const told = harmless(onHandled);
  const server = await startServer(app, {
    ...options,
    onRefused: toldTo(inspector?.recordRefused, options.onRefused),
  });
  try {
    const setups = await listeners(server.url);
    if (!inspector) ready = webhookRouter(setups, onHandled);
    else
      ready = webhookRouter(
        inspector.watch(setups, { serverUrl: server.url, certificate: options.tls?.cert }),
        (request) => {
          inspector.record(request);
          told(request);
        },
        inspector.record,
      );
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** Express names four parameters to tell an error handler from others. */
const failed: ErrorRequestHandler = (error: { status?: unknown }, req, res, _next) => {
  // A path that cannot be decoded names no listener; anything else ends as a plain 503, never as a stack trace.
  // After the answer (an observer that throws) there is nothing left to say.
  if (res.headersSent) return;
  if (error.status === 400) answerUnknown(req, res);
  else sendJson(503, { code: "RUN_FAILED", message: "The request could not be handled." }, req, res);
};
