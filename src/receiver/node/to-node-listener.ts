import type { IncomingMessage, ServerResponse } from "node:http";
import type { Run } from "../receiver/accept.js";
import type { ReceivedRequest, Receiver, ReceiverAnswer } from "../receiver/receiver.js";
import { headerPairs, mayLackHeaders } from "./raw-headers.js";
import { keptBody, requestBody } from "./request-body.js";
import { closeAfterAnswer } from "./unread-body.js";

/**
 * A `node:http` request as a receiver takes it: header lines as they were sent, the body as it arrives, the
 * socket's peer. Put nothing that parses bodies before it; a framework that keeps the raw bytes as `rawBody`, or
 * as `body` as `express.raw()` does, is understood. Where Node may have dropped header lines (1,000 and more, unless
 * the server's `maxHeadersCount` says otherwise), the receiver answers 431.
 *
 * @throws {TypeError} for a request whose body was parsed or decoded, and for what is not Node's own request
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof"; // stands for your listener's own secret
 * import { createServer } from "node:http";
 * import { receivedRequest, sendAnswer } from "hookproof/node";
 * import { createReceiver } from "hookproof/receiver";
 *
 * const receiver = createReceiver({
 *   listener: { id: "lst_1", baseUrl: "https://tenant.example.com", auth: { method: "hmac", secret: generateSecret() } },
 * });
 * const server = createServer(async (req, res) => {
 *   sendAnswer(await receiver.receive(receivedRequest(req), async (event) => console.log(event.id)), req, res);
 * });
 * ```
 */
export function receivedRequest(
  request: IncomingMessage,
): ReceivedRequest & { readonly body: AsyncIterable<Uint8Array> } {
  if (!Array.isArray(request?.rawHeaders)) {
    throw new TypeError(
      "request must be Node's own request. With Fastify that is request.raw, with Koa ctx.req; a web Request goes to receiver.handle.",
    );
  }
  const url =
    "originalUrl" in request && typeof request.originalUrl === "string"
      ? request.originalUrl
      : (request.url ?? "/");
  return {
    method: request.method ?? "GET",
    url,
    headers: headerPairs(request.rawHeaders),
    body: bodyOf(request),
    sourceAddress: request.socket.remoteAddress,
    headersDropped: mayLackHeaders(request),
  };
}

/** The body as it arrives, or the raw bytes that a framework kept of it. */
function bodyOf(request: IncomingMessage & { body?: unknown; rawBody?: unknown }): AsyncIterable<Uint8Array> {
  if (!request.readableDidRead && !request.readableEnded) return requestBody(request);
  if (request.rawBody instanceof Uint8Array) return keptBody(request.rawBody);
  if (request.body instanceof Uint8Array) return keptBody(request.body);
  if (typeof request.body === "string") {
    throw new TypeError(
      "The request's body has been decoded to text already, which can change bytes that were signed. Mount the receiver " +
        'before express.text(), or use express.raw({ type: "*/*" }) on its route.',
    );
  }
  throw new TypeError(
    "The request's body has been read already. Mount the receiver before express.json() or any other body parser, or " +
      "exclude its route from them.",
  );
}

/**
 * Writes a receiver's answer; a connection whose body was not read to its end is closed after it.
 *
 * @example
 * ```ts
 * import type { RequestListener } from "node:http";
 * import { receivedRequest, sendAnswer } from "hookproof/node";
 * import type { Receiver, Run } from "hookproof/receiver";
 *
 * const listenerFor = (receiver: Receiver, run: Run): RequestListener => {
 *   return async (req, res) => sendAnswer(await receiver.receive(receivedRequest(req), run), req, res);
 * };
 * ```
 */
export function sendAnswer(
  answer: Pick<ReceiverAnswer, "status" | "headers" | "body">,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  closeAfterAnswer(request, response);
  response.end(answer.body);
}

/**
 * A request listener for `node:http`, and for Express, over a receiver. A request that cannot be received, as a parser
 * has read its body before, goes to Express's error handler; at `node:http` it is answered with 500, and the first one
 * is a warning of the process.
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof"; // stands for your listener's own secret
 * import { createServer } from "node:http";
 * import { toNodeListener } from "hookproof/node";
 * import { createReceiver } from "hookproof/receiver";
 *
 * const receiver = createReceiver({
 *   listener: { id: "lst_1", baseUrl: "https://tenant.example.com", auth: { method: "hmac", secret: generateSecret() } },
 * });
 * createServer(toNodeListener(receiver, async (event) => console.log(event.id)));
 * ```
 */
export function toNodeListener(
  receiver: Receiver,
  run: Run,
): (request: IncomingMessage, response: ServerResponse, next?: (error: unknown) => void) => Promise<void> {
  let isTold = false;
  return async (request, response, next) => {
    try {
      sendAnswer(await receiver.receive(receivedRequest(request), run), request, response);
    } catch (error) {
      if (next) return next(error);
      // Nobody looks at the promise of a request listener, and one that rejects ends the process.
      if (!isTold) process.emitWarning(error as Error);
      isTold = true;
      if (response.headersSent) response.destroy();
      else sendAnswer({ status: 500, headers: [], body: "" }, request, response);
    }
  };
}
