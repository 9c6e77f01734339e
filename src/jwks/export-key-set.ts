import { checkMaxAge, type KeySetHostOptions, keySetHeaders } from "./answer.js";
import type { KeySet } from "./key-set.js";
import { DEFAULT_MAX_AGE_SECONDS } from "./rotation.js";

/** Options of `exportKeySet`. */
export interface ExportKeySetOptions extends KeySetHostOptions {
  /** Where the file will stand on the host; `/.well-known/jwks.json` by default. */
  path?: string | undefined;
}

/** A key set as a file for a static HTTPS host. */
export interface ExportedKeySet {
  readonly path: string;
  /** The file: the public document as JSON. */
  readonly document: string;
  /** The headers to serve it with. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same headers as configuration, by host. */
  readonly hosts: Readonly<Record<StaticHost, string>>;
}

/** The static hosts that configuration is written for; `headers-file` is the `_headers` of Netlify and Cloudflare Pages. */
export type StaticHost = "nginx" | "apache" | "caddy" | "headers-file" | "s3";

/**
 * The key set as a file that any static HTTPS host can serve, with the headers to set (specification 5.2, JWT
 * method, step 1). The file is the state of this moment: export and upload again after every step of a rotation.
 *
 * @throws {TypeError | RangeError} for a path without a leading slash, or a max-age that is not whole seconds
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
  { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS, path = "/.well-known/jwks.json" }: ExportKeySetOptions = {},
): Promise<ExportedKeySet> {
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
