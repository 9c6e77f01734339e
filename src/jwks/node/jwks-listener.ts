// Serves a key set from Node's HTTP and Express.
import type { IncomingMessage, ServerResponse } from "node:http";
import { closeAfterAnswer } from "../../http/node/incoming.js";
import { type KeySetHostOptions, keySetAnswers } from "../host.js";
import type { KeySet } from "../key-set.js";

/**
 * A request listener for `node:http` and Express that serves a key set as `jwksHandler` does, without the cost of web
 * requests and responses (specification 5.2, JWT method, step 1). It answers at every path it is mounted on. If the
 * store of the keys cannot be read, the answer is 503.
 *
 * @throws {RangeError} for a maxAgeSeconds that is not a whole number
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { createKeySet } from "hookproof/jwks";
 * import { openKeyStore, toJwksListener } from "hookproof/node";
 *
 * createServer(toJwksListener(createKeySet(openKeyStore("./keys"))));
 * ```
 */
export function toJwksListener(
  keySet: KeySet,
  options: KeySetHostOptions = {},
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const answer = keySetAnswers(keySet, options);
  return async (request, response) => {
    try {
      const { status, headers, body } = await answer(
        request.method ?? "GET",
        request.headers["if-none-match"],
      );
      // Only now: while the answer is being made, Node reads the end of a request without a body.
      closeAfterAnswer(request, response);
      const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
      response.writeHead(status, { ...headers, ...length });
      response.end(body);
    } catch {
      // The client must not learn why the store cannot be read.
      if (!response.headersSent) response.writeHead(503, { "Retry-After": "1" });
      response.end();
    }
  };
}
