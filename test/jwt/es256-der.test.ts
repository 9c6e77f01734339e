import { HookproofError } from "hookproof";
import { describe, expect, it } from "vitest";
import { externalSignature } from "../../src/jwt/sign-token.js";
import fc from "../kit/fast-check.js";
import { runs } from "../kit/property-runs.js";

/** A number of up to 32 bytes, small ones and ones with the highest bit set included. */
const scalar = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 32 }),
  fc.uint8Array({ minLength: 31, maxLength: 31 }).map((rest) => Uint8Array.of(0x80, ...rest)),
);

/** An INTEGER of DER (X.690 section 8.3): the shortest form, never negative. */
function derInteger(bytes: Uint8Array): number[] {
  const digits = [...bytes];
  while (digits.length > 1 && digits[0] === 0) digits.shift();
  if ((digits[0] ?? 0) >= 0x80) digits.unshift(0);
  return [0x02, digits.length, ...digits];
}

function derSignature(r: Uint8Array, s: Uint8Array): Uint8Array {
  const content = [...derInteger(r), ...derInteger(s)];
  return Uint8Array.of(0x30, content.length, ...content);
}

function padded(bytes: Uint8Array): Uint8Array {
  const full = new Uint8Array(32);
  full.set(bytes, 32 - bytes.length);
  return full;
}

const converted = (answer: Uint8Array) => externalSignature(async () => answer, new Uint8Array(), "ES256");

describe("an ES256 signature in DER", () => {
  it("becomes r and s, 32 bytes each, whatever their size", async () => {
    await fc.assert(
      fc.asyncProperty(scalar, scalar, async (r, s) => {
        const der = derSignature(r, s);
        fc.pre(der.length !== 64); // 64 bytes are taken for the raw form, which is the far likelier one
        expect(await converted(der)).toEqual(Uint8Array.of(...padded(r), ...padded(s)));
      }),
      runs,
    );
  });

  it("that was damaged is refused by name or gives 64 bytes, and nothing else happens", async () => {
    await fc.assert(
      fc.asyncProperty(scalar, scalar, fc.nat(), fc.nat({ max: 255 }), async (r, s, at, value) => {
        const der = derSignature(r, s);
        der[at % der.length] = value;
        const raw = await converted(der).catch((error: unknown) => error);
        if (raw instanceof Uint8Array) expect(raw).toHaveLength(64);
        else expect((raw as HookproofError).code).toBe("SIGNER_FAILED");
      }),
      runs,
    );
  });

  it("of any bytes never throws anything else", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), async (answer) => {
        const raw = await converted(answer).catch((error: unknown) => error);
        expect(raw instanceof Uint8Array || raw instanceof HookproofError).toBe(true);
      }),
      runs,
    );
  });
});
