// A DNS look-up that refuses addresses of private networks.

import type { LookupAddress, LookupAllOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import { checkOptions } from "../../core/options.js";
import { type AddressPolicy, publicAddresses } from "../transport.js";

/** Finds every address of a name, as Node's `dns.lookup` does with `all: true`. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A DNS look-up for connections of your own (`http.Agent`, undici's `connect`) that refuses a name with the code
 * ADDRESS_REFUSED if any of its addresses is private or reserved. The answer it checks is the answer that is
 * connected to, so a name that changes its address in between gains nothing. Node looks up names only: refuse
 * addresses written in a URL yourself, or use `allowPrivateNetwork: false`, which does both.
 *
 * @param options.allowedCidrs ranges that may be connected to all the same
 * @param options.resolve the look-up beneath; `dns.lookup` by default
 * @throws {HookproofError} CIDR_INVALID
 *
 * @example
 * ```ts
 * import { Agent } from "node:https";
 * import { guardedLookup } from "hookproof/node";
 *
 * const agent = new Agent({ keepAlive: true, lookup: guardedLookup({ allowedCidrs: ["10.1.0.0/16"] }) });
 * ```
 */
export function guardedLookup(
  options: {
    /** Ranges that may be connected to all the same, such as `10.1.0.0/16`. */
    allowedCidrs?: readonly string[] | undefined;
    /** The look-up beneath; `dns.lookup` by default. */
    resolve?: Resolve | undefined;
  } = {},
): LookupFunction {
  checkOptions("guardedLookup", options, { allowedCidrs: "texts", resolve: "function" });
  const policy = publicAddresses(options.allowedCidrs);
  const resolve = options.resolve ?? byDns;
  return (hostname, lookupOptions, callback) => {
    const refused = (error: Error) => callback(error, "", 0);
    const looked = (error: Error | null, addresses: LookupAddress[]) => {
      const refusal = error ?? refusalOf(policy, addresses);
      const first = addresses?.[0];
      if (refusal || !first) callback(refusal ?? new Error(`${hostname} has no address`), "", 0);
      else if (lookupOptions.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    try {
      const returned: unknown = resolve(hostname, { ...lookupOptions, all: true }, looked);
      // The caller's look-up may be `async`, and an unhandled rejection would end the process.
      if (typeof returned === "object" && returned !== null) Promise.resolve(returned).catch(refused);
    } catch (error) {
      refused(error as Error);
    }
  };
}

/** Loads `node:dns` when a name is looked up: a program that only signs does without. */
const byDns: Resolve = async (hostname, options, callback) => {
  const { lookup } = await import("node:dns");
  lookup(hostname, options, callback);
};

function refusalOf(policy: AddressPolicy, addresses: readonly LookupAddress[]): Error | undefined {
  try {
    for (const { address } of addresses) policy.check(address);
    return undefined;
  } catch (refusal) {
    return refusal as Error;
  }
}
