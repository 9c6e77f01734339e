// Reads addresses and ranges, and says which are of a private network.
import { HookproofError } from "./errors.js";
import { shown } from "./shown.js";

/** An IP address as bytes: 4 for IPv4, 16 for IPv6. An IPv4-mapped IPv6 address is the IPv4 address. */
export type IpAddress = readonly number[];

/** A range of addresses. */
export interface Cidr {
  readonly network: IpAddress;
  readonly prefix: number;
}

const DECIMAL_OCTET = /^(?:0|[1-9]\d{0,2})$/;
const HEX_GROUP = /^[0-9a-fA-F]{1,4}$/;

/** Parses an address in its plain spelling; anything else (zone, octal, short forms) is `undefined`. */
export function parseIp(text: string): IpAddress | undefined {
  return parseIpv4(text) ?? unmapped(parseIpv6(text));
}

/** An address as text: dotted decimal, or all eight groups of IPv6 without `::`. */
export function formatIp(address: IpAddress): string {
  if (address.length === 4) return address.join(".");
  const groups: string[] = [];
  for (let i = 0; i < address.length; i += 2)
    groups.push((((address[i] ?? 0) << 8) | (address[i + 1] ?? 0)).toString(16));
  return groups.join(":");
}

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => DECIMAL_OCTET.test(part))) return undefined;
  const octets = parts.map(Number);
  return octets.every((octet) => octet <= 255) ? octets : undefined;
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, index) => groupsOf(half, index === halves.length - 1));
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 16 ? head : undefined;
  if (tail === undefined || head.length + tail.length > 14) return undefined;
  return [...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

/** The bytes of colon-separated groups; the last one of an address may be a dotted IPv4 address. */
function groupsOf(text: string, isLast: boolean): number[] | undefined {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    const dotted = isLast && index === groups.length - 1 ? parseIpv4(group) : undefined;
    if (dotted) bytes.push(...dotted);
    else if (HEX_GROUP.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff);
    else return undefined;
  }
  return bytes;
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

function unmapped(bytes: number[] | undefined): number[] | undefined {
  return bytes && MAPPED.every((byte, index) => bytes[index] === byte) ? bytes.slice(12) : bytes;
}

/**
 * Parses a range such as `10.0.0.0/8`. Bits set past the prefix are refused: they are a typing mistake
 * more often than not, and guessing which side of the slash is wrong would open or close a door.
 */
export function parseCidr(text: string): Cidr {
  const [address = "", length = "", ...rest] = text.split("/");
  const network = parseIp(address);
  if (network === undefined || rest.length > 0 || !DECIMAL_OCTET.test(length)) {
    throw new HookproofError(
      "CIDR_INVALID",
      `Not an address range: ${shown(text)}. Write it as 10.0.0.0/8 or 2001:db8::/32.`,
    );
  }
  const mappedBits = address.includes(":") && network.length === 4 ? 96 : 0;
  const prefix = Number(length) - mappedBits;
  if (prefix < 0 || prefix > network.length * 8) {
    throw new HookproofError("CIDR_INVALID", `The prefix length of ${shown(text)} does not fit the address.`);
  }
  if (network.some((byte, index) => (byte & ~maskByte(prefix, index)) !== 0)) {
    throw new HookproofError(
      "CIDR_INVALID",
      `${shown(text)} has bits set past its prefix; for one address write /${network.length * 8 + mappedBits}.`,
    );
  }
  return { network, prefix };
}

/** Parses several ranges. */
export function parseCidrs(texts: readonly string[]): readonly Cidr[] {
  return texts.map(parseCidr);
}

/** Whether an address lies in a range; IPv4 and IPv6 ranges never contain each other. */
export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  return (
    cidr.network.length === address.length &&
    cidr.network.every((byte, index) => byte === ((address[index] ?? 0) & maskByte(cidr.prefix, index)))
  );
}

function maskByte(prefix: number, index: number): number {
  const bits = Math.min(8, Math.max(0, prefix - index * 8));
  return (0xff << (8 - bits)) & 0xff;
}

/** Whether a URL's host is this machine itself, by name or by address. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host === "localhost" || host === "127.0.0.1") return true; // most are, and nothing has to be read
  const address = parseIp(host);
  return address !== undefined && LOOPBACK.some((cidr) => cidrContains(cidr, address));
}

const LOOPBACK = /* @__PURE__ */ parseCidrs(["127.0.0.0/8", "::1/128"]);

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
