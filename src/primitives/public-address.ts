import { cidrContains, type IpAddress, parseCidr, parseCidrs } from "./address.js";

/**
 * Whatever IANA's special-purpose registries take out of the public Internet: this network, private use,
 * shared, loopback, link local (with the metadata services of clouds), protocol assignments, documentation,
 * benchmarking, relays, multicast, reserved, broadcast, and the ways IPv6 wraps an IPv4 address.
 */
const NOT_PUBLIC = /* @__PURE__ */ parseCidrs([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);

/** Of IPv6, only global unicast is public, and of that not what is set aside or wraps an IPv4 address. */
const GLOBAL_UNICAST = /* @__PURE__ */ parseCidr("2000::/3");
const NOT_PUBLIC_V6 = /* @__PURE__ */ parseCidrs(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

/** Whether an address belongs to the public Internet. */
export function isPublicAddress(address: IpAddress): boolean {
  if (address.length === 4) return !NOT_PUBLIC.some((cidr) => cidrContains(cidr, address));
  return cidrContains(GLOBAL_UNICAST, address) && !NOT_PUBLIC_V6.some((cidr) => cidrContains(cidr, address));
}
