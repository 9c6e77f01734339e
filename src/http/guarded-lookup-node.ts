import { type LookupAddress, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import type { AddressPolicy } from "./address-policy.js";

/**
 * A DNS look-up for `net.connect` that refuses a name if any of its addresses is refused. The answer it
 * checks is the answer that is connected to, so a name that changes its address in between gains nothing.
 */
export function guardedLookup(policy: AddressPolicy): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const refusal = error ?? refusalOf(policy, addresses);
      const first = addresses?.[0];
      if (refusal || !first) callback(refusal ?? new Error("no address"), "", 0);
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function refusalOf(policy: AddressPolicy, addresses: readonly LookupAddress[]): Error | undefined {
  try {
    for (const { address } of addresses) policy.check(address);
    return undefined;
  } catch (refusal) {
    return refusal as Error;
  }
}
