import { sha256Base64url } from "#hash";
import { utf8 } from "../primitives/bytes.js";
import type { Jwks, KeySet } from "./key-set.js";
import { DEFAULT_MAX_AGE_SECONDS } from "./rotation.js";

/** How a key set is served. */
export interface KeySetHostOptions {
  /** How long receivers may keep the set, in seconds; 300 by default. A rotation waits 5 minutes longer. */
  maxAgeSeconds?: number | undefined;
}

/** What a request for a key set is answered with. */
export interface KeySetAnswer {
  readonly status: 200 | 304 | 405;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The headers of the document itself, wherever it is hosted. */
export function keySetHeaders(maxAgeSeconds: number): Record<string, string> {
  return {
    "Content-Type": "application/jwk-set+json",
    "Cache-Control": `public, max-age=${maxAgeSeconds}`,
    "Access-Control-Allow-Origin": "*",
    "X-Content-Type-Options": "nosniff",
  };
}

/** The answers of a host: GET and HEAD, a strong ETag with 304, everything else 405. */
export function keySetAnswers(
  keySet: KeySet,
  { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS }: KeySetHostOptions,
): (method: string, ifNoneMatch: string | null | undefined) => Promise<KeySetAnswer> {
  checkMaxAge(maxAgeSeconds);
  const headers = keySetHeaders(maxAgeSeconds);
  let last: { document: Jwks | undefined; body: string; headers: Record<string, string> };
  last = { document: undefined, body: "", headers };
  return async (method, ifNoneMatch) => {
    if (method !== "GET" && method !== "HEAD") return NOT_ALLOWED;
    const document = await keySet.publicJwks();
    if (document !== last.document || !isFrozen(document)) {
      const body = JSON.stringify(document);
      last = { document, body, headers: { ...headers, ETag: etagOf(body) } };
    }
    if (ifNoneMatch && matches(ifNoneMatch, last.headers.ETag)) {
      const { "Content-Type": _, ...kept } = last.headers;
      return { status: 304, headers: kept, body: undefined };
    }
    return { status: 200, headers: last.headers, body: last.body };
  };
}

const NOT_ALLOWED: KeySetAnswer = { status: 405, headers: { Allow: "GET, HEAD" }, body: undefined };

/** Refuses a max-age that is not a whole number of seconds. */
export function checkMaxAge(maxAgeSeconds: number): void {
  if (!Number.isSafeInteger(maxAgeSeconds) || maxAgeSeconds < 0)
    throw new RangeError("maxAgeSeconds must be a whole number, 0 or more");
}

/** A document that cannot have changed since; any other is written anew for every answer. */
function isFrozen(document: Jwks): boolean {
  return Object.isFrozen(document) && Object.isFrozen(document.keys) && document.keys.every(Object.isFrozen);
}

function etagOf(body: string): string {
  return `"${sha256Base64url(utf8(body)).slice(0, 22)}"`;
}

function matches(ifNoneMatch: string, etag: string | undefined): boolean {
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || (etag !== undefined && tags.includes(etag));
}
