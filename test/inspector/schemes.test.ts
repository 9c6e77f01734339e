import { createHash, createHmac } from "node:crypto";
import { createEvent, hmacSigner, signRequest } from "hookproof";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import { securityEventVerifier } from "hookproof/set";
import { standardWebhooksSigner, standardWebhooksVerifier } from "hookproof/standard-webhooks";
import { SignJWT } from "jose";
import { expect, it } from "vitest";
import { statusOfExact } from "../../service/inspector/copy/expected-status.js";
import type { RequestDetail } from "../../service/src/inspector/contract.js";
import { mistakesOf } from "../kit/mistakes-of.js";
import { inspected, send } from "./inspected.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"type":"user.offboarded"}';
const text = (base64 = "") => Buffer.from(base64, "base64").toString();
const states = ({ steps }: RequestDetail) => steps.map(({ step, state }) => `${step} ${state}`);

it("a listener of Standard Webhooks: its steps, those not reached, the mistake, and no step of the service", async () => {
  const { inspector, url, list, detail, call } = await inspected({
    listeners: () => [
      {
        id: "lst_1",
        verifier: standardWebhooksVerifier({ secrets: SECRET }),
        secrets: [SECRET],
        mistakes: async ({ headers, body }) =>
          mistakesOf("standard-webhooks", { secrets: SECRET, headers, body }),
      },
    ],
  });
  const post = (key: Buffer | string) => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const mac = createHmac("sha256", key).update(`msg_1.${timestamp}.${BODY}`).digest("base64");
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${mac}`,
    };
    return send(url, { method: "POST", headers, body: BODY });
  };
  const key = Buffer.from(SECRET.slice(6), "base64");
  expect([(await post(SECRET.slice(6))).status, (await post(key)).status, (await post(key)).status]).toEqual([
    401, 200, 200,
  ]);

  const refused = await detail(1);
  expect(refused.scheme).toBe("standard-webhooks");
  expect(refused.auth).toBeUndefined();
  expect(refused.hmac).toBeUndefined();
  expect(states(refused)).toEqual([
    ...["method", "headers", "source", "size", "event-id", "timestamp", "window"].map(
      (one) => `${one} passed`,
    ),
    "signature failed",
    ...["body", "replay", "trigger", "run"].map((one) => `${one} not-reached`),
  ]);
  expect(refused.mistakes.map(({ id }) => id)).toEqual(["secret-not-decoded"]);
  const { rows } = await list();
  expect(rows[2]).toMatchObject({ eventId: "msg_1", reason: refused.mistakes[0]?.message });
  expect(rows[0]).toMatchObject({ status: 200, code: "EVENT_DUPLICATE", duplicateOf: 2 });
  // The page promises no 409 where an exact replay gets 200.
  expect(statusOfExact(await detail(2), Date.now())).toBeUndefined();
  expect(await inspector.replay(2, { kind: "exact" })).toMatchObject({ status: 200 });
  const { listeners } = (await call("api/session")).json<{ listeners: unknown[] }>();
  expect(listeners).toMatchObject([{ scheme: "standard-webhooks", canSign: false }]);
});

it("what a signature of Standard Webhooks covers, and what it should have been; nothing where the secret was sent", async () => {
  const { url, detail } = await inspected({
    listeners: () => [
      {
        id: "lst_1",
        verifier: standardWebhooksVerifier({ secrets: SECRET }),
        secrets: [SECRET],
        signer: standardWebhooksSigner({ secrets: SECRET }),
      },
    ],
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = (key: Buffer | string, body: string) =>
    `v1,${createHmac("sha256", key).update(`msg_1.${timestamp}.${body}`).digest("base64")}`;
  const post = (signature: string, body = BODY) =>
    send(url, {
      method: "POST",
      headers: { "webhook-id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": signature },
      body,
    });
  const key = Buffer.from(SECRET.slice(6), "base64");
  expect((await post(signed(SECRET, BODY))).status).toBe(401);
  const { signed: seen, hmac } = await detail(1);
  expect(hmac).toBeUndefined();
  expect(text(seen?.coveredBase64)).toBe(`msg_1.${timestamp}.${BODY}`);
  expect(seen?.lines).toEqual([
    { name: "webhook-signature", expected: signed(key, BODY), received: signed(SECRET, BODY) },
  ]);

  const told = JSON.stringify({ type: "user.offboarded", secret: SECRET });
  await post(signed(SECRET, told), told);
  const masked = await detail(2);
  expect(masked.masked).toBe(true);
  expect(masked.signed?.lines).toEqual([]);
  expect(text(masked.signed?.coveredBase64)).toContain("*".repeat(SECRET.length));
});

it("what an HTTP message signature covers, by RFC 9421, and what it should have been", async () => {
  const secret = "a shared secret of the test, with more than 32 bytes";
  const { url, detail } = await inspected({
    listeners: (baseUrl) => [
      {
        id: "lst_1",
        verifier: httpSignatureVerifier({
          url: `${baseUrl}/api/v1/webhooks/incoming/lst_1`,
          secrets: { k1: secret },
        }),
        secrets: [secret],
        signer: httpSignatureSigner({ secret, keyId: "k1" }),
      },
    ],
  });
  const digest = `sha-256=:${createHash("sha256").update(BODY).digest("base64")}:`;
  const parameters = `("@method" "@target-uri" "content-type" "content-digest" "webhook-event-id");created=${Math.floor(Date.now() / 1000)};keyid="k1";alg="hmac-sha256"`;
  const base = [
    '"@method": POST',
    `"@target-uri": ${url}`,
    '"content-type": application/json',
    `"content-digest": ${digest}`,
    '"webhook-event-id": evt-1',
    `"@signature-params": ${parameters}`,
  ].join("\n");
  const signature = (by: string) => `sig1=:${createHmac("sha256", by).update(base).digest("base64")}:`;
  const headers = {
    "Content-Type": "application/json",
    "Content-Digest": digest,
    "Webhook-Event-Id": "evt-1",
    "Signature-Input": `sig1=${parameters}`,
  };
  const post = (by: string) =>
    send(url, { method: "POST", headers: { ...headers, Signature: signature(by) }, body: BODY });
  expect([(await post(`${secret}, another one`)).status, (await post(secret)).status]).toEqual([401, 200]);

  const [refused, accepted] = [await detail(1), await detail(2)];
  for (const { signed } of [refused, accepted]) expect(text(signed?.coveredBase64)).toBe(base);
  const both = ({ signed }: RequestDetail) =>
    Object.fromEntries(signed?.lines.map((one) => [one.name, [one.expected, one.received]]) ?? []);
  expect(both(refused)).toEqual({
    "Content-Digest": [digest, digest],
    "Signature-Input": [`sig1=${parameters}`, `sig1=${parameters}`],
    Signature: [signature(secret), signature(`${secret}, another one`)],
  });
  expect(both(accepted).Signature).toEqual([signature(secret), signature(secret)]);
});

it("a listener of security event tokens: the token's claims next to what was demanded", async () => {
  const { privateJwk, publicJwk, alg, kid } = await generateKey({ alg: "EdDSA" });
  const { url, detail } = await inspected({
    listeners: () => [
      {
        id: "lst_1",
        verifier: securityEventVerifier({
          issuer: "https://idp.example.com/",
          audience: "https://rp.example.com/",
          keys: localKeys({ keys: [publicJwk] }),
        }),
      },
    ],
  });
  const post = async (issuer: string) => {
    const body = await new SignJWT({ events: { "urn:example:event": {} } })
      .setProtectedHeader({ alg, kid, typ: "secevent+jwt" })
      .setIssuer(issuer)
      .setAudience("https://rp.example.com/")
      .setJti("any text")
      .setIssuedAt()
      .sign(privateJwk as never);
    return send(url, { method: "POST", headers: { "Content-Type": "application/secevent+jwt" }, body });
  };
  expect([
    (await post("https://idp.example.com")).status,
    (await post("https://idp.example.com/")).status,
  ]).toEqual([400, 202]);

  const refused = await detail(1);
  const claims = Object.fromEntries(
    refused.token?.claims.map(({ name, state, required }) => [name, [state, required]]) ?? [],
  );
  expect(claims).toEqual({
    iss: ["failed", '"https://idp.example.com/"'],
    aud: ["not-reached", undefined],
    jti: ["not-reached", undefined],
    iat: ["not-reached", undefined],
    events: ["not-reached", undefined],
  });
  expect(states(refused).slice(-4)).toEqual([
    "events not-reached",
    "replay not-reached",
    "trigger not-reached",
    "run not-reached",
  ]);
  const accepted = await detail(2);
  expect(accepted).toMatchObject({ eventId: "any text", reason: "accepted", scheme: "security-event-token" });
  expect(accepted.verdictStatus).toBeUndefined();
  expect(accepted.token?.claims.every(({ state }) => state === "passed")).toBe(true);
});

it("a token nested deeply is shown in no more characters than it has", async () => {
  const { url, detail } = await inspected({
    listeners: () => [
      {
        id: "lst_1",
        verifier: securityEventVerifier({
          issuer: "https://idp.example.com/",
          audience: "https://rp.example.com/",
          keys: localKeys({ keys: [] }),
        }),
      },
    ],
  });
  const claims = `{"a":${"[".repeat(1_000)}${"0,".repeat(2_000)}0${"]".repeat(1_000)}}`;
  const body = ["{}", claims, "x"].map((one) => Buffer.from(one).toString("base64url")).join(".");
  await send(url, { method: "POST", headers: { "Content-Type": "application/secevent+jwt" }, body });
  const { token } = await detail(1);
  expect(token?.compact).toBe(body);
  expect(JSON.stringify({ ...token, compact: "" }).length).toBeLessThan(body.length);
});

it("the mistakes of a request are those of the time at which it arrived", async () => {
  const arrived = 1_767_225_600_000;
  const asked: number[] = [];
  const { url, detail } = await inspected({
    listeners: () => [
      {
        id: "lst_1",
        verifier: standardWebhooksVerifier({ secrets: SECRET }),
        clock: { now: () => arrived },
        mistakes: async ({ headers, body }, at) => {
          asked.push(at);
          return mistakesOf("standard-webhooks", { secrets: SECRET, headers, body, nowSeconds: at / 1000 });
        },
      },
    ],
  });
  const timestamp = String(arrived / 1000 - 301);
  const key = Buffer.from(SECRET.slice(6), "base64");
  const mac = createHmac("sha256", key).update(`msg_1.${timestamp}.${BODY}`).digest("base64");
  const names = { "webhook-id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
  await send(url, { method: "POST", headers: names, body: BODY });
  expect((await detail(1)).mistakes).toMatchObject([
    { id: "timestamp-too-old", message: expect.stringContaining("It is 301 s old.") },
  ]);
  expect(new Set(asked)).toEqual(new Set([arrived]));
});

it("so are those of a listener of the service whose clock was moved", async () => {
  const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
  const arrived = 1_767_225_600_000;
  const { url, detail } = await inspected({
    listeners: (baseUrl) => [
      {
        listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret } },
        clock: { now: () => arrived },
      },
    ],
  });
  const signed = async (at: number) => {
    const event = createEvent({ a: 1 });
    const signer = hmacSigner({ secret: `${secret}x` });
    const { headers, body } = await signRequest({ url, signer, event, clock: { now: () => at } });
    return send(url, { method: "POST", headers, body: Buffer.from(body).toString() });
  };
  await signed(arrived);
  await signed(arrived - 3_600_000);
  const found = async (n: number) => (await detail(n)).mistakes.map(({ id }) => id);
  expect(await found(1)).toEqual(["signature-unexplained"]);
  expect(await found(2)).toEqual(["signature-unexplained", "timestamp-stale"]);
});
