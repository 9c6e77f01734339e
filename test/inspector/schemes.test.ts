import { createHmac } from "node:crypto";
import { generateKey, localKeys } from "hookproof/jwks";
import { securityEventVerifier } from "hookproof/set";
import { standardWebhooksVerifier } from "hookproof/standard-webhooks";
import { SignJWT } from "jose";
import { expect, it } from "vitest";
import { statusOfExact } from "../../service/inspector/copy/expected-status.js";
import type { RequestDetail } from "../../service/src/inspector/contract.js";
import { mistakesOf } from "../kit/mistakes-of.js";
import { inspected, send } from "./inspected.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"type":"user.offboarded"}';
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
