import { describe, expect, it } from "vitest";
import { formatIp, parseCidr } from "../../src/core/address.js";
import { sourceOf } from "../../src/receiver/checks.js";

const PROXIES = ["10.0.0.0/8", "2001:db8:1::/48"].map(parseCidr);

function source(peer: string | undefined, ...lines: string[]): string | undefined {
  const found = sourceOf(peer, lines, PROXIES);
  return found && formatIp(found);
}

describe("without a trusted proxy in between", () => {
  it.each<[string | undefined, string | undefined]>([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["2001:db8::1", "2001:db8:0:0:0:0:0:1"],
    ["fe80::1%eth0", "fe80:0:0:0:0:0:0:1"],
    [undefined, undefined],
    ["", undefined],
    ["192.0.2.1:443", undefined],
    ["192.0.2.256", undefined],
    ["192.0.2.01", undefined],
    ["localhost", undefined],
  ])("the peer %j is %j, whatever was forwarded", (peer, expected) => {
    expect(source(peer)).toBe(expected);
    expect(source(peer, "198.51.100.9")).toBe(expected);
  });
});

describe("behind trusted proxies", () => {
  it.each<[string, string[], string | undefined]>([
    ["one hop", ["192.0.2.1"], "192.0.2.1"],
    ["the rightmost that is not trusted", ["192.0.2.1, 198.51.100.9"], "198.51.100.9"],
    ["past trusted ones", ["192.0.2.1, 198.51.100.9, 10.1.1.1, 10.2.2.2"], "198.51.100.9"],
    ["past a trusted one that is mapped", ["198.51.100.9, ::ffff:10.1.1.1"], "198.51.100.9"],
    ["past a trusted one of IPv6", ["198.51.100.9, 2001:db8:1::5"], "198.51.100.9"],
    ["over several lines, in order", ["192.0.2.1", "198.51.100.9,10.1.1.1", "10.2.2.2"], "198.51.100.9"],
    ["with spaces and tabs", [" \t192.0.2.1\t , 10.1.1.1 "], "192.0.2.1"],
    ["nothing forwarded", [], "10.0.0.1"],
    ["an empty line", [""], "10.0.0.1"],
    ["only trusted ones", ["10.3.3.3, 10.4.4.4"], "10.3.3.3"],
    ["a malformed hop at the right end", ["192.0.2.1, nonsense"], undefined],
    ["a malformed hop behind a trusted one", ["192.0.2.1, nonsense, 10.1.1.1"], undefined],
    ["a malformed hop that is not reached", ["nonsense, 192.0.2.1"], "192.0.2.1"],
    ["an empty hop", ["192.0.2.1,,10.1.1.1"], undefined],
    ["a comma at the end", ["192.0.2.1,"], undefined],
    ["an empty second line", ["192.0.2.1", ""], undefined],
    ["a hop with a port", ["192.0.2.1:443"], undefined],
    ["a hop in brackets", ["[2001:db8::1]"], undefined],
    ["a hop with a zone", ["fe80::1%eth0"], undefined],
    ["a hop in quotes", ['"192.0.2.1"'], undefined],
    ["a no-break space", ["192.0.2.1\u00a0"], undefined],
    ["a space inside an address", ["192.0.2. 1"], undefined],
  ])("%s", (_name, lines, expected) => {
    expect(source("10.0.0.1", ...lines)).toBe(expected);
    expect(source("::ffff:10.0.0.1", ...lines)).toBe(expected);
  });
});
