import { createPrivateKey, createPublicKey } from "node:crypto";
import { createEvent, newEventId, signRequest } from "hookproof";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { createSigner, createVerifier, httpbis } from "http-message-signatures";
import { describe, expect, it } from "vitest";

const url = "https://hooks.example.com/events";
const NAMES = { EdDSA: "ed25519", ES256: "ecdsa-p256-sha256" } as const;
const fields = ["@method", "@target-uri", "content-type", "content-digest", "webhook-event-id"];
/** SHA-256 of {"n":1}, by openssl. */
const digest = "sha-256=:K/0U9D0X/HzqJOCReoh5tLL4gLi67sG52Q+6rWVecb0=:";

/** The package of somebody else: https://www.npmjs.com/package/http-message-signatures. */
describe.each(["EdDSA", "ES256"] as const)("http-message-signatures of npm, %s", (alg) => {
  it("verifies what we send", async () => {
    const { kid, privateJwk, publicJwk } = await generateKey({ alg });
    const signer = httpSignatureSigner({ key: { key: privateJwk, kid, alg } });
    const { headers } = await signRequest({ url, signer, event: createEvent({ n: 1 }) });
    const key = createPublicKey({ key: publicJwk as never, format: "jwk" });
    const lowered = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const verify = (given: Record<string, string>) =>
      httpbis.verifyMessage(
        {
          keyLookup: async ({ keyid }) =>
            keyid === kid ? { id: kid, algs: [NAMES[alg]], verify: createVerifier(key, NAMES[alg]) } : null,
          requiredFields: fields,
          requiredParams: ["created", "keyid", "alg"],
        },
        { method: "POST", url, headers: given },
      );
    expect(lowered["content-digest"]).toBe(digest);
    expect(await verify(lowered)).toBe(true);
    expect(await verify({ ...lowered, "webhook-event-id": newEventId() })).toBe(false);
  });

  it("signs what we receive", async () => {
    const { kid, privateJwk, publicJwk } = await generateKey({ alg });
    const key = createPrivateKey({ key: privateJwk as never, format: "jwk" });
    const { headers } = await httpbis.signMessage(
      {
        key: createSigner(key, NAMES[alg], kid),
        fields,
        params: ["created", "expires", "keyid", "alg"],
      },
      {
        method: "POST",
        url,
        headers: {
          "content-type": "application/json",
          "content-digest": digest,
          "webhook-event-id": newEventId(),
        },
      },
    );
    const receiver = createReceiver({
      verifier: httpSignatureVerifier({ url, keys: localKeys({ keys: [publicJwk] }) }),
    });
    const receive = (body: string) =>
      receiver.receive({ method: "POST", url, headers: headers as never, body }, async () => {});
    expect((await receive('{"n":2}')).verdict).toMatchObject({ ok: false, code: "SIGNATURE_MISMATCH" });
    expect((await receive('{"n":1}')).status).toBe(200);
  });
});
