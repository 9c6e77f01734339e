import { describe, expect, it } from "vitest";
import * as native from "../../src/primitives/hash-node.js";
import * as portable from "../../src/primitives/hash-portable.js";

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

  it("joins head and body, wherever the border lies", () => {
    const key = hash.hmacKey("secret");
    const whole = hash.hmacSha256(key, "", "1.2.{}");
    expect(hash.hmacSha256(key, "1.2.", "{}")).toBe(whole);
    expect(hash.hmacSha256(key, "1.2.", new TextEncoder().encode("{}"))).toBe(whole);
  });

  it("takes a text as its UTF-8 bytes", () => {
    const bytes = new TextEncoder().encode("schlüssel 🔐");
    expect(hash.hmacSha256(hash.hmacKey("schlüssel 🔐"), "ä", "ö")).toBe(
      hash.hmacSha256(hash.hmacKey(bytes), "ä", "ö"),
    );
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
