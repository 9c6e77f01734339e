// Hosts a key set over HTTP or HTTPS.
import type { KeySet } from "hookproof/jwks";
import { toJwksListener } from "hookproof/node";
import { answerElsewhere } from "./elsewhere-on-key-host.js";
import { harmless } from "./harmless.js";
import { type RunningServer, type ServerOptions, startServer } from "./http-server.js";
import { faultyKeySet, type KeySetFault } from "./key-set-faults.js";
import { selfSignedCertificate } from "./self-signed.js";

/** Options of `startKeySetHost`. */
export interface KeySetHostServerOptions extends Omit<ServerOptions, "tls"> {
  keySet: KeySet;
  /** Where the key set stands; `/.well-known/jwks.json` by default. */
  path?: string | undefined;
  /** How long receivers may keep the set; 300 s by default. */
  maxAgeSeconds?: number | undefined;
  /** Certificate and key in PEM, or `"self-signed"` for one that is made now, for localhost. */
  tls?: { cert: string; key: string } | "self-signed" | undefined;
  /** Goes wrong on purpose, to see what a listener makes of it. */
  fault?: KeySetFault | undefined;
  /** Called for every request for the key set; what it throws or rejects with is dropped. */
  onAsked?: (() => void) | undefined;
}

/** A key set host that is running. */
export interface RunningKeySetHost extends RunningServer {
  /** The whole URL of the key set. */
  readonly keySetUrl: string;
  /** The certificate in PEM, where there is TLS: what a client has to trust if it is self-signed. */
  readonly certificate: string | undefined;
}

/**
 * Hosts a key set over HTTP or HTTPS, on loopback unless told otherwise (specification 5.2, JWT method, step 1).
 *
 * @throws {TypeError | RangeError} for a path without a leading slash, or a max-age that is not whole seconds
 *
 * @example
 * ```ts
 * import { createKeySet, generateKey } from "hookproof/jwks";
 * import { startKeySetHost } from "hookproof-service";
 *
 * const keySet = createKeySet([await generateKey({ alg: "ES256" })]);
 * const host = await startKeySetHost({ keySet, tls: "self-signed" });
 * console.log(host.keySetUrl);
 * await host.stop();
 * ```
 */
export async function startKeySetHost(options: KeySetHostServerOptions): Promise<RunningKeySetHost> {
  const {
    keySet,
    path = "/.well-known/jwks.json",
    maxAgeSeconds,
    fault,
    onAsked = () => {},
    ...server
  } = options;
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[?#]/.test(path))
    throw new TypeError("path must start with / and have no query");
  const tls = server.tls === "self-signed" ? await selfSignedCertificate() : server.tls;
  const serve = fault
    ? faultyKeySet(keySet, fault, { maxAgeSeconds })
    : toJwksListener(keySet, { maxAgeSeconds });
  const notify = harmless(onAsked);
  const running = await startServer(
    (request, response) => {
      if (request.url?.split("?", 1)[0] !== path) {
        answerElsewhere(path, request, response);
        return;
      }
      notify();
      return serve(request, response);
    },
    { ...server, tls },
  );
  return { ...running, keySetUrl: `${running.url}${path}`, certificate: tls?.cert };
}
