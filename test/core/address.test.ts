import { describe, expect, it } from "vitest";
import { cidrContains, isLoopbackHost, isPublicAddress, parseCidr, parseIp } from "../../src/core/address.js";

function ip(text: string) {
  const address = parseIp(text);
  if (!address) throw new Error(`${text} does not parse`);
  return address;
}

describe("parseIp", () => {
  it.each<[text: string, bytes: number[]]>([
    ["0.0.0.0", [0, 0, 0, 0]],
    ["255.255.255.255", [255, 255, 255, 255]],
    ["::", new Array<number>(16).fill(0)],
    ["::1", [...new Array<number>(15).fill(0), 1]],
    ["2001:db8::ff00:42:8329", [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0x42, 0x83, 0x29]],
    ["2001:DB8:0:0:0:ff00:0042:8329", [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0x42, 0x83, 0x29]],
    ["64:ff9b::192.0.2.33", [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 33]],
    ["::ffff:192.0.2.1", [192, 0, 2, 1]],
    ["::ffff:c000:201", [192, 0, 2, 1]],
    ["0:0:0:0:0:ffff:192.0.2.1", [192, 0, 2, 1]],
  ])("%s", (text, bytes) => {
    expect(parseIp(text)).toEqual(bytes);
  });

  it.each([
    "",
    "1.2.3",
    "1.2.3.4.5",
    "256.0.0.1",
    "1.2.3.04",
    "0x7f.0.0.1",
    "127.1",
    "2130706433",
    " 127.0.0.1",
    "127.0.0.1 ",
    "1.2.3.4/32",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "1:2:3:4:5:6:7::8:9",
    ":1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:",
    "12345::",
    "g::",
    "::1.2.3",
    "1.2.3.4::",
    "::1.2.3.4:5",
    "fe80::1%eth0",
    "[::1]",
    "localhost",
  ])("refuses %j", (text) => {
    expect(parseIp(text)).toBeUndefined();
  });
});

describe("ranges", () => {
  it("of one family never contain an address of the other", () => {
    expect(cidrContains(parseCidr("::/0"), ip("1.2.3.4"))).toBe(false);
    expect(cidrContains(parseCidr("0.0.0.0/0"), ip("::1.2.3.4"))).toBe(false);
  });

  it("of IPv4-mapped addresses are ranges of IPv4", () => {
    expect(cidrContains(parseCidr("::ffff:10.0.0.0/104"), ip("10.255.0.1"))).toBe(true);
    expect(cidrContains(parseCidr("::ffff:10.0.0.0/104"), ip("11.0.0.1"))).toBe(false);
    expect(() => parseCidr("::ffff:10.0.0.0/95")).toThrow(expect.objectContaining({ code: "CIDR_INVALID" }));
  });

  it("say what to write for a single address", () => {
    expect(() => parseCidr("10.0.0.1/8")).toThrow("/32");
    expect(() => parseCidr("2001:db8::1/32")).toThrow("/128");
    expect(() => parseCidr("::ffff:10.0.0.1/104")).toThrow("/128");
  });
});

describe("isPublicAddress", () => {
  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00::1",
    "2001:200::1",
    "::ffff:8.8.8.8",
  ])("%s is public", (text) => {
    expect(isPublicAddress(ip(text))).toBe(true);
  });

  it.each([
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
  ])("%s is not", (text) => {
    expect(isPublicAddress(ip(text))).toBe(false);
  });
});

describe("isLoopbackHost", () => {
  it.each(["localhost", "localhost.", "127.0.0.1", "127.1.2.3", "[::1]", "::1", "[::ffff:127.0.0.1]"])(
    "%s",
    (host) => {
      expect(isLoopbackHost(host)).toBe(true);
    },
  );

  it.each([
    "localhost.example.com",
    "foo.localhost",
    "127.0.0.1.example.com",
    "128.0.0.1",
    "[::2]",
    "0.0.0.0",
    "",
  ])("not %s", (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });
});
