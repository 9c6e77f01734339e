import { HookproofError } from "../errors.js";
import { type Cidr, cidrContains, parseCidrs, parseIp } from "../primitives/address.js";
import { isPublicAddress } from "../primitives/public-address.js";
import { asUnsent } from "./unsent.js";

/** Decides whether an address may be connected to. */
export interface AddressPolicy {
  /** Throws ADDRESS_REFUSED for an address that is neither public nor in an allowed range. */
  check(address: string): void;
  /**
   * The same for a URL's host, as far as the host itself tells where it leads: an address, or `localhost` and every
   * name below it, which stand for 127.0.0.1 whatever they resolve to.
   */
  checkHost(hostname: string): void;
}

/** A policy that lets public addresses pass, and those in the ranges given. */
export function publicAddresses(allowedCidrs: readonly string[] = []): AddressPolicy {
  const allowed: readonly Cidr[] = parseCidrs(allowedCidrs);

  function check(address: string): void {
    const ip = parseIp(address.split("%", 1)[0] ?? "");
    if (ip && (isPublicAddress(ip) || allowed.some((cidr) => cidrContains(cidr, ip)))) return;
    throw new HookproofError(
      "ADDRESS_REFUSED",
      `${address} is not a public address, and private ones are not allowed here.`,
    );
  }

  return {
    check,
    checkHost(hostname) {
      // A URL's host is in canonical form already: 0x7f.1 and 2130706433 have become 127.0.0.1.
      const host = hostname.replace(/^\[|\]$|\.$/g, "");
      try {
        if (host === "localhost" || host.endsWith(".localhost")) check("127.0.0.1");
        else if (parseIp(host)) check(host);
      } catch (refusal) {
        throw asUnsent(refusal as Error);
      }
    },
  };
}
