import { execFileSync } from "node:child_process";
import { createEvent, createSender, hmacSigner, jwtSigner, newEventId, signRequest } from "hookproof";
import { createKeySet, generateKey } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { createService, type Run, type Service, startKeySetHost } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exchange, serve } from "../kit/loopback.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { endedRuns, ownAutomation } from "./own-automation.js";
import { ask, startService } from "./running-service.js";

const PAYLOAD = { email: "ada@example.com", active: true };
const STEPS = [
  { name: "find", templates: { email: "{{ ctx.trigger.email }}" } },
  { name: "remind", condition: "!ctx.trigger.active", templates: { text: "{{ ctx.find.email }}" } },
  { name: "close", templates: { text: "Closed {{ ctx.find.email }}" } },
];

/** What most of these tests share: a service, what it has logged, and the runs it has told of. */
let service: Service;
const lines: string[] = [];
const ended: Run[] = [];
beforeAll(async () => {
  const write = (fields: object, message: string) => void lines.push(JSON.stringify([fields, message]));
  service = await createService({
    allowInsecure: true,
    validateAnswers: true,
    log: { info: write, warn: write, error: write },
    onRun: (run) => ended.push(run),
  });
});
afterAll(() => service.stop());

type Own = Awaited<ReturnType<typeof ownAutomation>>;

const senderOf = ({ listenerUrl, signingSecret }: Own) =>
  createSender({
    url: listenerUrl,
    signer: hmacSigner({ secret: signingSecret }),
    retry: { maxAttempts: 1 },
  });

/** One signed request as it is, and what it was answered with. */
async function post(
  own: Own,
  { event = createEvent(PAYLOAD), headers = {}, secret = own.signingSecret } = {},
) {
  const signed = await signRequest({ url: own.listenerUrl, signer: hmacSigner({ secret }), event });
  return exchange(own.listenerUrl, {
    ...signed,
    headers: { ...signed.headers, ...headers },
  });
}

describe("an event by our own sender", () => {
  it("is accepted once, runs the steps, and can be read back with what became of each", async () => {
    const own = await ownAutomation(service, { steps: STEPS });
    const eventId = newEventId();
    expect(await senderOf(own).send(PAYLOAD, { eventId })).toMatchObject({ outcome: "accepted" });
    expect(await senderOf(own).send(PAYLOAD, { eventId })).toMatchObject({ outcome: "duplicate" });
    expect((await post(own, { event: createEvent(PAYLOAD, { eventId: eventId.toUpperCase() }) }))[0]).toBe(
      409,
    );

    const [run] = await endedRuns(service, own.id);
    const times = { startedAt: expect.stringMatching(/Z$/), finishedAt: expect.stringMatching(/Z$/) };
    expect(run).toEqual({
      id: expect.stringMatching(/^[a-zA-Z0-9]{27}$/),
      automationId: own.id,
      eventId,
      status: "RUN_STATUS_SUCCEEDED",
      createdAt: expect.stringMatching(/Z$/),
      ...times,
      body: JSON.stringify(PAYLOAD),
      steps: [
        { name: "find", status: "STEP_STATUS_SUCCEEDED", result: { email: PAYLOAD.email }, ...times },
        { name: "remind", status: "STEP_STATUS_SKIPPED", ...times },
        {
          name: "close",
          status: "STEP_STATUS_SUCCEEDED",
          result: { text: "Closed ada@example.com" },
          ...times,
        },
      ],
    });
  });

  it("with a JWT is checked against the key set at the URL", async () => {
    const key = await generateKey({ alg: "EdDSA" });
    const keySet = createKeySet([key]);
    const host = await startKeySetHost({ keySet });
    try {
      const own = await ownAutomation(service, {
        trigger: { jwt: { jwksUrl: host.keySetUrl } },
        steps: STEPS,
      });
      const sender = createSender({
        url: own.listenerUrl,
        signer: jwtSigner(() => keySet.signingKey("EdDSA")),
        retry: { maxAttempts: 1 },
      });
      expect(await sender.send(PAYLOAD)).toMatchObject({ outcome: "accepted" });
      expect((await endedRuns(service, own.id))[0]).toMatchObject({ status: "RUN_STATUS_SUCCEEDED" });
      const [status, body] = await post({ ...own, signingSecret: "not its method" });
      expect([status, body]).toMatchObject([401, { code: "TOKEN_MISSING" }]);
    } finally {
      await host.stop();
    }
  });

  it("with the secret of before a rotation is 401, and deleted there is no listener", async () => {
    const own = await ownAutomation(service);
    expect((await post(own))[0]).toBe(200);
    const path = `/local/v1/automations/${own.id}`;
    const { signingSecret } = (await ask(service, "POST", `${path}/rotate_secret`)).body;
    expect((await post(own))[0]).toBe(401);
    expect((await post(own, { secret: signingSecret }))[0]).toBe(200);
    await ask(service, "DELETE", path);
    expect(await post(own, { secret: signingSecret })).toMatchObject([404, { code: "LISTENER_UNKNOWN" }]);
  });

  it("goes wrong on purpose where a test wants it to", async () => {
    const service = await startService({ faults: { receiveWebhook: { status: 503, times: 1 } } });
    const own = await ownAutomation(service);
    expect((await post(own))[0]).toBe(503);
    expect((await post(own))[0]).toBe(200);
  });
});

describe("an event by somebody else's program", () => {
  itWith("openssl", hasTool("openssl", "version"))("openssl: signed by HMAC", async () => {
    const own = await ownAutomation(service, { steps: STEPS });
    const body = '{ "email":"ada@example.com",\n"active":false }';
    const send = async () => {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const eventId = "6F1D2C3B-4A59-4E68-8F70-112233445566";
      const mac = execFileSync("openssl", ["dgst", "-sha256", "-hmac", own.signingSecret, "-binary"], {
        input: `${timestamp}.${eventId}.${body}`,
      });
      const headers = {
        "Content-Type": "application/json",
        "Webhook-Timestamp": timestamp,
        "Webhook-Event-Id": eventId,
        "Webhook-Signature": mac.toString("base64url"),
      };
      return fetch(own.listenerUrl, { method: "POST", headers, body });
    };
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(409);
    const [run] = await endedRuns(service, own.id);
    expect(run).toMatchObject({ body, eventId: "6f1d2c3b-4a59-4e68-8f70-112233445566" });
    expect(run?.steps[1]).toMatchObject({ name: "remind", result: { text: "ada@example.com" } });
  });

  const PYTHON = "/usr/bin/python3";
  itWith("python3-jwt", hasTool(PYTHON, "-c", "import jwt, cryptography"))(
    "PyJWT: signed by each algorithm",
    async () => {
      let jwks = "{}";
      const host = await serve((_request, response) => void response.end(jwks));
      try {
        const own = await ownAutomation(service, { trigger: { jwt: { jwksUrl: `${host.url}/jwks.json` } } });
        const body = '{"email": "ada@example.com"}';
        const signed = execFileSync(PYTHON, ["-c", SIGN, service.url, own.listenerUrl, body], {
          encoding: "utf8",
        });
        const { keys, requests } = JSON.parse(signed);
        jwks = JSON.stringify({ keys });
        for (const { alg, eventId, token } of requests) {
          const headers = {
            "Content-Type": "application/json",
            "Webhook-Timestamp": String(Math.floor(Date.now() / 1000)),
            "Webhook-Event-Id": eventId,
            Authorization: `Bearer ${token}`,
          };
          const send = async () => (await fetch(own.listenerUrl, { method: "POST", headers, body })).status;
          expect([alg, await send(), await send()]).toEqual([alg, 200, 409]);
        }
        expect(await endedRuns(service, own.id, 3)).toHaveLength(3);
      } finally {
        await host.stop();
      }
    },
  );
});

const SIGN = `
import base64, hashlib, json, sys, time, uuid
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
base_url, url, body = sys.argv[1:]
made = {
  "RS256": (rsa.generate_private_key(65537, 2048), jwt.algorithms.RSAAlgorithm),
  "ES256": (ec.generate_private_key(ec.SECP256R1()), jwt.algorithms.ECAlgorithm),
  "EdDSA": (ed25519.Ed25519PrivateKey.generate(), jwt.algorithms.OKPAlgorithm),
}
keys, requests = [], []
for alg, (key, algorithm) in made.items():
    keys.append({**json.loads(algorithm.to_jwk(key.public_key())), "kid": alg, "alg": alg, "use": "sig"})
    keys[-1].pop("key_ops", None)
    event_id = str(uuid.uuid4())
    digest = base64.urlsafe_b64encode(hashlib.sha256(body.encode()).digest()).rstrip(b"=").decode()
    claims = {"sub": base_url, "aud": url, "exp": int(time.time()) + 300, "jti": event_id, "htm": "POST", "htb_s256": digest}
    requests.append({"alg": alg, "eventId": event_id, "token": jwt.encode(claims, key, alg, {"kid": alg})})
print(json.dumps({"keys": keys, "requests": requests}))
`;

describe("an automation that is not active", () => {
  it.each([{ published: false }, { enabled: false }])("%j: 404, and the id is not used up", async (state) => {
    const own = await ownAutomation(service, { ...state, steps: STEPS });
    const event = createEvent(PAYLOAD);
    expect(await post(own, { event })).toMatchObject([404, { code: "TRIGGER_INACTIVE" }]);
    expect(await endedRuns(service, own.id, 0)).toEqual([]);
    await ask(service, "PUT", `/local/v1/automations/${own.id}`, { body: { trigger: { hmac: {} } } });
    expect((await post(own, { event }))[0]).toBe(200);
    expect((await post(own, { event }))[0]).toBe(409);
    await endedRuns(service, own.id);
  });
});

describe("allowed ranges", () => {
  it("are held against the peer of the connection", async () => {
    const outside = await ownAutomation(service, { allowedCidrs: ["203.0.113.0/24"] });
    const forged = { headers: { "X-Forwarded-For": "203.0.113.7" } };
    expect(await post(outside, forged)).toMatchObject([403, { code: "SOURCE_NOT_ALLOWED" }]);
    const inside = await ownAutomation(service, { allowedCidrs: ["203.0.113.0/24", "127.0.0.0/8"] });
    expect((await post(inside))[0]).toBe(200);
  });

  it("are held against X-Forwarded-For behind a trusted proxy", async () => {
    const service = await startService({ trustedProxies: ["127.0.0.0/8"] });
    const own = await ownAutomation(service, { allowedCidrs: ["203.0.113.0/24"] });
    const from = async (address: string) => (await post(own, { headers: { "X-Forwarded-For": address } }))[0];
    expect(await from("203.0.113.7")).toBe(200);
    expect(await from("203.0.113.7, 198.51.100.1")).toBe(403);
    expect((await post(own))[0]).toBe(403);
  });
});

describe("a run", () => {
  it("fails with a code at the first step that fails, and the event stays accepted", async () => {
    const own = await ownAutomation(service, {
      steps: [
        { name: "bad", templates: { x: "{{ ctx.trigger.absent }}" } },
        { name: "after", templates: { y: 1 } },
      ],
    });
    const event = createEvent(PAYLOAD);
    expect((await post(own, { event }))[0]).toBe(200);
    const [run] = await endedRuns(service, own.id);
    expect(run).toMatchObject({
      status: "RUN_STATUS_FAILED",
      steps: [{ name: "bad", status: "STEP_STATUS_FAILED", failure: { code: "FIELD_MISSING" } }],
    });
    expect(run?.steps).toHaveLength(1);
    expect(run?.steps[0]).not.toHaveProperty("result");
    expect((await post(own, { event }))[0]).toBe(409);
  });

  it("that takes more memory than its process may is recorded as failed, and the next one works", async () => {
    const own = await ownAutomation(service, {
      steps: [
        { name: "all", templates: { n: "{{ ctx.trigger.list.map(i, bytes(ctx.trigger.text)).size() }}" } },
      ],
    });
    const large = { list: new Array(12_000).fill(1), text: "x".repeat(40_000) };
    expect((await post(own, { event: createEvent(large) }))[0]).toBe(200);
    expect((await post(own, { event: createEvent({ list: [1], text: "" }) }))[0]).toBe(200);
    const [first, second] = await endedRuns(service, own.id, 2);
    expect(first).toMatchObject({
      status: "RUN_STATUS_FAILED",
      // On a busy machine the time may end first.
      steps: [{ failure: { code: expect.stringMatching(/^EXPRESSION_(?:TOO_LARGE|TIMEOUT)$/) } }],
    });
    expect(second).toMatchObject({ status: "RUN_STATUS_SUCCEEDED", steps: [{ result: { n: 1 } }] });
  });

  it.each<[what: string, body: string, code: string]>([
    ["too deep a body", `${"[".repeat(30_000)}${"]".repeat(30_000)}`, "CONTEXT_TOO_DEEP"],
    ["members of the prototype", '{"__proto__":{"email":"x"},"constructor":1}', "FIELD_MISSING"],
  ])("over %s is recorded as failed, and the next one works", async (_what, body, code) => {
    const own = await ownAutomation(service, { steps: STEPS });
    const event = createEvent(new TextEncoder().encode(body));
    expect((await post(own, { event }))[0]).toBe(200);
    expect((await post(own))[0]).toBe(200);
    const runs = await endedRuns(service, own.id, 2);
    const ofBody = runs.find((run) => run.body === body);
    expect(ofBody).toMatchObject({ status: "RUN_STATUS_FAILED", steps: [{ failure: { code } }] });
    expect(runs.find((run) => run !== ofBody)).toMatchObject({ status: "RUN_STATUS_SUCCEEDED" });
  });

  it("has the steps of the moment its event was accepted", async () => {
    const slow = "ctx.trigger.list.all(a, ctx.trigger.list.all(b, a == b))";
    const own = await ownAutomation(service, {
      steps: [{ name: "a", templates: { version: 1, slow: `{{ ${slow} }}` } }],
    });
    const event = createEvent({ list: new Array(50).fill(1) });
    expect((await post(own, { event }))[0]).toBe(200);
    const body = { trigger: { hmac: {} }, steps: [{ name: "b", templates: { version: 2 } }] };
    await ask(service, "PUT", `/local/v1/automations/${own.id}`, { body });
    expect((await post(own))[0]).toBe(200);
    const [first, second] = await endedRuns(service, own.id, 2);
    expect([first?.steps[0]?.result, second?.steps[0]?.result]).toEqual([
      { version: 1, slow: true },
      { version: 2 },
    ]);
    const told = ended.filter(({ automationId }) => automationId === own.id);
    expect(told.map(({ results }) => results[0]?.result)).toEqual([
      '{"version":1,"slow":true}',
      '{"version":2}',
    ]);
  });

  it("happens once for each of many events at once, with copies among them", async () => {
    const own = await ownAutomation(service, { steps: STEPS });
    const events = Array.from({ length: 20 }, () => createEvent(PAYLOAD));
    const answers = await Promise.all(
      [...events, ...events].map(async (event) => (await post(own, { event }))[0]),
    );
    expect(answers.filter((status) => status === 200)).toHaveLength(20);
    expect(answers.filter((status) => status === 409)).toHaveLength(20);
    const runs = await endedRuns(service, own.id, 20);
    expect(new Set(runs.map(({ eventId }) => eventId))).toEqual(new Set(events.map(({ id }) => id)));
  });

  it("has its times from the service's clock", async () => {
    const clock = fixedClock(Date.parse("2026-01-01T00:00:00Z"));
    const service = await startService({ clock });
    const own = await ownAutomation(service, { steps: STEPS });
    const signed = await signRequest({
      url: own.listenerUrl,
      signer: hmacSigner({ secret: own.signingSecret }),
      event: createEvent(PAYLOAD),
      clock,
    });
    expect((await exchange(own.listenerUrl, signed))[0]).toBe(200);
    const [run] = await endedRuns(service, own.id);
    expect(run).toMatchObject({
      createdAt: "2026-01-01T00:00:00.000Z",
      startedAt: "2026-01-01T00:00:00.000Z",
      finishedAt: "2026-01-01T00:00:00.000Z",
    });
  });
});

describe("a secret", () => {
  it("is in no answer and no line of the log after it has been shown", async () => {
    const own = await ownAutomation(service, { steps: STEPS });
    const answers: unknown[] = [
      await post(own),
      await post(own, { secret: "wrong" }),
      await post(own, { headers: { "Webhook-Timestamp": "1" } }),
      await endedRuns(service, own.id),
    ];
    for (const [method, path] of [
      ["GET", ""],
      ["GET", `/${own.id}`],
      ["GET", `/${own.id}/runs`],
      ["PUT", `/${own.id}`],
    ] as const)
      answers.push(
        await ask(service, method, `/local/v1/automations${path}`, method === "PUT" ? { body: own } : {}),
      );
    expect(JSON.stringify(answers)).not.toContain(own.signingSecret);
    expect(lines.join("\n")).not.toContain(own.signingSecret);
    expect(lines.join("\n")).not.toContain(PAYLOAD.email);
    expect(lines.join("\n")).toContain("a webhook was accepted");
    expect(lines.join("\n")).toContain("SIGNATURE_");
  });
});
