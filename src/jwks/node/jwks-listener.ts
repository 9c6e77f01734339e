import type { IncomingMessage, ServerResponse } from "node:http";
import { type KeySetHostOptions, keySetAnswers } from "../jwks/answer.js";
import type { KeySet } from "../jwks/key-set.js";
import { closeAfterAnswer } from "./unread-body.js";

/**
 * A request listener for `node:http` that serves a key set, at whatever path it is mounted: what `jwksHandler`
 * answers, without the cost of web requests and responses (specification 5.2, JWT method, step 1). A store that
 * cannot be read is answered with 503.
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
      // Not before the answer is there: until then Node has not seen the end of a request without a body.
      closeAfterAnswer(request, response);
      const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
      response.writeHead(status, { ...headers, ...length });
      response.end(body);
    } catch {
      // The asker learns nothing of why the store cannot be read.
      if (!response.headersSent) response.writeHead(503, { "Retry-After": "1" });
      response.end();
    }
  };
}
