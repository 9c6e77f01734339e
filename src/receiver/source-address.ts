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
  let source = parseIp(peer?.split("%", 1)[0] ?? "");
  const hops = forwardedFor.join(",").split(",").map(withoutBlanks);
  for (let i = hops.length - 1; i >= 0 && source !== undefined && isTrusted(source, trustedProxies); i--) {
    if (hops[i] === "" && hops.length === 1) break;
    source = parseIp(hops[i] ?? "");
  }
  return source;
}

/** Without the spaces and tabs around it; an expression would look at a row of blanks once for each of them. */
function withoutBlanks(hop: string): string {
  let [start, end] = [0, hop.length];
  while (start < end && isBlank(hop[start])) start++;
  while (end > start && isBlank(hop[end - 1])) end--;
  return hop.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function isTrusted(address: IpAddress, trustedProxies: readonly Cidr[]): boolean {
  return trustedProxies.some((cidr) => cidrContains(cidr, address));
}
