// A receiver behind Node's HTTP and Express.
import type { IncomingMessage, ServerResponse } from "node:http";
import { headerPairs } from "../../core/headers.js";
import { closeAfterAnswer, keptBody, mayLackHeaders, requestBody } from "../../http/node/incoming.js";
import type { Run } from "../accept.js";
import type { ReceivedRequest, Receiver, ReceiverAnswer } from "../receiver.js";

/**
 * Turns a `node:http` request into the form that `Receiver.receive` takes: header lines as they were sent, the body as
 * it arrives, the address of the socket's peer. Put no body parser before it. Raw bytes that a framework has kept as
 * `rawBody`, or as `body` like `express.raw()`, are used. Where Node may have dropped header lines (1,000 and more,
 * unless the server's `maxHeadersCount` says otherwise), the receiver answers 431.
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
 * Writes a receiver's answer. It closes the connection afterwards if the request's body was not read to its end.
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
  const { status, headers, body } = answer;
  const lines: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    const given = Object.keys(lines).find((other) => other.toLowerCase() === name.toLowerCase());
    lines[given ?? name] = given === undefined ? value : [lines[given] ?? [], value].flat();
  }
  if (status !== 204 && status !== 304) lines["Content-Length"] = String(Buffer.byteLength(body));
  closeAfterAnswer(request, response);
  // All lines at once, which costs Node less than one setHeader() for each.
  response.writeHead(status, lines).end(body);
}

/**
 * Makes a request handler for `node:http` and for Express from a receiver. If a parser has read a request's body before,
 * the request cannot be received: Express gets the error; under `node:http` the answer is 500, and the first error is
 * emitted as a warning of the process.
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
  let hasWarned = false;
  return async (request, response, next) => {
    try {
      sendAnswer(await receiver.receive(receivedRequest(request), run), request, response);
    } catch (error) {
      if (next) return next(error);
      // Node ignores the promise of a request handler, and a rejection that nobody handles ends the process.
      if (!hasWarned) process.emitWarning(error as Error);
      hasWarned = true;
      if (response.headersSent) response.destroy();
      else sendAnswer({ status: 500, headers: [], body: "" }, request, response);
    }
  };
}
