import { type Cidr, cidrContains, type IpAddress, parseIp } from "../primitives/address.js";

/**
 * Where a request comes from. Without trusted proxies that is the socket's peer. Behind them, `X-Forwarded-For`
 * is read from the right, past every trusted address: what stands further left was written by strangers.
 * `undefined` when the address is unknown or malformed.
 */
export function sourceOf(
  peer: string | undefined,
  forwardedFor: readonly string[],
  trustedProxies: readonly Cidr[],
): IpAddress | undefined {
  let source = parseIp(peer?.replace(/%.*$/, "") ?? "");
  const hops = forwardedFor
    .join(",")
    .split(",")
    .map((hop) => hop.replace(/^[ \t]+|[ \t]+$/g, ""));
  for (let i = hops.length - 1; i >= 0 && source !== undefined && isTrusted(source, trustedProxies); i--) {
    if (hops[i] === "" && hops.length === 1) break;
    source = parseIp(hops[i] ?? "");
  }
  return source;
}

function isTrusted(address: IpAddress, trustedProxies: readonly Cidr[]): boolean {
  return trustedProxies.some((cidr) => cidrContains(cidr, address));
}
