// What was not tried is not said: no word on the secret or the key where nothing was compared with it.
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { localKeys } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";

const nowSeconds = 1_767_225_600;
const clock = fixedClock(nowSeconds * 1000);
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const EVENT_ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const BODY = '{"type":"user.offboarded"}';
const b64u = (text: string | Buffer) => Buffer.from(text).toString("base64url");

describe("a signature over a header that is not there", () => {
  const right: Readonly<Record<string, string>> = {
    "content-type": "application/json",
    "webhook-timestamp": String(nowSeconds),
    "webhook-event-id": EVENT_ID,
    "webhook-signature": createHmac("sha256", SECRET)
      .update(`${nowSeconds}.${EVENT_ID}.${BODY}`)
      .digest("base64url"),
  };
  const idsOf = async (headers: Record<string, string>) =>
    (await diagnose({ request: { headers, body: BODY }, secret: SECRET, clock })).mistakes.map(
      ({ id }) => id,
    );

  it.each([
    ["webhook-timestamp", "timestamp-missing"],
    ["webhook-event-id", "event-id-missing"],
  ])("%s", async (name, id) => {
    const { [name]: _, ...others } = right;
    expect(await idsOf(others)).toEqual([id]);
  });

  it("under another name", async () => {
    const { "webhook-event-id": eventId = "", ...others } = right;
    expect(await idsOf({ ...others, "webhook-id": eventId })).not.toContain("signature-unexplained");
  });

  it("is still found to leave that header out", async () => {
    const { "webhook-event-id": _, ...others } = right;
    const signature = createHmac("sha256", SECRET).update(BODY).digest("base64url");
    expect(await idsOf({ ...others, "webhook-signature": signature })).toContain("input-body-only");
  });
});

describe("a token", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = { ...rsa.publicKey.export({ format: "jwk" }), kid: "k1", use: "sig", alg: "RS256" };

  it.each([
    ["RS512", () => ({ hash: "sha512", key: rsa.privateKey })],
    ["PS256", () => ({ hash: "sha256", key: { key: rsa.privateKey, padding: 6, saltLength: 32 } })],
  ])("by %s is of no other key", async (alg, by) => {
    const input = `${b64u(JSON.stringify({ alg, typ: "JWT", kid: "k1" }))}.${b64u("{}")}`;
    const { hash, key } = by();
    const token = `${input}.${b64u(sign(hash, Buffer.from(input), key))}`;
    const headers = {
      "content-type": "application/json",
      "webhook-timestamp": String(nowSeconds),
      "webhook-event-id": EVENT_ID,
      authorization: `Bearer ${token}`,
    };
    const jwks = { keys: [jwk] } as never;
    const ids = (await diagnose({ request: { headers, body: BODY }, jwks, clock })).mistakes.map(
      ({ id }) => id,
    );
    expect(ids).toContain("token-alg-other");
    expect(ids).not.toContain("token-signature-unexplained");
  });

  it("with a signature in DER is of no other key in a security event token either", async () => {
    const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwks = {
      keys: [{ ...ec.publicKey.export({ format: "jwk" }), kid: "k1", use: "sig", alg: "ES256" }],
    } as never;
    const claims = {
      iss: "https://idp.example.com/",
      aud: "a",
      jti: "1",
      iat: nowSeconds,
      events: { "urn:x": {} },
    };
    const input = `${b64u('{"alg":"ES256","typ":"secevent+jwt","kid":"k1"}')}.${b64u(JSON.stringify(claims))}`;
    const body = `${input}.${b64u(sign("sha256", Buffer.from(input), ec.privateKey))}`;
    const { mistakes } = await diagnose({
      scheme: "security-event-token",
      request: { body, headers: { "content-type": "application/secevent+jwt" } },
      keys: localKeys(jwks),
      jwks,
      clock,
    });
    const ids = mistakes.map(({ id }) => id);
    expect(ids).toContain("signature-in-der");
    expect(ids).not.toContain("signature-of-other-key");
  });
});
