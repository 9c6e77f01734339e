// Serves a key set from any server.
import { sha256Base64url } from "#hash";
import { utf8 } from "../core/bytes.js";
import { checkOptions, checkWholeNumber } from "../core/options.js";
import type { Jwks, KeySet } from "./key-set.js";
import { DEFAULT_MAX_AGE_SECONDS } from "./life-cycle.js";

/** How a key set is served. */
export interface KeySetHostOptions {
  /**
   * How long listeners may keep the set, in seconds; 300 by default. The new key of a rotation signs at least 5
   * minutes later than that.
   */
  maxAgeSeconds?: number | undefined;
}

/** The answer to a request for a key set. */
interface KeySetAnswer {
  readonly status: 200 | 304 | 405;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * A web handler that serves a key set: GET and HEAD, a strong ETag with 304, `Cache-Control`, CORS
 * (specification 5.2, JWT method, step 1). It asks the key set for its document at every request. For `node:http` and
 * Express there is `toJwksListener` in `hookproof/node`.
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
  options: KeySetHostOptions = {},
): (request: Request) => Promise<Response> {
  const answer = keySetAnswers(keySet, options);
  return async (request) => {
    const { status, headers, body } = await answer(request.method, request.headers.get("if-none-match"));
    return new Response(request.method === "HEAD" ? null : (body ?? null), { status, headers });
  };
}

/** Answers requests for a key set, whatever server they came through: GET and HEAD, 304, and 405 for all others. */
export function keySetAnswers(
  keySet: KeySet,
  options: KeySetHostOptions,
): (method: string, ifNoneMatch: string | null | undefined) => Promise<KeySetAnswer> {
  checkOptions("the host of a key set", options, { maxAgeSeconds: "number" });
  const { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS } = options;
  checkMaxAge(maxAgeSeconds);
  const headers = keySetHeaders(maxAgeSeconds);
  let last: { document: Jwks; body: string; headers: Record<string, string> } | undefined;
  return async (method, ifNoneMatch) => {
    if (method !== "GET" && method !== "HEAD") return NOT_ALLOWED;
    const document = await keySet.publicJwks();
    if (document !== last?.document || !isFrozen(document)) {
      const body = JSON.stringify(document);
      last = { document, body, headers: { ...headers, ETag: etagOf(body) } };
    }
    if (ifNoneMatch && matches(ifNoneMatch, last.headers.ETag as string)) {
      const { "Content-Type": _, ...kept } = last.headers;
      return { status: 304, headers: kept, body: undefined };
    }
    return { status: 200, headers: last.headers, body: last.body };
  };
}

const NOT_ALLOWED: KeySetAnswer = { status: 405, headers: { Allow: "GET, HEAD" }, body: undefined };

/** The headers of a key set's document, wherever it is hosted. */
function keySetHeaders(maxAgeSeconds: number): Record<string, string> {
  return {
    "Content-Type": "application/jwk-set+json",
    "Cache-Control": `public, max-age=${maxAgeSeconds}`,
    "Access-Control-Allow-Origin": "*",
    "X-Content-Type-Options": "nosniff",
  };
}

/** Refuses a max-age that is not a whole number of seconds. */
export function checkMaxAge(maxAgeSeconds: number): void {
  checkWholeNumber("maxAgeSeconds", maxAgeSeconds, 0);
}

/** Whether a document cannot have changed since the last answer. */
function isFrozen(document: Jwks): boolean {
  return Object.isFrozen(document) && Object.isFrozen(document.keys) && document.keys.every(Object.isFrozen);
}

function etagOf(body: string): string {
  return `"${sha256Base64url(utf8(body)).slice(0, 22)}"`;
}

/** RFC 9110 section 13.1.2: a list of tags, compared weakly, or `*`. */
function matches(ifNoneMatch: string, etag: string): boolean {
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}

/** Options of `exportKeySet`. */
interface ExportKeySetOptions extends KeySetHostOptions {
  /** The path of the file on the host; `/.well-known/jwks.json` by default. */
  path?: string | undefined;
}

/** A key set as a file for a static HTTPS host. */
export interface ExportedKeySet {
  /** The path of the file on the host. */
  readonly path: string;
  /** The content of the file: the public document as JSON. */
  readonly document: string;
  /** The headers to serve the file with. */
  readonly headers: Readonly<Record<string, string>>;
  /** The configuration that sets these headers, for each host. */
  readonly hosts: Readonly<Record<StaticHost, string>>;
}

/** The hosts there is configuration for; `headers-file` is the `_headers` file of Netlify and Cloudflare Pages. */
export type StaticHost = "nginx" | "apache" | "caddy" | "headers-file" | "s3";

/**
 * The key set as a file for a static HTTPS host, with the configuration for its headers (specification 5.2, JWT
 * method, step 1). The file holds the state of this moment: export and upload it again after every step of a
 * rotation.
 *
 * @throws {TypeError} for a path that does not start with / or has other characters than letters, digits and . _ ~ / -
 * @throws {RangeError} for a maxAgeSeconds that is not a whole number
 *
 * @example
 * ```ts
 * import { createKeySet, exportKeySet, generateKey } from "hookproof/jwks";
 *
 * const keySet = createKeySet([await generateKey({ alg: "ES256" })]);
 * const { document, hosts } = await exportKeySet(keySet);
 * console.log(hosts.nginx);
 * ```
 */
export async function exportKeySet(
  keySet: KeySet,
  options: ExportKeySetOptions = {},
): Promise<ExportedKeySet> {
  checkOptions("exportKeySet", options, { maxAgeSeconds: "number", path: "string" });
  const { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS, path = "/.well-known/jwks.json" } = options;
  checkMaxAge(maxAgeSeconds);
  if (!/^\/[A-Za-z0-9._~/-]+$/.test(path))
    throw new TypeError("path must start with / and have letters, digits, . _ ~ - only");
  const headers = keySetHeaders(maxAgeSeconds);
  const document = `${JSON.stringify(await keySet.publicJwks(), null, 2)}\n`;
  return { path, document, headers, hosts: configurations(path, headers) };
}

function configurations(path: string, headers: Readonly<Record<string, string>>): Record<StaticHost, string> {
  const { "Content-Type": type = "", ...others } = headers;
  const lines = (line: (name: string, value: string) => string) =>
    Object.entries(others).map(([name, value]) => line(name, value));
  return {
    nginx: block([
      `location = ${path} {`,
      "  types {}",
      `  default_type ${type};`,
      ...lines((name, value) => `  add_header ${name} "${value}" always;`),
      "}",
    ]),
    apache: block([
      `<Location "${path}">`,
      `  ForceType ${type}`,
      ...lines((name, value) => `  Header set ${name} "${value}"`),
      "</Location>",
    ]),
    caddy: block([
      `header ${path} {`,
      `  Content-Type "${type}"`,
      ...lines((name, value) => `  ${name} "${value}"`),
      "}",
    ]),
    "headers-file": block([
      path,
      `  Content-Type: ${type}`,
      ...lines((name, value) => `  ${name}: ${value}`),
    ]),
    s3: block([
      `aws s3 cp jwks.json s3://BUCKET${path} --content-type ${type} --cache-control "${headers["Cache-Control"]}"`,
    ]),
  };
}

function block(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}
