import { HookproofError } from "../errors.js";
import { type Cidr, cidrContains, parseCidr, parseIp } from "../primitives/address.js";
import { isPublicAddress } from "../primitives/public-address.js";
import type { TransportOptions } from "./transport.js";

/** Decides whether an address may be connected to. */
export interface AddressPolicy {
  /** Whether anything is refused at all. */
  readonly guards: boolean;
  /** Throws ADDRESS_REFUSED for an address that is neither public nor allowed by name. */
  check(address: string): void;
  /** The same for a URL's host, as far as the host itself is an address. */
  checkHost(hostname: string): void;
}

/** The policy that a transport's options describe. */
export function addressPolicy(options: TransportOptions): AddressPolicy {
  const allowed: readonly Cidr[] = (options.allowedCidrs ?? []).map(parseCidr);
  const guards = options.allowPrivateNetwork === false;

  function check(address: string): void {
    if (!guards) return;
    const ip = parseIp(address.replace(/%.*$/, ""));
    if (ip && (isPublicAddress(ip) || allowed.some((cidr) => cidrContains(cidr, ip)))) return;
    throw new HookproofError(
      "ADDRESS_REFUSED",
      `${address} is not a public address, and private ones are not allowed here.`,
    );
  }

  return {
    guards,
    check,
    checkHost(hostname) {
      // A URL's host is in canonical form already: 0x7f.1 and 2130706433 have become 127.0.0.1.
      const host = hostname.replace(/^\[|\]$/g, "");
      if (parseIp(host)) check(host);
    },
  };
}
