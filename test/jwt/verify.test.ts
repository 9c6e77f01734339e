import { createHash, type KeyObject, sign } from "node:crypto";
import { localKeys } from "hookproof/jwks";
import { describe, expect, it } from "vitest";
import { checkClaims } from "../../src/schemes/access-governance/claims.js";
import { checkToken, type TokenRules } from "../../src/schemes/access-governance/verify.js";
import { jwkOf, made } from "./private-keys.js";

const { publicKey, privateKey } = made.ed25519();
const now = 1_767_225_600;
const body = new TextEncoder().encode('{"a":1}');
const rules: TokenRules = {
  baseUrl: "https://tenant.example.com",
  url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
  eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
  body,
  nowSeconds: now,
  allowEd25519: false,
  keys: localKeys({ keys: [{ ...jwkOf(publicKey), kid: "k", alg: "EdDSA", use: "sig" }] }),
};
const claims = {
  sub: rules.baseUrl,
  aud: rules.url,
  exp: now + 300,
  jti: rules.eventId,
  htm: "POST",
  htb_s256: createHash("sha256").update(body).digest("base64url"),
};

function bearer(payload: string, key: KeyObject = privateKey): string {
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  const input = `${encode('{"alg":"EdDSA","kid":"k"}')}.${encode(payload)}`;
  return `Bearer ${input}.${sign(null, Buffer.from(input), key).toString("base64url")}`;
}

async function checked(authorization: string, over: Partial<TokenRules> = {}) {
  const checks = [];
  for (const check of await checkToken(authorization, { ...rules, ...over })) checks.push(check);
  return checks;
}

describe("a token", () => {
  it("that is right passes every check, in order", async () => {
    const checks = await checked(bearer(JSON.stringify(claims)));
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(checks.map(({ step }) => step)).toEqual([
      ...["token", "key", "token-signature", "claims"],
      ...["exp", "nbf", "sub", "aud", "jti", "htm", "htb_s256"],
    ]);
  });

  it.each<[what: string, authorization: () => string, last: object]>([
    [
      "of another scheme",
      () => "Basic dTpw",
      { step: "token", code: "TOKEN_MALFORMED", seen: "another scheme or form" },
    ],
    [
      "signed by another key",
      () => bearer(JSON.stringify(claims), made.ed25519Other().privateKey),
      {
        step: "token-signature",
        code: "TOKEN_SIGNATURE_MISMATCH",
        seen: "a signature by another key, or of other content",
      },
    ],
    [
      "whose claims are no object",
      () => bearer("[]"),
      { step: "claims", code: "TOKEN_MALFORMED", seen: "claims with a value that is not an object" },
    ],
    [
      "whose claims have a name twice",
      () => bearer('{"sub":"a","sub":"b"}'),
      { step: "claims", code: "TOKEN_MALFORMED", seen: 'claims with the member "sub" twice' },
    ],
  ])("%s stops at that check", async (_, authorization, last) => {
    const checks = await checked(authorization());
    expect(checks.filter(({ ok }) => !ok)).toEqual([expect.objectContaining(last)]);
    expect(checks.at(-1)).toMatchObject(last);
  });

  it.each<[what: string, resolve: () => unknown, code: string]>([
    ["knows no such key", () => ({ ok: false, code: "KEY_NOT_FOUND", detail: "d" }), "KEY_NOT_FOUND"],
    ["has an invalid set", () => ({ ok: false, code: "KEY_SET_INVALID", detail: "d" }), "KEY_SET_INVALID"],
    ["rejects", () => Promise.reject(new Error("down")), "KEY_SET_UNAVAILABLE"],
    ["answers nothing", () => undefined, "KEY_SET_UNAVAILABLE"],
    ["answers a code of its own", () => ({ ok: false, code: "FINE" }), "KEY_SET_UNAVAILABLE"],
    ["answers a truthy word", () => ({ ok: "yes", code: "KEY_NOT_FOUND" }), "KEY_SET_UNAVAILABLE"],
  ])("whose resolver %s", async (_, resolve, code) => {
    const keys = { resolve } as unknown as TokenRules["keys"];
    const last = (await checked(bearer(JSON.stringify(claims)), { keys })).at(-1);
    expect(last).toMatchObject({ step: "key", ok: false, code, seen: expect.any(String) });
  });
});

describe("a key of a caller's resolver", () => {
  const CURVE = { name: "ECDSA", namedCurve: "P-384" };
  const RSA = { name: "RSASSA-PKCS1-v1_5", modulusLength: 1024, publicExponent: Uint8Array.of(1, 0, 1) };
  const SHORT = { ...RSA, hash: "SHA-256" };
  const OTHER_HASH = { ...RSA, modulusLength: 2048, hash: "SHA-512" };

  it.each<[what: string, alg: string, made: RsaHashedKeyGenParams | EcKeyGenParams]>([
    ["on another curve", "ES256", CURVE],
    ["that is too short", "RS256", SHORT],
    ["for another hash", "RS256", OTHER_HASH],
  ])("%s verifies nothing, not even what it has signed", async (_, alg, parameters) => {
    const { subtle } = globalThis.crypto;
    for (const extractable of [true, false]) {
      const pair = (await subtle.generateKey(parameters, extractable, ["sign", "verify"])) as CryptoKeyPair;
      const encode = (text: string) => Buffer.from(text).toString("base64url");
      const input = `${encode(`{"alg":"${alg}","kid":"k"}`)}.${encode(JSON.stringify(claims))}`;
      const how = { name: parameters.name, hash: "SHA-256" };
      const signature = Buffer.from(await subtle.sign(how, pair.privateKey, Buffer.from(input)));
      const token = `Bearer ${input}.${signature.toString("base64url")}`;
      expect(await subtle.verify(how, pair.publicKey, signature, Buffer.from(input))).toBe(true);
      for (const key of [pair.publicKey, pair.privateKey]) {
        const keys = { resolve: async () => ({ ok: true, key }) as const };
        expect((await checked(token, { keys })).at(-1)).toMatchObject({
          code: "TOKEN_SIGNATURE_MISMATCH",
          seen: "a token that cannot be verified with this key",
        });
      }
    }
  });

  it.each<[what: string, key: unknown]>([
    ["no key", undefined],
    ["a text", "key"],
    ["a key of Node", publicKey],
    ["a JWK", jwkOf(publicKey)],
  ])("that is %s verifies nothing", async (_, key) => {
    const keys = { resolve: async () => ({ ok: true, key }) as never };
    const last = (await checked(bearer(JSON.stringify(claims)), { keys })).at(-1);
    expect(last).toMatchObject({
      code: "TOKEN_SIGNATURE_MISMATCH",
      seen: expect.stringMatching(/this key$/),
    });
  });
});

describe("the claims", () => {
  const failures = (over: object) =>
    [...checkClaims({ ...claims, ...over }, rules)].filter(({ ok }) => !ok).map(({ code }) => code);
  const seen = (over: object, step: string) =>
    [...checkClaims({ ...claims, ...over }, rules)].find((check) => check.step === step)?.seen;

  it.each([now, now - 1, 0, -1, 1.5])("with nbf %j are in force", (nbf) => {
    expect(failures({ nbf })).toEqual([]);
    expect(seen({ nbf }, "nbf")).toBe(String(nbf));
  });

  it.each([now + 1, now + 0.5, "0", null, true, [0], {}])("with nbf %j are not", (nbf) => {
    expect(failures({ nbf })).toEqual(["CLAIM_NBF_INVALID"]);
  });

  it("name the event in either case, as a text", () => {
    expect(failures({ jti: rules.eventId.toUpperCase() })).toEqual([]);
    for (const jti of [7, null, [rules.eventId], undefined])
      expect(failures({ jti })).toEqual(["CLAIM_JTI_INVALID"]);
  });

  it("are shown as they were seen", () => {
    expect(seen({ sub: undefined }, "sub")).toBe("nothing");
    expect(seen({ sub: "https://other.example.com" }, "sub")).toBe('"https://other.example.com"');
  });
});
