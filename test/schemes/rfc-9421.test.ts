// The test cases of RFC 9421, appendix B.2 and B.3. Nothing here was computed by this library.
import { constants, createHmac, createPublicKey, verify } from "node:crypto";
import { type HttpSignatureProfile, httpSignatureVerifier } from "hookproof/http-signature";
import { importKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import type { JWK } from "jose";
import { describe, expect, it } from "vitest";
import type { Algorithm } from "../../src/jwt/algorithms.js";
import { hasSigned, resolveKey } from "../../src/jwt/verify.js";
import { hmacText, requestParts, signatureBase } from "../../src/schemes/http-signature/sign.js";
import { readSignatures } from "../../src/schemes/http-signature/signature-fields.js";
import { bytesOf, readVectors } from "../vectors/vector-file.js";

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Case {
  readonly section: string;
  readonly title: string;
  readonly alg: "rsa-pss-sha512" | "ecdsa-p256-sha256" | "hmac-sha256" | "ed25519";
  readonly keyid: string;
  /** What stands behind the label in Signature-Input. */
  readonly input: string;
  readonly signature: string;
  readonly base: string;
  readonly request?: Message & { readonly url: string };
  readonly response?: Message & { readonly status: number };
}

const rfc = readVectors<{
  created: number;
  keys: Record<string, JWK>;
  secretBase64: string;
  request: Message & { readonly url: string };
  cases: Case[];
}>("rfc9421_signatures.json");

/** Our algorithms for those of the cases; rsa-pss-sha512 is none of them. */
const OURS: Readonly<Record<string, Algorithm>> = { "ecdsa-p256-sha256": "ES256", ed25519: "EdDSA" };

const NO_ALG = "it names no alg, and its key is for rsa-pss-sha512, which this profile has not";
const TOO_LITTLE = "the signature does not cover all that this profile demands";

interface Refusal {
  readonly code: string;
  readonly why: string;
  readonly hasBase: boolean;
  readonly profile?: HttpSignatureProfile;
}

/** What this profile cannot express, and what a receiver answers: every case lacks something that the profile demands. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  "B.2.1": { code: "SIGNATURE_MALFORMED", why: TOO_LITTLE, hasBase: true },
  "B.2.2": {
    code: "SIGNATURE_MALFORMED",
    why: `${TOO_LITTLE}, and a component has a parameter`,
    hasBase: false,
  },
  // It covers enough, if both have agreed on these parts and on an id that the request has.
  "B.2.3": {
    ...{ code: "KEY_NOT_FOUND", why: NO_ALG, hasBase: true },
    profile: { components: ["@method", "@path", "@query", "@authority"], eventIdHeader: "Content-Length" },
  },
  "B.2.4": {
    code: "SIGNATURE_MALFORMED",
    why: "a response is no webhook: @status is not known",
    hasBase: true,
  },
  "B.2.5": { code: "SIGNATURE_MALFORMED", why: TOO_LITTLE, hasBase: true },
  "B.2.6": { code: "SIGNATURE_MALFORMED", why: TOO_LITTLE, hasBase: true },
  "B.3": { code: "SIGNATURE_MALFORMED", why: TOO_LITTLE, hasBase: true },
};

/** The text that we make for a case. */
function baseOf({ input, request = rfc.request, response }: Case): string | undefined {
  const [read] = readSignatures(`sig=${input}`, "sig=:AAAA:", 1) ?? [];
  const { headers } = response ?? request;
  const ofLine = (name: string) =>
    response ? { "@status": String(response.status) }[name] : requestParts(request.url).get(name);
  return read && signatureBase(read.names, (name) => ofLine(name) ?? headers[name], read.shown);
}

/** Node's word on a case. */
function nodeAgrees({ alg, keyid, signature, base }: Case): boolean {
  const [text, bytes] = [Buffer.from(base), Buffer.from(signature, "base64")];
  if (alg === "hmac-sha256")
    return createHmac("sha256", bytesOf(rfc.secretBase64)).update(text).digest().equals(bytes);
  const key = createPublicKey({ key: rfc.keys[keyid] as never, format: "jwk" });
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 };
  if (alg === "rsa-pss-sha512") return verify("sha512", text, { key, ...pss }, bytes);
  return verify(alg === "ed25519" ? null : "sha256", text, { key, dsaEncoding: "ieee-p1363" }, bytes);
}

describe.each(rfc.cases)("RFC 9421, $section: $title, $alg", (one) => {
  const refusal = REFUSALS[one.section];

  it("the text that is signed is the one of the RFC", () => {
    expect(nodeAgrees(one)).toBe(true);
    expect(baseOf(one)).toBe(refusal?.hasBase ? one.base : undefined);
  });

  it(`a receiver of this profile refuses it: ${refusal?.why}`, async () => {
    const { url, headers, body } = { url: rfc.request.url, ...(one.response ?? one.request ?? rfc.request) };
    const verifier = httpSignatureVerifier({
      url,
      secrets: { "test-shared-secret": bytesOf(rfc.secretBase64) },
      ...refusal?.profile,
    });
    const receiver = createReceiver({ verifier, clock: fixedClock(rfc.created * 1000) });
    const lines = {
      "Webhook-Event-Id": "id-1",
      ...headers,
      "Signature-Input": `sig=${one.input}`,
      Signature: `sig=:${one.signature}:`,
    };
    const verdict = await receiver.verify({ method: "POST", url, headers: lines, body });
    expect(verdict).toMatchObject({ ok: false, code: refusal?.code });
  });
});

it.each(rfc.cases.filter(({ alg }) => alg !== "rsa-pss-sha512"))(
  "RFC 9421, $section: our keys make or verify the signature",
  async (one) => {
    const [base, signature] = [new TextEncoder().encode(one.base), bytesOf(one.signature)];
    const alg = OURS[one.alg];
    if (alg === undefined) {
      const hmac = hmacText(bytesOf(rfc.secretBase64));
      expect(hmac(one.base)).toBe(one.signature);
      return;
    }
    const jwk = { ...rfc.keys[one.keyid], kid: one.keyid, alg, use: "sig" };
    const found = await resolveKey(localKeys({ keys: [jwk] } as never), { kid: one.keyid, alg });
    if (!found.ok) throw new Error(found.detail);
    expect(await hasSigned(found.key, alg, signature as never, base as never)).toBe(true);
    expect(await hasSigned(found.key, alg, signature as never, base.subarray(1) as never)).toBe(false);
  },
);

it("the RSA key of the cases is no key for another algorithm", async () => {
  const jwk = { ...rfc.keys["test-key-rsa-pss"], kid: "k", alg: "PS512", use: "sig" };
  const found = await resolveKey(localKeys({ keys: [jwk] } as never), { kid: "k", alg: "RS256" });
  expect(found).toMatchObject({ ok: false, code: "KEY_NOT_FOUND" });
  await expect(importKey(jwk as JWK, { alg: "PS512" as never })).rejects.toThrow();
});
