import type { IncomingMessage, ServerResponse } from "node:http";
import { headerPairs, mayLackHeaders } from "./raw-headers.js";
import { closeAfterAnswer } from "./unread-body.js";

/**
 * Runs a web handler without a request body, such as `jwksHandler`, behind `node:http` or Express.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { createKeySet, generateKey, jwksHandler } from "hookproof/jwks";
 * import { toNodeHandler } from "hookproof/node";
 *
 * createServer(toNodeHandler(jwksHandler(createKeySet([await generateKey({ alg: "ES256" })]))));
 * ```
 */
export function toNodeHandler(
  handler: (request: Request) => Promise<Response>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const answer = await answerTo(handler, incoming);
    outgoing.statusCode = answer.status;
    for (const [name, value] of answer.headers) outgoing.setHeader(name, value);
    closeAfterAnswer(incoming, outgoing);
    outgoing.end(Buffer.from(await answer.arrayBuffer()));
  };
}

async function answerTo(
  handler: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
): Promise<Response> {
  if (mayLackHeaders(incoming)) return new Response(null, { status: 431 });
  let request: Request;
  try {
    request = webRequest(incoming);
  } catch {
    return new Response(null, { status: 400 });
  }
  try {
    return await handler(request);
  } catch {
    // A handler that reads a store may fail; the asker learns nothing of why.
    return new Response(null, { status: 503, headers: { "Retry-After": "1" } });
  }
}

function webRequest(incoming: IncomingMessage): Request {
  const headers = new Headers();
  for (const [name, value] of headerPairs(incoming.rawHeaders)) headers.append(name, value);
  return new Request(new URL(incoming.url ?? "/", "http://localhost"), {
    method: incoming.method ?? "GET",
    headers,
  });
}
