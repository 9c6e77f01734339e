import { generateKey, localKeys } from "hookproof/jwks";
import { securityEventSigner, securityEventVerifier } from "hookproof/set";
import {
  generateStandardSecret,
  standardWebhooksSigner,
  standardWebhooksVerifier,
} from "hookproof/standard-webhooks";
import { decodeJwt } from "jose";
import { expect, it } from "vitest";
import { EXAMPLE_EVENTS } from "../../cli/src/send/payload.js";
import type { TestEventResult } from "../../service/src/inspector/contract.js";
import { inspected } from "./inspected.js";

it("the page has the examples of hookproof send --event", async () => {
  const { call } = await inspected();
  expect((await call("api/session")).json<{ examples: object }>().examples).toEqual(EXAMPLE_EVENTS);
});

it("a test event says what somebody wrote, to the letter", async () => {
  const { change, detail } = await inspected();
  const body = '{ "type": "device.lost", "n": 1.0 }';
  const sent = await change("POST", "api/test-event", { listenerId: "lst_1", body });
  expect(sent.json<TestEventResult>()).toMatchObject({ status: 200, n: 1 });
  const { bodyBase64, isTest, eventType } = await detail(1);
  expect(Buffer.from(bodyBase64, "base64").toString()).toBe(body);
  expect([isTest, eventType]).toEqual([true, "device.lost"]);
});

it.each([
  ["{", 400],
  ["", 400],
  ["x".repeat(65_537), 400],
])("a body that is no JSON is refused, and nothing is sent: %#", async (body, status) => {
  const { change, list } = await inspected();
  expect((await change("POST", "api/test-event", { listenerId: "lst_1", body })).status).toBe(status);
  expect((await list()).total).toBe(0);
});

it("listeners of other schemes get test events as they demand them, known as such when they come in", async () => {
  const secret = generateStandardSecret();
  const key = await generateKey({ alg: "EdDSA" });
  const [issuer, audience] = ["https://idp.example.com/", "https://rp.example.com/"];
  const { change, list, detail, call } = await inspected({
    listeners: () => [
      {
        id: "standard",
        verifier: standardWebhooksVerifier({ secrets: secret }),
        secrets: [secret],
        signer: standardWebhooksSigner({ secrets: secret }),
      },
      {
        id: "set",
        verifier: securityEventVerifier({ issuer, audience, keys: localKeys({ keys: [key.publicJwk] }) }),
        signer: securityEventSigner({
          key: { key: key.privateJwk, kid: key.kid, alg: key.alg },
          issuer,
          audience,
        }),
        testEvent: "session.revoked",
      },
      { id: "mute", verifier: standardWebhooksVerifier({ secrets: secret }) },
    ],
  });
  const { listeners } = (await call("api/session")).json<{ listeners: { testEvent?: string }[] }>();
  expect(listeners.map(({ testEvent }) => testEvent)).toEqual([
    "user.offboarded",
    "session.revoked",
    undefined,
  ]);
  const sent = async (listenerId: string, body?: string) =>
    (await change("POST", "api/test-event", { listenerId, ...(body === undefined ? {} : { body }) })).json<
      TestEventResult & { message?: string }
    >();
  expect(await sent("standard")).toMatchObject({ status: 200, n: 1 });
  expect(await sent("set")).toMatchObject({ status: 202, n: 2 });
  expect(await sent("set", '{"type":"user.offboarded"}')).toMatchObject({ code: "ORDER_INVALID" });
  expect(await sent("mute")).toMatchObject({ code: "REPLAY_IMPOSSIBLE" });
  expect((await list()).rows.map(({ isTest, scheme }) => [isTest, scheme])).toEqual([
    [true, "security-event-token"],
    [true, "standard-webhooks"],
  ]);
  const token = Buffer.from((await detail(2)).bodyBase64, "base64").toString();
  expect(decodeJwt(token)).toMatchObject({ iss: issuer, aud: audience });
});
