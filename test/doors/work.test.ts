import crypto, { generateKeyPairSync, randomBytes } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { generateSecret } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { httpSignatureVerifier } from "hookproof/http-signature";
import { localKeys } from "hookproof/jwks";
import { createReceiver, lambdaHandler } from "hookproof/receiver";
import { securityEventVerifier } from "hookproof/set";
import { generateStandardSecret, standardWebhooksVerifier } from "hookproof/standard-webhooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { explain } from "../../cli/src/commands/explain.js";
import { createDiagnoses } from "../../service/src/inspector/diagnoses.js";
import type { Entry } from "../../service/src/inspector/entry.js";
import type { WatchedListener } from "../../service/src/inspector/watched-listener.js";
import { tooMuch } from "../kit/cost.js";
import { BASE_URL, clock, NOW, pathOf } from "../kit/hostile-target.js";

/** The most work that one request of a stranger causes, counted or in time of the processor; docs/doors.md is the table. */

const BODY = 65_536;
const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const URL_OF = `${BASE_URL}${pathOf("lst_1")}`;

const inJson = (make: (n: number) => unknown, count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => make(n)));

/** Bodies on which most of what is tried makes a difference, and such as are made of nothing but what costs. */
const BODIES: Readonly<Record<string, string>> = {
  "every kind of value": inJson(
    (n) => ({
      displayName: `Zoë ${n} `,
      user_id: n,
      url: "https://a.example/?b=<c>&d='e'",
      at: "2026-01-01T00:00:00Z",
      rest: [1, 2.5, 1e25, true, null, {}],
    }),
    430,
  ),
  "empty objects": inJson(() => ({}), 21_800),
  names: JSON.stringify(Object.fromEntries(Array.from({ length: 4_700 }, (_, n) => [`k_${n}`, null]))),
  numbers: inJson((n) => n * 1.5, 10_000),
  "no JSON": "x".repeat(BODY),
  escapes: JSON.stringify("\u0001".repeat(10_900)),
  "other scripts": JSON.stringify("é<".repeat(20_000)),
  little: "{}",
};

const ecKeys = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    ...generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }),
    ...{ kid: `k${n}`, alg: "ES256", use: "sig" },
  }));
const inSegment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const token = (header: object, claims: object) =>
  `${inSegment(header)}.${inSegment(claims)}.${randomBytes(64).toString("base64url")}`;
const own = (more: Readonly<Record<string, string>>) => ({
  "Content-Type": "application/json",
  "Webhook-Timestamp": String(NOW),
  "Webhook-Event-Id": ID,
  ...more,
});
const standard = (signatures: readonly string[]) => ({
  "Content-Type": "application/json",
  "webhook-id": "msg_1",
  "webhook-timestamp": String(NOW),
  "webhook-signature": signatures.join(" "),
});
const claims = (body: string, more = {}) => ({
  ...{ iss: "a", sub: BASE_URL, aud: URL_OF, iat: NOW, exp: NOW + 60, jti: ID },
  ...{ htm: "POST", htu: URL_OF, htb_s256: crypto.createHash("sha256").update(body).digest("base64url") },
  ...more,
});

describe("a diagnosis", () => {
  const keys = ecKeys(50);
  const digest = () => randomBytes(32).toString("base64");

  const WAYS: readonly [what: string, (body: string) => Parameters<typeof diagnose>[0]][] = [
    ...[1, 2, 8, 50].map((count): (typeof WAYS)[number] => {
      const secret = Array.from({ length: count }, () => generateSecret());
      const headers = own({ "Webhook-Signature": randomBytes(32).toString("base64url") });
      return [
        `of the default scheme, with ${count} secrets`,
        (body) => ({ request: { url: URL_OF, headers, body }, secret, clock }),
      ];
    }),
    ...[1, 12, 50].map((count): (typeof WAYS)[number] => [
      `of a token, with ${count} keys`,
      (body) => {
        const made = token({ alg: "ES256", typ: "JWT", kid: "k0" }, claims("other"));
        const headers = own({ Authorization: `Bearer ${made}` });
        return {
          request: { url: URL_OF, headers, body },
          jwks: { keys: keys.slice(0, count) } as never,
          clock,
        };
      },
    ]),
    ...[1, 2, 10].flatMap((count) => {
      const secrets = Array.from({ length: count }, () => generateStandardSecret());
      return [1, 16].map((signatures): (typeof WAYS)[number] => [
        `of Standard Webhooks, with ${count} secrets and ${signatures} signatures`,
        (body) => {
          const made = Array.from(
            { length: signatures },
            (_, n) => `v1,${randomBytes([32, 20, 48, 64][n % 4] ?? 32).toString("base64")}`,
          );
          return { scheme: "standard-webhooks", request: { headers: standard(made), body }, secrets };
        },
      ]);
    }),
    ...["the body's digest", "the signature"].map((what): (typeof WAYS)[number] => [
      `of HTTP message signatures, of which ${what} is wrong`,
      (body) => {
        const right = crypto.createHash("sha256").update(body).digest("base64");
        const headers = {
          "Content-Type": "application/json",
          "Content-Digest": `sha-256=:${what === "the signature" ? right : digest()}:`,
          "Signature-Input": `sig1=("@method" "@target-uri" "content-digest" "content-type");created=${NOW};keyid="k0"`,
          Signature: `sig1=:${digest()}:`,
        };
        const secrets = { k0: generateSecret() };
        return { scheme: "http-signature", url: URL_OF, request: { headers, body }, secrets, clock };
      },
    ]),
    [
      "of a security event token as long as a body",
      (body) => {
        const made = token(
          { alg: "ES256", typ: "secevent+jwt", kid: "k0" },
          claims("", { events: { a: body.slice(0, 40_000) } }),
        );
        const request = { headers: { "Content-Type": "application/secevent+jwt" }, body: made };
        return {
          scheme: "security-event-token",
          request,
          keys: localKeys({ keys } as never),
          jwks: { keys } as never,
          clock,
        };
      },
    ],
  ];

  it.each(WAYS)("%s stays within 100 ms, and 20 ms for a small body", async (_, inputOf) => {
    // The little one first, before the garbage of the others is its own to collect.
    for (const [name, body] of Object.entries(BODIES).reverse()) {
      const input = inputOf(body);
      const most = name === "little" ? 20 : 100;
      expect(await tooMuch(() => diagnose(input), most), `${name}: ms`).toBeUndefined();
    }
  });
});

describe("a forged request at a receiver", () => {
  const { createHmac, createHash, hash, verify } = crypto;
  const count = { hmacs: 0, hashes: 0, verified: 0 };
  beforeEach(() => {
    const counted =
      <Given extends unknown[], Made>(what: keyof typeof count, call: (...given: Given) => Made) =>
      (...given: Given): Made => {
        count[what]++;
        return call(...given);
      };
    Object.assign(crypto, {
      createHmac: counted("hmacs", createHmac),
      createHash: counted("hashes", createHash),
      hash: counted("hashes", hash),
      verify: counted("verified", verify as (...given: unknown[]) => unknown),
    });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    Object.assign(crypto, { createHmac, createHash, hash, verify });
    syncBuiltinESMExports();
  });

  const many = <Made>(length: number, make: (n: number) => Made) => Array.from({ length }, (_, n) => make(n));
  const names = many(64, (n) => `x-${n}`);
  const signature64 = () => randomBytes(64).toString("base64");

  type Case = readonly [
    scheme: string,
    receiver: () => Parameters<typeof createReceiver>[0],
    headers: (body: string) => Readonly<Record<string, string>>,
    most: Partial<typeof count>,
  ];
  const CASES: readonly Case[] = [
    [
      "access-governance, HMAC with 10 secrets",
      () => ({
        listener: {
          id: "lst_1",
          baseUrl: BASE_URL,
          auth: { method: "hmac", secret: many(10, () => generateSecret()) },
        },
      }),
      () => own({ "Webhook-Signature": randomBytes(32).toString("base64url") }),
      { hmacs: 11, hashes: 0 },
    ],
    [
      "access-governance, tokens",
      () => ({
        listener: {
          id: "lst_1",
          baseUrl: BASE_URL,
          auth: { method: "jwt", keys: localKeys({ keys: ecKeys(50) } as never) },
        },
      }),
      (body) =>
        own({ Authorization: `Bearer ${token({ alg: "ES256", typ: "JWT", kid: "k0" }, claims(body))}` }),
      { verified: 1, hashes: 1 },
    ],
    [
      "standard-webhooks, 10 secrets and 16 signatures",
      () => ({ verifier: standardWebhooksVerifier({ secrets: many(10, () => generateStandardSecret()) }) }),
      () => standard(many(16, () => `v1,${randomBytes(32).toString("base64")}`)),
      { hmacs: 10 },
    ],
    [
      "standard-webhooks, 10 keys and 16 signatures",
      () => ({
        verifier: standardWebhooksVerifier({
          secrets: many(10, () => {
            const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
            return `whpk_${Buffer.from(x, "base64url").toString("base64")}`;
          }),
        }),
      }),
      () => standard(many(16, () => `v1a,${signature64()}`)),
      { verified: 160 },
    ],
    [
      "http-signature, 8 signatures over 64 components",
      () => ({
        verifier: httpSignatureVerifier({ url: URL_OF, keys: localKeys({ keys: ecKeys(1) } as never) }),
      }),
      (body) => {
        const components = [
          "@method",
          "@target-uri",
          "content-digest",
          "content-type",
          "webhook-event-id",
          ...names,
        ].slice(0, 64);
        const one = `(${components.map((name) => `"${name}"`).join(" ")});created=${NOW};keyid="k0"`;
        return {
          "Content-Type": "application/json",
          "Content-Digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
          "Webhook-Event-Id": ID,
          "Signature-Input": many(8, (n) => `s${n}=${one}`).join(", "),
          Signature: many(8, (n) => `s${n}=:${signature64()}:`).join(", "),
          ...Object.fromEntries(names.map((name) => [name, "v".repeat(100)])),
        };
      },
      { verified: 8, hashes: 1 },
    ],
    [
      "security-event-token",
      () => ({
        verifier: securityEventVerifier({
          issuer: "a",
          audience: "b",
          keys: localKeys({ keys: ecKeys(50) } as never),
        }),
      }),
      () => ({ "Content-Type": "application/secevent+jwt" }),
      { verified: 1 },
    ],
  ];

  it.each(CASES)("%s", async (scheme, optionsOf, headersOf, most) => {
    const receiver = createReceiver({ ...optionsOf(), clock });
    for (const [name, body] of Object.entries(BODIES)) {
      const events = many(16, (n) => [`https://a.example/${n}`, {}]);
      const set = () =>
        token(
          { alg: "ES256", typ: "secevent+jwt", kid: "k0" },
          claims("", {
            iss: "a",
            aud: "b",
            events: Object.fromEntries(events),
            filler: body.slice(0, 40_000),
          }),
        );
      const sent = scheme === "security-event-token" ? set() : body;
      const request = {
        method: "POST",
        url: pathOf("lst_1"),
        headers: headersOf(sent),
        body: sent,
        sourceAddress: "127.0.0.1",
      };
      Object.assign(count, { hmacs: 0, hashes: 0, verified: 0 });
      const { ok } = await receiver.verify(request);
      expect(ok, "forged").toBe(false);
      for (const [what, number] of Object.entries(most))
        expect(count[what as keyof typeof count], `${name}: ${what}`).toBeLessThanOrEqual(number);
      expect(await tooMuch(() => receiver.verify(request), 40), `${name}: ms`).toBeUndefined();
    }
    // What is counted is counted: where it is the signature that is looked at, the work is done once at least.
    expect(Math.max(...Object.values(count))).toBeGreaterThan(0);
  });

  it("has at most 10 secrets to be tried with", () => {
    const secret = many(11, () => generateSecret());
    expect(() =>
      createReceiver({ listener: { id: "lst_1", baseUrl: BASE_URL, auth: { method: "hmac", secret } } }),
    ).toThrow("list of 1 to 10");
  });
});

it("an event of Lambda with a body of 6 MB is decoded up to what a listener takes", async () => {
  const handler = lambdaHandler(
    createReceiver({
      listener: { id: "lst_1", baseUrl: BASE_URL, auth: { method: "hmac", secret: generateSecret() } },
      clock,
    }),
    async () => {},
  );
  const event = (length: number) => ({
    version: "2.0",
    rawPath: pathOf("lst_1"),
    headers: own({ "webhook-signature": "a" }),
    requestContext: { http: { method: "POST", sourceIp: "127.0.0.1" } },
    body: Buffer.alloc(length, "x").toString("base64"),
    isBase64Encoded: true,
  });
  const large = event(6_000_000);
  expect(await handler(large as never)).toMatchObject({ statusCode: 413 });
  expect(await handler(event(BODY) as never)).not.toMatchObject({ statusCode: 413 });
  expect(await tooMuch(() => handler(large as never), 25), "ms").toBeUndefined();
});

describe("a burst of refusals", () => {
  it.each([
    [false, 50],
    [true, 100],
  ])("is explained in part, one at a time: hidden %s, %i at most", async (isHidden, most) => {
    let [asked, atOnce] = [0, 0];
    const listener = {
      mistakesIn: async () => {
        asked++;
        expect(++atOnce).toBe(1);
        await new Promise(setImmediate);
        atOnce--;
        return [];
      },
    } as unknown as WatchedListener;
    let found = 0;
    const diagnoses = createDiagnoses(
      () => listener,
      () => found++,
    );
    for (let n = 0; n < 5_000; n++)
      diagnoses.queue(
        {
          row: { n, code: "SIGNATURE_MISMATCH", status: 401, method: "POST", at: 0 },
          headers: [],
          body: Buffer.alloc(0),
          target: "/",
          checks: [{ step: "size", ok: true }],
        } as unknown as Entry,
        isHidden,
      );
    await expect.poll(() => found).toBe(most);
    expect(asked).toBe(most);
  });
});

/** The command's own run, for which there is nothing to find. */
async function explained(text: string): Promise<void> {
  const args = { text: (name: string) => (name === "code" ? text : undefined) };
  const out = { document() {}, line() {}, note() {} };
  await explain.run({ args, out } as never).catch((error) => expect(error.code).toBe("USAGE"));
}

it("a text to explain costs what its length does", async () => {
  for (const make of [
    (n: number) => "A_".repeat(n / 2),
    (n: number) => "é".repeat(n),
    (n: number) => "4".repeat(n),
    (n: number) => "a,".repeat(n / 2),
  ]) {
    const text = make(BODY);
    expect(await tooMuch(() => explained(text), 100), `${text.slice(0, 8)}: ms`).toBeUndefined();
  }
});
