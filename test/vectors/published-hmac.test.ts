import { signHmac } from "hookproof";
import { describe, expect, it } from "vitest";
import * as portable from "../../src/core/hash-portable.js";
import * as native from "../../src/core/node/hash.js";
import { hexBytes, readVectors } from "./vector-file.js";

interface Rfc4231 {
  tests: { testCase: number; key: string; data: string; mac: string; truncatedBits?: number }[];
}

interface WycheproofMac {
  numberOfTests: number;
  testGroups: {
    keySize: number;
    tagSize: number;
    tests: { tcId: number; comment: string; key: string; msg: string; tag: string; result: string }[];
  }[];
}

const variants = [
  ["native", native],
  ["portable", portable],
] as const;

/** HMAC-SHA-256 in hexadecimal, with nothing before the message. */
function macHex(hash: typeof native | typeof portable, key: string, message: string): string {
  const mac = hash.hmacSha256(hexBytes(key))("", hexBytes(message));
  return Buffer.from(mac, "base64url").toString("hex");
}

describe.each(variants)("RFC 4231, %s", (_, hash) => {
  it.each(readVectors<Rfc4231>("rfc4231_hmac_sha256.json").tests)("case $testCase", (one) => {
    const mac = macHex(hash, one.key, one.data);
    expect(mac.slice(0, one.mac.length)).toBe(one.mac);
    expect(one.mac).toHaveLength((one.truncatedBits ?? 256) / 4);
  });
});

describe.each(variants)("Wycheproof HMAC-SHA-256, %s", (_, hash) => {
  const vectors = readVectors<WycheproofMac>("wycheproof/hmac_sha256_test.json");

  it("has the cases it is supposed to have", () => {
    const counted = vectors.testGroups.reduce((sum, { tests }) => sum + tests.length, 0);
    expect(counted).toBe(vectors.numberOfTests);
  });

  it.each(vectors.testGroups)("keys of $keySize bit, tags of $tagSize bit", ({ tagSize, tests }) => {
    const judged = tests.map(({ tcId, key, msg, tag }) => ({
      tcId,
      result: macHex(hash, key, msg).slice(0, tagSize / 4) === tag ? "valid" : "invalid",
    }));
    expect(judged).toEqual(tests.map(({ tcId, result }) => ({ tcId, result })));
  });
});

describe("Standard Webhooks, as a contrast", () => {
  it("signs the same event otherwise", () => {
    const other = readVectors<{
      msgId: string;
      timestamp: number;
      payload: string;
      secretBase64: string;
      signature: string;
    }>("standard_webhooks.json");
    const { secretBase64: secret, timestamp, msgId: eventId, payload: body } = other;
    const theirs = other.signature.replace("v1,", "");
    const ours = signHmac({ secret, timestamp, eventId, body });
    expect(Buffer.from(ours, "base64url")).not.toEqual(Buffer.from(theirs, "base64"));

    // Their order and their decoded key give their value: the message is the same, only the scheme differs.
    const key = native.hmacSha256(new Uint8Array(Buffer.from(secret, "base64")));
    const contrast = key(`${eventId}.${timestamp}.`, body);
    expect(Buffer.from(contrast, "base64url")).toEqual(Buffer.from(theirs, "base64"));
  });
});
