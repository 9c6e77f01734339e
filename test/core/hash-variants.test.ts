import { createHash, createHmac, hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import * as portable from "../../src/core/hash-portable.js";
import * as native from "../../src/core/node/hash.js";
import fc from "../kit/fast-check.js";
import { runs } from "../kit/property-runs.js";

const bytes = fc.uint8Array({ maxLength: 400 });
const text = fc.string({ unit: "grapheme", maxLength: 100 });

describe("both hash variants", () => {
  it("agree with node:crypto on SHA-256 of any bytes", () => {
    fc.assert(
      fc.property(bytes, (data) => {
        const expected = hash("sha256", data, "base64url");
        expect([native.sha256Base64url(data), portable.sha256Base64url(data)]).toEqual([expected, expected]);
      }),
      runs,
    );
  });

  it("agree with node:crypto on SHA-256 of any text", () => {
    fc.assert(
      fc.property(text, (data) => {
        const expected = hash("sha256", data, "base64url");
        expect([native.sha256Base64url(data), portable.sha256Base64url(data)]).toEqual([expected, expected]);
      }),
      runs,
    );
  });

  it("agree with Node on base64 of any bytes, wherever they lie in their buffer", () => {
    fc.assert(
      fc.property(bytes, fc.nat({ max: 5 }), (data, start) => {
        const part = data.subarray(start);
        const expected = Buffer.from(part).toString("base64");
        expect([native.encodeBase64(part), portable.encodeBase64(part)]).toEqual([expected, expected]);
        const urlSafe = Buffer.from(part).toString("base64url");
        expect([native.encodeBase64url(part), portable.encodeBase64url(part)]).toEqual([urlSafe, urlSafe]);
      }),
      runs,
    );
  });

  it("agree on which texts are base64, each value in its one spelling", () => {
    const alphabet = fc.constantFrom(..."AQZaz09+/=-_ é");
    fc.assert(
      fc.property(fc.oneof(bytes, fc.array(alphabet, { maxLength: 9 })), (data) => {
        const value = data instanceof Uint8Array ? Buffer.from(data).toString("base64") : data.join("");
        const decoded = Buffer.from(value, "base64");
        const expected = decoded.toString("base64") === value ? [...decoded] : undefined;
        for (const { decodeBase64 } of [native, portable]) {
          const found = decodeBase64(value);
          expect(found && [...found], value).toEqual(expected);
        }
      }),
      runs,
    );
    for (const { decodeBase64 } of [native, portable])
      for (const odd of ["QQ", "QQ=", "QR==", "QQ===", "====", "QQ==QQ==", "=QQ=", "Q-Q_", "QUI=\n", "Q"])
        expect(decodeBase64(odd), odd).toBeUndefined();
  });

  it("agree with node:crypto on HMAC of any key, head and body", () => {
    fc.assert(
      fc.property(fc.oneof(bytes, text), text, fc.oneof(bytes, text), (key, head, body) => {
        const expected = createHmac("sha256", key).update(head).update(body).digest("base64url");
        expect(native.hmacSha256(key)(head, body)).toBe(expected);
        expect(portable.hmacSha256(key)(head, body)).toBe(expected);
      }),
      runs,
    );
  });

  it("agree with node:crypto on the hashes that a diagnosis tries", () => {
    const names = fc.constantFrom("sha1", "sha256", "sha512");
    fc.assert(
      fc.property(names, bytes, text, bytes, (name, key, head, body) => {
        const mac = createHmac(name, key).update(head).update(body).digest("base64url");
        expect([native.hmacOf(name, key, [head, body]), portable.hmacOf(name, key, [head, body])]).toEqual([
          mac,
          mac,
        ]);
        const digest = createHash(name).update(head).update(body).digest("base64url");
        expect([native.digestOf(name, [head, body]), portable.digestOf(name, [head, body])]).toEqual([
          digest,
          digest,
        ]);
      }),
      runs,
    );
  });

  it("agree on which texts are equal", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(native.constantTimeEqual(a, b)).toBe(a === b);
        expect(portable.constantTimeEqual(a, b)).toBe(a === b);
        expect(native.constantTimeEqual(a, a) && portable.constantTimeEqual(a, a)).toBe(true);
      }),
      runs,
    );
  });
});
