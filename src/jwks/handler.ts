import { type KeySetHostOptions, keySetAnswers } from "./answer.js";
import type { KeySet } from "./key-set.js";

/** Options of `jwksHandler`. */
export interface JwksHandlerOptions extends KeySetHostOptions {}

/**
 * A web handler that serves a key set: GET and HEAD, a strong ETag with 304, `Cache-Control`, CORS
 * (specification 5.2, JWT method, step 1). The document is made anew from the set's state for every answer.
 *
 * @throws {RangeError} for a maxAgeSeconds that is not a whole number
 *
 * @example
 * ```ts
 * import { createKeySet, generateKey, jwksHandler } from "hookproof/jwks";
 *
 * const handler = jwksHandler(createKeySet([await generateKey({ alg: "ES256" })]));
 * const response = await handler(new Request("https://keys.example.com/.well-known/jwks.json"));
 * response.headers.get("content-type"); // "application/jwk-set+json"
 * ```
 */
export function jwksHandler(
  keySet: KeySet,
  options: JwksHandlerOptions = {},
): (request: Request) => Promise<Response> {
  const answer = keySetAnswers(keySet, options);
  return async (request) => {
    const { status, headers, body } = await answer(request.method, request.headers.get("if-none-match"));
    return new Response(request.method === "HEAD" ? null : (body ?? null), { status, headers });
  };
}
