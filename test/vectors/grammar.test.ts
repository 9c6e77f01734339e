import { isEventId } from "hookproof";
import { createReceiver } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { cidrContains, parseCidr, parseIp } from "../../src/core/address.js";
import { isTimestamp, timestampText } from "../../src/core/protocol.js";
import { readVectors } from "./vector-file.js";

const uuids = readVectors<{ tests: { input: string; isV4: boolean; comment: string }[] }>("event-ids.json");
const timestamps = readVectors<{ tests: { input: string; wellFormed: boolean }[] }>("timestamps.json");
const cidrs = readVectors<{
  match: { cidr: string; inside: string[]; outside: string[] }[];
  invalid: string[];
  hostBitsSet: string[];
}>("address-ranges.json");

describe("event ids", () => {
  it.each(uuids.tests)("$comment: $isV4", ({ input, isV4 }) => {
    expect(isEventId(input)).toBe(isV4);
  });
});

describe("timestamps", () => {
  it.each(timestamps.tests)("$input: $wellFormed", ({ input, wellFormed }) => {
    expect(isTimestamp(input)).toBe(wellFormed);
    if (wellFormed) expect(timestampText(input)).toBe(input);
    else expect(() => timestampText(input)).toThrow(expect.objectContaining({ code: "TIMESTAMP_INVALID" }));
  });
});

function contains(cidr: string, address: string): boolean {
  const ip = parseIp(address);
  if (ip === undefined) throw new Error(`the vector's address ${address} does not parse`);
  return cidrContains(parseCidr(cidr), ip);
}

describe("address ranges", () => {
  it.each(cidrs.match)("$cidr", ({ cidr, inside, outside }) => {
    for (const address of inside) expect(contains(cidr, address), address).toBe(true);
    for (const address of outside) expect(contains(cidr, address), address).toBe(false);
  });

  it.each([...cidrs.invalid, ...cidrs.hostBitsSet])(
    "refuses %j, as a range and in a configuration",
    (text) => {
      const refused = expect.objectContaining({ code: "CIDR_INVALID" });
      expect(() => parseCidr(text)).toThrow(refused);
      const auth = { method: "hmac", secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" } as const;
      const listener = { id: "lst_1", baseUrl: "https://tenant.example.com", auth, allowedCidrs: [text] };
      expect(() => createReceiver({ listener })).toThrow(refused);
    },
  );
});
