import { createSign } from "node:crypto";
import { jwtSigner, type SigningKey } from "hookproof";
import { generateKey } from "hookproof/jwks";
import { decodeJwt, decodeProtectedHeader, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import { externalSignature } from "../../src/jwt/sign-token.js";
import { proofLine } from "../kit/proof-line.js";
import { jwkOf, made, pemOf } from "./private-keys.js";

const refusal = (code: string) => expect.objectContaining({ name: "HookproofError", code });
const baseUrl = "https://tenant.example.com";
const url = `${baseUrl}/api/v1/webhooks/incoming/lst_1`;
const request = {
  url,
  timestamp: "1767225600",
  eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
  body: new TextEncoder().encode("{}"),
};
const key = jwkOf(made.ed25519().privateKey);
const signingKey = { key, kid: "k", alg: "EdDSA" } as const;

async function claimsOf(signer: ReturnType<typeof jwtSigner>, changes: Partial<typeof request> = {}) {
  const [, value] = await proofLine(signer, { ...request, ...changes });
  return decodeJwt(value.slice("Bearer ".length));
}

describe("jwtSigner", () => {
  it.each([0, -1, 601, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "300" as unknown as number])(
    "refuses a life of %s seconds",
    (expiresInSeconds) => {
      expect(() => jwtSigner({ ...signingKey, expiresInSeconds })).toThrow(RangeError);
      expect(() => jwtSigner(() => signingKey, { expiresInSeconds })).toThrow(/expiresInSeconds/);
    },
  );

  it.each([1, 600])("gives tokens that live %s seconds", async (expiresInSeconds) => {
    const { exp } = await claimsOf(jwtSigner({ ...signingKey, expiresInSeconds }));
    expect(exp).toBe(1767225600 + expiresInSeconds);
    expect(await claimsOf(jwtSigner(() => signingKey, { expiresInSeconds }))).toMatchObject({ exp });
  });

  it.each(["", "k".repeat(257), 7 as unknown as string, undefined as unknown as string])(
    "refuses the kid %j",
    (kid) => {
      expect(() => jwtSigner({ ...signingKey, kid })).toThrow(/kid must be/);
    },
  );

  it.each(["HS256", "none", "eddsa", "Ed25519", undefined])("refuses the alg %s", (alg) => {
    expect(() => jwtSigner({ ...signingKey, alg: alg as "EdDSA" })).toThrow(/alg must be/);
  });

  it("refuses a base URL that is none, and one the listener is not under", async () => {
    expect(() => jwtSigner({ ...signingKey, baseUrl: "tenant.example.com" })).toThrow(
      refusal("LISTENER_URL_INVALID"),
    );
    const elsewhere = jwtSigner({ ...signingKey, baseUrl: "https://other.example.com" });
    await expect(elsewhere.sign(request)).rejects.toThrow(refusal("BASE_URL_MISMATCH"));
    const below = jwtSigner({ ...signingKey, baseUrl: `${baseUrl}/more` });
    await expect(below.sign(request)).rejects.toThrow(refusal("BASE_URL_MISMATCH"));
    expect(await claimsOf(jwtSigner({ ...signingKey, baseUrl: `${baseUrl}/` }))).toMatchObject({
      sub: baseUrl,
    });
  });

  it("binds every token to its own request", async () => {
    const signer = jwtSigner(signingKey);
    const first = await claimsOf(signer);
    expect(first).toEqual({
      sub: baseUrl,
      aud: url,
      exp: 1767225900,
      jti: request.eventId,
      htm: "POST",
      htb_s256: "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o", // "empty object" of protocol.json
    });
    const other = `https://example.com/t/api/v1/webhooks/incoming/lst_2`;
    expect(await claimsOf(signer, { url: other })).toMatchObject({
      sub: "https://example.com/t",
      aud: other,
    });
    expect(await claimsOf(signer, { timestamp: "1767225601" })).toMatchObject({ exp: 1767225901 });
    expect(await claimsOf(signer, { body: new Uint8Array() })).not.toMatchObject({
      htb_s256: first.htb_s256,
    });
  });

  it("asks a function at every attempt, so that a rotated key is used at once", async () => {
    const keys = [
      await generateKey({ alg: "ES256", kid: "old" }),
      await generateKey({ alg: "EdDSA", kid: "new" }),
    ];
    let asked = 0;
    const signer = jwtSigner(async () => {
      const record = keys[asked++ === 0 ? 0 : 1] as (typeof keys)[number];
      return { key: record.privateJwk, kid: record.kid, alg: record.alg };
    });
    const headers: unknown[] = [];
    for (let i = 0; i < 3; i++)
      headers.push(decodeProtectedHeader((await proofLine(signer, request))[1].slice(7)));
    expect(headers).toEqual([
      { alg: "ES256", kid: "old", typ: "JWT" },
      { alg: "EdDSA", kid: "new", typ: "JWT" },
      { alg: "EdDSA", kid: "new", typ: "JWT" },
    ]);
    expect(asked).toBe(3);
  });

  it("a function that fails, or gives nonsense, fails the signature by name", async () => {
    const failing = jwtSigner(() => {
      throw new Error("vault is sealed");
    });
    await expect(failing.sign(request)).rejects.toThrow(refusal("SIGNER_FAILED"));
    await expect(jwtSigner(() => ({ ...signingKey, kid: "" })).sign(request)).rejects.toThrow(TypeError);
  });
});

describe("an external signer", () => {
  const bytes = new TextEncoder().encode("to sign");

  it.each<[what: string, alg: SigningKey["alg"], answer: () => unknown]>([
    ["nothing", "ES256", () => undefined],
    ["a text", "EdDSA", () => "c2lnbmF0dXJl"],
    ["too few bytes", "EdDSA", () => new Uint8Array(63)],
    ["too many bytes", "EdDSA", () => new Uint8Array(65)],
    ["no bytes", "ES256", () => new Uint8Array()],
    ["a short RSA signature", "RS256", () => new Uint8Array(128)],
    ["64 bytes for RSA", "RS256", () => new Uint8Array(64)],
    ["DER with a byte after it", "ES256", () => Buffer.concat([der(), Buffer.from([0])])],
    ["DER that ends early", "ES256", () => der().subarray(0, -1)],
    ["DER that names another length", "ES256", () => der().fill(0x49, 1, 2)],
    ["DER of another structure", "ES256", () => Buffer.concat([Buffer.from([0x31]), der().subarray(1)])],
    ["ECDSA of P-384", "ES256", () => createSign("sha256").update(bytes).sign(pemOf(made.p384().privateKey))],
  ])("that gives %s (%s) is a failed signer", async (_, alg, answer) => {
    await expect(externalSignature(async () => answer() as Uint8Array, bytes, alg)).rejects.toThrow(
      refusal("SIGNER_FAILED"),
    );
  });

  it("that throws is a failed signer, with what it threw as the cause", async () => {
    const cause = new Error("throttled");
    const failing = async () => Promise.reject(cause);
    const signer = jwtSigner({ key: failing, kid: "k", alg: "RS256" });
    await expect(signer.sign(request)).rejects.toThrow(
      expect.objectContaining({ code: "SIGNER_FAILED", cause }),
    );
  });

  it("is asked for exactly the signing input of the token", async () => {
    let input = "";
    const sign = async (given: Uint8Array) => {
      input = Buffer.from(given).toString();
      return new Uint8Array(64);
    };
    const [, value] = await proofLine(jwtSigner({ key: sign, kid: "k", alg: "EdDSA" }), request);
    expect(value).toBe(`Bearer ${input}.${"A".repeat(86)}`);
  });

  function der(): Buffer {
    return createSign("sha256").update(bytes).sign(pemOf(made.p256().privateKey));
  }
});

it("a private JWK may carry what exporters write", async () => {
  const exported: JWK = { ...key, ext: true, key_ops: ["sign"], use: "sig", kid: "other" };
  expect(
    decodeProtectedHeader(
      (await proofLine(jwtSigner({ ...signingKey, key: exported }), request))[1].slice(7),
    ),
  ).toEqual({
    alg: "EdDSA",
    kid: "k",
    typ: "JWT",
  });
});
