import { describe, expect, it } from "vitest";
import { decodeBase64url, encodeBase64, encodeBase64url } from "../../src/core/bytes.js";

/** RFC 4648 section 10, without padding; the last ones use the two characters that differ from base64. */
const PAIRS: [bytes: string, text: string][] = [
  ["", ""],
  ["66", "Zg"],
  ["666f", "Zm8"],
  ["666f6f", "Zm9v"],
  ["666f6f62", "Zm9vYg"],
  ["666f6f6261", "Zm9vYmE"],
  ["666f6f626172", "Zm9vYmFy"],
  ["fbff", "-_8"],
  ["ffffff", "____"],
];

describe("base64", () => {
  it.each([...PAIRS, ["fbffbf", "-_-_"] as [string, string]])(
    "%s in the standard alphabet, padded",
    (hex) => {
      const bytes = Buffer.from(hex, "hex");
      expect(encodeBase64(bytes)).toBe(bytes.toString("base64"));
    },
  );
});

describe("base64url", () => {
  it.each(PAIRS)("%s is %j, both ways", (hex, text) => {
    const bytes = new Uint8Array(Buffer.from(hex, "hex"));
    expect(encodeBase64url(bytes)).toBe(text);
    expect(decodeBase64url(text)).toEqual(bytes);
  });

  it.each([
    ["padding", "Zg=="],
    ["an impossible length", "Zm9vY"],
    ["one character", "A"],
    ["bits after the last byte (1 byte)", "Zh"],
    ["bits after the last byte (2 bytes)", "Zm9"],
    ["the alphabet of base64", "+/8"],
    ["white space inside", "Zm 9v"],
    ["a line break at the end", "Zm9v\n"],
    ["a character beyond ASCII", "Zm9ü"],
    ["a character whose low byte is in the alphabet", "Zm9\u0141"],
    ["NUL", "Zm9\0"],
  ])("refuses %s", (_, text) => {
    expect(decodeBase64url(text)).toBeUndefined();
  });
});
