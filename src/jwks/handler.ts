import { sha256Base64url } from "#hash";
import { utf8 } from "../primitives/bytes.js";
import type { KeySet } from "./key-set.js";

/** Options of `jwksHandler`. */
export interface JwksHandlerOptions {
  /** How long receivers may keep the set, in seconds; 300 by default. A rotation waits at least as long. */
  maxAgeSeconds?: number | undefined;
}

/**
 * A web handler that serves a key set: GET and HEAD, a strong ETag with 304, `Cache-Control`, CORS
 * (specification 5.2, JWT method, step 1). The document is made anew from the set's state for every answer.
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
  { maxAgeSeconds = 300 }: JwksHandlerOptions = {},
): (request: Request) => Promise<Response> {
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 0)
    throw new RangeError("maxAgeSeconds must be a whole number, 0 or more");
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response(null, { status: 405, headers: { Allow: "GET, HEAD" } });
    }
    const body = JSON.stringify(await keySet.publicJwks());
    const etag = `"${sha256Base64url(utf8(body)).slice(0, 22)}"`;
    const headers = {
      ETag: etag,
      "Cache-Control": `public, max-age=${maxAgeSeconds}`,
      "Access-Control-Allow-Origin": "*",
      "X-Content-Type-Options": "nosniff",
    };
    if (matches(request.headers.get("if-none-match"), etag))
      return new Response(null, { status: 304, headers });
    return new Response(request.method === "HEAD" ? null : body, {
      headers: { ...headers, "Content-Type": "application/jwk-set+json" },
    });
  };
}

function matches(ifNoneMatch: string | null, etag: string): boolean {
  const tags = ifNoneMatch?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes(etag) || tags.includes("*");
}
