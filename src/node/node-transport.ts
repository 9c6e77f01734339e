import type { Transport, TransportOptions } from "../http/transport.js";
import { createTransport } from "../http/transport-node.js";

/**
 * The library's own transport on Node, for a transport of your own that adds to it, or for other requests under the
 * same rules: limits on time and size, no redirects, and nothing that a proxy says in the host's place is an answer.
 *
 * @throws {TypeError} for `agent` together with `allowPrivateNetwork: false`
 * @throws {HookproofError} CIDR_INVALID
 *
 * @example
 * ```ts
 * import type { Transport } from "hookproof";
 * import { nodeTransport } from "hookproof/node";
 *
 * const send = nodeTransport({ allowPrivateNetwork: false });
 * const timed: Transport = async (request) => {
 *   const startedAt = performance.now();
 *   const response = await send(request);
 *   console.log(response.status, performance.now() - startedAt);
 *   return response; // with `authenticated`, so that the sender may believe its Date
 * };
 * ```
 */
export function nodeTransport(options: TransportOptions = {}): Transport {
  return createTransport(options);
}
