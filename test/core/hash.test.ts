import { describe, expect, it } from "vitest";
import * as portable from "../../src/core/hash-portable.js";
import * as native from "../../src/core/node/hash.js";

describe.each([
  ["native", native],
  ["portable", portable],
])("the %s hash", (_, hash) => {
  it("gives SHA-256 as base64url (FIPS 180-2, appendix B.1)", () => {
    const digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const text = hash.sha256Base64url(new TextEncoder().encode("abc"));
    expect(Buffer.from(text, "base64url").toString("hex")).toBe(digest);
    expect(text).toHaveLength(43);
  });

  // FIPS 180-2, appendices A.1, B.1 and C.1; RFC 2202 and RFC 4231, test case 2.
  it.each<[name: "sha1" | "sha256" | "sha512", digest: string, mac: string]>([
    ["sha1", "a9993e364706816aba3e25717850c26c9cd0d89d", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"],
    [
      "sha256",
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ],
    [
      "sha512",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
      "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
    ],
  ])("gives %s and its HMAC over all parts", (name, digest, mac) => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const hex = (text: string) => Buffer.from(text, "base64url").toString("hex");
    expect(hex(hash.digestOf(name, ["a", bytes("bc")]))).toBe(digest);
    expect(hex(hash.hmacOf(name, bytes("Jefe"), [bytes("what do ya "), "want for nothing?"]))).toBe(mac);
  });

  it.each([
    ["", ""],
    ["f", "Zg=="],
    ["fo", "Zm8="],
    ["foo", "Zm9v"],
    ["foobar", "Zm9vYmFy"],
  ])("gives %j in base64 (RFC 4648, section 10)", (text, encoded) => {
    expect(hash.encodeBase64(new TextEncoder().encode(text))).toBe(encoded);
  });

  it("joins head and body, wherever the border lies", () => {
    const hmac = hash.hmacSha256("secret");
    const whole = hmac("", "1.2.{}");
    expect(hmac("1.2.", "{}")).toBe(whole);
    expect(hmac("1.2.", new TextEncoder().encode("{}"))).toBe(whole);
  });

  it("takes a text as its UTF-8 bytes", () => {
    const bytes = new TextEncoder().encode("schlüssel 🔐");
    expect(hash.hmacSha256("schlüssel 🔐")("ä", "ö")).toBe(hash.hmacSha256(bytes)("ä", "ö"));
  });

  it.each<[a: string, b: string, equal: boolean]>([
    ["", "", true],
    ["abc", "abc", true],
    ["abc", "abd", false],
    ["abc", "bbc", false],
    ["abc", "ab", false],
    ["abc", "abcd", false],
    ["a", "\u0161", false],
    ["é", "é", true],
  ])("compares %j with %j: %s", (a, b, equal) => {
    expect(hash.constantTimeEqual(a, b)).toBe(equal);
    expect(hash.constantTimeEqual(b, a)).toBe(equal);
  });
});
