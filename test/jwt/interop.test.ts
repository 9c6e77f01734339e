import { execFileSync } from "node:child_process";
import { createPrivateKey, sign as nodeSign } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createEvent, type JwtSignerOptions, jwtSigner, type SigningKey } from "hookproof";
import type { JWK } from "jose";
import { expect, it } from "vitest";
import { describeWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { proofLine } from "../kit/proof-line.js";
import { type ProtocolVectors, readVectors } from "../vectors/vector-file.js";

const PYTHON = "/usr/bin/python3";
const hasPyJwt = hasTool(PYTHON, "-c", "import jwt, cryptography");

const baseUrl = "https://tenant.example.com";
const url = `${baseUrl}/api/v1/webhooks/incoming/lst_1`;
const now = Math.floor(Date.now() / 1000);
const event = createEvent({ text: "café 🔐 \u2028" }, { eventId: "0B0F2B3E-6F3C-4C1D-9A6E-2F6D8B7C1A10" });
const { keys } = readVectors<ProtocolVectors>("protocol.json");
type VectorKey = (typeof keys)[number];

const IMPORT = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", namedCurve: "P-256" },
  EdDSA: { name: "Ed25519" },
} as const;

function derOf(pem: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64"));
}

/** A signer as a key service is one: it has the key, we have its answers. */
function outside({ jwk, privatePkcs8Pem }: VectorKey, dsaEncoding: "der" | "ieee-p1363") {
  const digest = jwk.alg === "EdDSA" ? null : "sha256";
  return async (bytes: Uint8Array) => nodeSign(digest, bytes, { key: privatePkcs8Pem, dsaEncoding });
}

const FORMS: [form: string, key: (vector: VectorKey) => SigningKey["key"] | Promise<SigningKey["key"]>][] = [
  ["JWK", ({ privatePkcs8Pem }) => createPrivateKey(privatePkcs8Pem).export({ format: "jwk" }) as JWK],
  ["PKCS#8 PEM", ({ privatePkcs8Pem }) => privatePkcs8Pem],
  [
    "CryptoKey",
    ({ privatePkcs8Pem, jwk }) =>
      crypto.subtle.importKey("pkcs8", derOf(privatePkcs8Pem), IMPORT[jwk.alg], false, ["sign"]),
  ],
  ["external signer, DER", (vector) => outside(vector, "der")],
  ["external signer, raw", (vector) => outside(vector, "ieee-p1363")],
];

async function tokenOf(signingKey: SigningKey & JwtSignerOptions): Promise<string> {
  const { id: eventId, body } = event;
  const [name, value] = await proofLine(jwtSigner(signingKey), {
    url,
    timestamp: String(now),
    eventId,
    body,
  });
  expect(name).toBe("Authorization");
  expect(value).toMatch(/^Bearer [A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
  return value.slice("Bearer ".length);
}

/** What PyJWT finds in tokens, each held against a key. */
function readByPyJwt(tokens: { token: string; jwk: JWK; alg: string }[]): unknown[] {
  const bodyBase64 = Buffer.from(event.body).toString("base64");
  const input = tokens.map((one) => JSON.stringify({ ...one, url, bodyBase64 })).join("\n");
  const script = fileURLToPath(new URL("read_tokens.py", import.meta.url));
  const output = execFileSync(PYTHON, [script], { input, encoding: "utf8" });
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

describeWith("python3-jwt", hasPyJwt)("our tokens, read by PyJWT", () => {
  it.each(keys)("$jwk.alg: in every form of key, claim by claim", async (vector) => {
    const { alg, kid } = vector.jwk;
    const tokens: { token: string; jwk: JWK; alg: string }[] = [];
    for (const [, keyOf] of FORMS)
      tokens.push({ token: await tokenOf({ key: await keyOf(vector), kid, alg }), jwk: vector.jwk, alg });
    const bodyHash = expect.stringMatching(/^[A-Za-z0-9_-]{43}$/);
    const found = readByPyJwt(tokens) as { claims: Record<string, unknown>; bodyHash: string }[];
    expect(found).toHaveLength(FORMS.length);
    for (const [index, one] of found.entries()) {
      expect(one, FORMS[index]?.[0]).toEqual({
        header: { alg, kid, typ: "JWT" },
        claims: {
          sub: baseUrl,
          aud: url,
          exp: now + 300,
          jti: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
          htm: "POST",
          htb_s256: bodyHash,
        },
        bodyHash,
      });
      expect(one.claims.htb_s256).toBe(one.bodyHash);
    }
  });

  it("a token with a byte of its claims changed, or held against another key, is refused there", async () => {
    const [rsa, ec, ed] = keys as [VectorKey, VectorKey, VectorKey];
    const token = await tokenOf({ key: ec.privatePkcs8Pem, kid: "k", alg: "ES256" });
    const [header = "", claims = "", signature = ""] = token.split(".");
    const forged = Buffer.from(claims, "base64url").toString().replace("POST", "POSt");
    const changed = [header, Buffer.from(forged).toString("base64url"), signature].join(".");
    const other = {
      ...ec.jwk,
      x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    };
    expect(
      readByPyJwt([
        { token, jwk: ec.jwk, alg: "ES256" },
        { token: changed, jwk: ec.jwk, alg: "ES256" },
        { token, jwk: other, alg: "ES256" },
        { token, jwk: rsa.jwk, alg: "RS256" },
        { token, jwk: ed.jwk, alg: "EdDSA" },
      ]),
    ).toEqual([
      expect.objectContaining({ bodyHash: expect.any(String) }),
      { error: "InvalidSignatureError" },
      { error: "InvalidSignatureError" },
      { error: "InvalidAlgorithmError" },
      { error: "InvalidAlgorithmError" },
    ]);
  });
});
