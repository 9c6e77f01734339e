import { inspect } from "node:util";
import { createEvent, createSender, DeliveryError, generateSecret, signRequest } from "hookproof";
import { createReceiver, type ReceiverOptions } from "hookproof/receiver";
import {
  generateStandardKeys,
  generateStandardSecret,
  standardWebhooksSigner,
  standardWebhooksVerifier,
} from "hookproof/standard-webhooks";
import { createFakeReceiver, fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";

/** The values of the specification's own repository: javascript/src/webhook.test.ts, go/webhook_asymmetric_test.go. */
const VECTOR = {
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: "1614265330",
  body: '{"test": 2432232314}',
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  v1: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  privateKey: "whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=",
  /** Of that private key, by `openssl pkey -pubout`. */
  publicKey: "whpk_ZlN4eg7dSSqi0moX9hQUk3orrOouK3QVQSlJa248c/g=",
  v1a: "v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag==",
};

const URL = "https://hooks.example.com/in?tenant=7";
const clock = fixedClock(Number(VECTOR.timestamp) * 1000);
const body = new TextEncoder().encode(VECTOR.body);

type Lines = Record<string, string | readonly string[] | undefined>;

function vectorHeaders(over: Lines = {}): Lines {
  return {
    "webhook-id": VECTOR.id,
    "webhook-timestamp": VECTOR.timestamp,
    "webhook-signature": VECTOR.v1,
    ...over,
  };
}

async function verdictOf(
  headers: Lines,
  options: { secrets?: string | readonly string[]; at?: number; toleranceSeconds?: number } = {},
) {
  const { secrets = VECTOR.secret, at = 0, toleranceSeconds } = options;
  const verifier = standardWebhooksVerifier({ secrets, toleranceSeconds });
  const receiver = createReceiver({ verifier, clock: fixedClock(clock.now() + at * 1000) });
  return receiver.verify({ method: "POST", url: "/any/path", headers, body });
}

const codeOf = async (...args: Parameters<typeof verdictOf>) => {
  const verdict = await verdictOf(...args);
  return verdict.ok ? "accepted" : verdict.code;
};

describe("the specification's own values", () => {
  const request = { url: URL, timestamp: VECTOR.timestamp, eventId: VECTOR.id, body };

  it("v1 and v1a are signed, each secret in its turn", async () => {
    const sign = async (...secrets: string[]) =>
      (await standardWebhooksSigner({ secrets }).sign(request)).headers;
    expect(await sign(VECTOR.secret)).toEqual([["webhook-signature", VECTOR.v1]]);
    expect(await sign(VECTOR.privateKey)).toEqual([["webhook-signature", VECTOR.v1a]]);
    expect(await sign(VECTOR.privateKey, VECTOR.secret)).toEqual([
      ["webhook-signature", `${VECTOR.v1a} ${VECTOR.v1}`],
    ]);
  });

  it.each([
    ["v1", VECTOR.secret, VECTOR.v1],
    ["v1a", VECTOR.publicKey, VECTOR.v1a],
    ["v1 behind another version", VECTOR.secret, `v2,${VECTOR.v1.slice(3)} ${VECTOR.v1}`],
    ["v1a behind a v1 by an old secret", VECTOR.publicKey, `v1,${"A".repeat(43)}= ${VECTOR.v1a}`],
    ["v1 before a v1a", VECTOR.secret, `${VECTOR.v1} ${VECTOR.v1a}`],
  ])("%s is verified", async (_, secrets, signature) => {
    const verdict = await verdictOf(vectorHeaders({ "webhook-signature": signature }), { secrets });
    expect(verdict).toMatchObject({
      ok: true,
      event: { id: VECTOR.id, timestamp: 1_614_265_330, payload: { test: 2_432_232_314 } },
    });
  });
});

describe("sending", () => {
  it("has the three headers, and signs again at each attempt", async () => {
    const time = fixedClock(1_767_225_600_000);
    const { transport, requests } = createFakeReceiver([503, 204]);
    const wait = async (ms: number) => time.advance(ms);
    const secrets = generateStandardSecret();
    const sender = createSender({
      url: URL,
      signer: standardWebhooksSigner({ secrets }),
      transport,
      clock: time,
      wait,
    });
    const receipt = await sender.send({ n: 1 });
    expect(receipt).toMatchObject({ outcome: "accepted", status: 204 });
    const receiver = createReceiver({ verifier: standardWebhooksVerifier({ secrets }), clock: time });
    for (const { headers } of requests) {
      expect([...headers.keys()]).toEqual([
        "content-type",
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
      ]);
      expect(headers.get("webhook-id")).toBe(receipt.eventId);
    }
    const [first, second] = requests;
    expect(first?.headers.get("webhook-timestamp")).not.toBe(second?.headers.get("webhook-timestamp"));
    expect((await receiver.verify(second as never)).ok).toBe(true);
  });

  it("secrets may come from a function, at each attempt", async () => {
    const asked: string[] = [];
    const { transport, requests } = createFakeReceiver();
    const signer = standardWebhooksSigner({
      secrets: async () => {
        asked.push("asked");
        return asked.length < 2 ? VECTOR.secret : [VECTOR.privateKey, VECTOR.secret];
      },
    });
    const sender = createSender({ url: URL, signer, transport });
    await sender.send({ n: 1 });
    await sender.send({ n: 2 });
    expect(
      requests.map(({ headers }) =>
        headers
          .get("webhook-signature")
          ?.split(" ")
          .map((one) => one.split(",")[0]),
      ),
    ).toEqual([["v1"], ["v1a", "v1"]]);
    const failing = standardWebhooksSigner({ secrets: () => Promise.reject(new Error("vault")) });
    await expect(
      createSender({ url: URL, signer: failing, transport, retry: { maxAttempts: 1 } }).send({}),
    ).rejects.toMatchObject({ code: "SIGNER_FAILED" });
  });

  it.each([
    [200, "accepted"],
    [201, "accepted"],
    [204, "accepted"],
    [299, "accepted"],
    [301, "setup REDIRECT_REFUSED"],
    [400, "setup REQUEST_REFUSED"],
    [401, "setup AUTHENTICATION_REFUSED"],
    [404, "setup LISTENER_NOT_FOUND"],
    [409, "setup REQUEST_REFUSED"],
    [410, "final REQUEST_REFUSED"],
    [429, "retry RECEIVER_UNAVAILABLE"],
    [500, "retry RECEIVER_UNAVAILABLE"],
    [504, "retry RECEIVER_UNAVAILABLE"],
  ])("%d means %s", (status, meaning) => {
    const { scheme } = standardWebhooksSigner({ secrets: VECTOR.secret });
    const found = scheme.classify({ status, headers: [] }, 2, 0);
    expect("code" in found ? `${found.outcome} ${found.code}` : found.outcome).toBe(meaning);
  });

  it("warns of a secret of another length than the specification's", () => {
    const warnings = (bytes: number) =>
      standardWebhooksSigner({ secrets: `whsec_${Buffer.alloc(bytes, 7).toString("base64")}` }).warnings;
    expect(warnings(24)).toEqual([]);
    expect(warnings(64)).toEqual([]);
    expect(warnings(23)).toEqual(["The secret has 23 bytes; Standard Webhooks wants 24 to 64."]);
    expect(warnings(65)).toHaveLength(1);
  });
});

it("a secret of a few bytes, which was cut or mistyped, is refused by both sides", () => {
  const of = (bytes: number) => ({ secrets: `whsec_${Buffer.alloc(bytes, 7).toString("base64")}` });
  for (const bytes of [1, 2, 3, 15]) {
    const refused = expect.objectContaining({
      code: "SECRET_INVALID",
      message: expect.stringContaining(`has ${bytes} byte`),
    });
    expect(() => standardWebhooksSigner(of(bytes))).toThrow(refused);
    expect(() => standardWebhooksVerifier(of(bytes))).toThrow(refused);
  }
  standardWebhooksSigner(of(16));
  standardWebhooksVerifier(of(16));
});

it.each([
  ["v1,whsec_", "begins with v1,, which names a version: take it away"],
  ["v1a,whsk_", "begins with v1a,, which names a version: take it away"],
  ['"whsec_', "stands in quotes: take them away"],
  ["'v1,whsec_", "begins with v1,, which names a version"],
  [" whsec_", "has white space in front: take it away"],
  ["\n\uFEFFwhsec_", "begins with a byte order mark: take it away"],
  ["WEBHOOK_SECRET=whsec_", "has something in front of its prefix, such as the name of a variable"],
  ["Bearer whsec_", "has something in front of its prefix"],
  ["WHSEC_", "has its prefix in capitals"],
  ["secret_", "does not begin with whsec_"],
])("a secret that begins with %j is refused with what is in front of it", (before, said) => {
  const secrets = `${before}${Buffer.alloc(24, 7).toString("base64")}`;
  const refused = expect.objectContaining({ code: "SECRET_INVALID", message: expect.stringContaining(said) });
  expect(() => standardWebhooksVerifier({ secrets })).toThrow(refused);
});

it.each([
  ["behind a prefix", "whsec_whsec_AAAA", "has a prefix twice: are these two secrets?"],
  ["two in one text", "whsec_AAAA whsec_BBBB", "has a prefix twice"],
  ["hidden by a page", "whsec_\u2022\u2022\u2022\u2022\u2022\u2022", "has signs in place of its characters"],
  ["cut by a page", "whsec_MfKQ...", "has signs in place of its characters"],
  [
    "out of a list",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw,",
    "ends with ,, which belongs to what stands around it",
  ],
  ["out of code", 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"', 'ends with ", which belongs'],
  ["in the other alphabet", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_", "in the standard alphabet"],
])("a secret %s is refused as what it is", (_, secrets, said) => {
  const refused = expect.objectContaining({ code: "SECRET_INVALID", message: expect.stringContaining(said) });
  expect(() => standardWebhooksVerifier({ secrets })).toThrow(refused);
});

describe("a receiver refuses", () => {
  const many = (count: number) => [...Array(count - 1).fill(`v1,${"A".repeat(43)}=`), VECTOR.v1].join(" ");
  const padded = VECTOR.v1.slice(0, -1);
  it.each<[string, Lines, string]>([
    ["no id", { "webhook-id": undefined }, "EVENT_ID_MISSING"],
    ["two ids", { "webhook-id": [VECTOR.id, VECTOR.id] }, "EVENT_ID_MALFORMED"],
    ["an empty id", { "webhook-id": "" }, "EVENT_ID_MALFORMED"],
    ["an id with a full stop", { "webhook-id": "msg.1" }, "EVENT_ID_MALFORMED"],
    ["an id with a space", { "webhook-id": "msg 1" }, "EVENT_ID_MALFORMED"],
    ["an id of 257 characters", { "webhook-id": "a".repeat(257) }, "EVENT_ID_MALFORMED"],
    ["another id", { "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJeK" }, "SIGNATURE_MISMATCH"],
    ["no timestamp", { "webhook-timestamp": undefined }, "TIMESTAMP_MISSING"],
    ["two timestamps", { "webhook-timestamp": ["1614265330", "1614265330"] }, "TIMESTAMP_MALFORMED"],
    ["milliseconds", { "webhook-timestamp": "1614265330000" }, "TIMESTAMP_OUT_OF_WINDOW"],
    ["a fraction", { "webhook-timestamp": "1614265330.5" }, "TIMESTAMP_MALFORMED"],
    ["a second later", { "webhook-timestamp": "1614265331" }, "SIGNATURE_MISMATCH"],
    ["no signature", { "webhook-signature": undefined }, "SIGNATURE_MISSING"],
    ["two lines of signatures", { "webhook-signature": [VECTOR.v1, VECTOR.v1] }, "SIGNATURE_MALFORMED"],
    ["an empty signature", { "webhook-signature": "" }, "SIGNATURE_MALFORMED"],
    ["a signature without a version", { "webhook-signature": VECTOR.v1.slice(3) }, "SIGNATURE_MALFORMED"],
    ["an empty v1", { "webhook-signature": "v1," }, "SIGNATURE_MISMATCH"],
    [
      "only versions of the future",
      { "webhook-signature": `v2,${VECTOR.v1.slice(3)}` },
      "SIGNATURE_MALFORMED",
    ],
    ["a v1a where only secrets are known", { "webhook-signature": VECTOR.v1a }, "SIGNATURE_MALFORMED"],
    ["a v1 in the name of v1a", { "webhook-signature": `v1a,${VECTOR.v1.slice(3)}` }, "SIGNATURE_MALFORMED"],
    ["a signature with one more padding", { "webhook-signature": `${VECTOR.v1}=` }, "SIGNATURE_MISMATCH"],
    ["a signature without its padding", { "webhook-signature": padded }, "SIGNATURE_MISMATCH"],
    [
      "two with a comma between, as merged lines",
      { "webhook-signature": `v1,A, ${VECTOR.v1},` },
      "SIGNATURE_MISMATCH",
    ],
    ["17 signatures", { "webhook-signature": many(17) }, "SIGNATURE_MALFORMED"],
  ])("%s", async (_, over, code) => {
    expect(await codeOf(vectorHeaders(over))).toBe(code);
  });

  it("but takes 16 signatures, the right one last", async () => {
    expect(await codeOf(vectorHeaders({ "webhook-signature": many(16) }))).toBe("accepted");
  });

  it("a timestamp further away than its tolerance, in either direction", async () => {
    const at = (seconds: number, toleranceSeconds?: number) =>
      codeOf(vectorHeaders(), {
        at: seconds,
        ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
      });
    expect(await Promise.all([at(300), at(-300), at(301), at(-301)])).toEqual([
      "accepted",
      "accepted",
      "TIMESTAMP_OUT_OF_WINDOW",
      "TIMESTAMP_OUT_OF_WINDOW",
    ]);
    expect([await at(10, 10), await at(11, 10)]).toEqual(["accepted", "TIMESTAMP_OUT_OF_WINDOW"]);
  });

  it("an asymmetric signature that is no signature by this key", async () => {
    const bytes = Buffer.from(VECTOR.v1a.slice(4), "base64");
    const spoilt = (change: (bytes: Buffer) => Buffer) =>
      `v1a,${change(Buffer.from(bytes)).toString("base64")}`;
    const signatures = [
      spoilt((one) => one.fill(one[0] ? one[0] ^ 1 : 1, 0, 1)),
      spoilt((one) => one.subarray(0, 63)),
      spoilt(() => Buffer.alloc(64)),
      `v1a,${bytes.toString("base64url")}`,
      "v1a,",
      "v1a,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=",
    ];
    for (const signature of signatures)
      expect(
        await codeOf(vectorHeaders({ "webhook-signature": signature }), { secrets: VECTOR.publicKey }),
        signature,
      ).toBe("SIGNATURE_MISMATCH");
    const { publicKey } = await generateStandardKeys();
    const headers = vectorHeaders({ "webhook-signature": VECTOR.v1a });
    expect(await codeOf(headers, { secrets: publicKey })).toBe("SIGNATURE_MISMATCH");
    expect(await codeOf(headers, { secrets: [publicKey, VECTOR.publicKey] })).toBe("accepted");
  });

  it("a body that is not JSON, after its signature was found right", async () => {
    const secrets = generateStandardSecret();
    const request = {
      url: URL,
      timestamp: VECTOR.timestamp,
      eventId: "msg_1",
      body: new TextEncoder().encode("{"),
    };
    const { headers } = await standardWebhooksSigner({ secrets }).sign(request);
    const receiver = createReceiver({ verifier: standardWebhooksVerifier({ secrets }), clock });
    const lines = vectorHeaders({ "webhook-id": "msg_1", ...Object.fromEntries(headers) });
    const answer = await receiver.receive(
      { method: "POST", url: "/", headers: lines, body: "{" },
      async () => {},
    );
    expect(answer.status).toBe(400);
    expect(answer.body).toBe(
      '{"code":"BODY_NOT_JSON","message":"The body was not one JSON value in UTF-8."}',
    );
  });
});

describe("a copy", () => {
  it("within the tolerance is acknowledged and not run again; later its timestamp refuses it", async () => {
    const time = fixedClock(clock.now());
    const receiver = createReceiver({
      verifier: standardWebhooksVerifier({ secrets: VECTOR.secret }),
      clock: time,
    });
    const ran: string[] = [];
    const copy = async () =>
      (
        await receiver.receive({ method: "POST", url: "/", headers: vectorHeaders(), body }, async ({ id }) =>
          ran.push(id),
        )
      ).verdict;
    expect((await copy()).ok).toBe(true);
    time.advance(299_000);
    expect(await copy()).toMatchObject({ ok: false, code: "EVENT_DUPLICATE", status: 200 });
    time.advance(2_000);
    expect(await copy()).toMatchObject({ code: "TIMESTAMP_OUT_OF_WINDOW", status: 400 });
    expect(ran).toEqual([VECTOR.id]);
  });

  it("of an id that was signed again, days later, is still known", async () => {
    const time = fixedClock(clock.now());
    const secrets = VECTOR.secret;
    const receiver = createReceiver({ verifier: standardWebhooksVerifier({ secrets }), clock: time });
    const event = createEvent({ n: 1 });
    const send = async () => {
      const request = await signRequest({
        url: URL,
        signer: standardWebhooksSigner({ secrets }),
        event,
        clock: time,
      });
      return (await receiver.receive(request, async () => {})).verdict;
    };
    expect((await send()).ok).toBe(true);
    time.advance(3 * 24 * 3_600_000);
    expect(await send()).toMatchObject({ code: "EVENT_DUPLICATE", status: 200 });
  });
});

describe("a wrong key is refused where it is given", () => {
  const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString("base64");
  it.each<[string, unknown, RegExp]>([
    ["no prefix", base64(32), /does not begin with whsec_/],
    ["a secret of the default scheme", generateSecret(), /does not begin with whsec_/],
    ["base64url", "whsec_--__--__--__--__--__--__--__--__", /not whsec_ and base64/],
    ["a space", `whsec_${base64(24)} `, /not whsec_ and base64/],
    ["three times padding", `whsec_${base64(25)}=`, /padding or last bits that no encoder writes/],
    ["bits of no byte at the end", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBr", /no encoder writes/],
    ["one character too many", `whsec_${"A".repeat(33)}`, /not whsec_ and base64/],
    ["a text of 1,025 bytes", `whsec_${base64(1_025)}`, /1,?025 bytes, too many/],
    ["nothing behind the prefix", "whsec_", /is empty/],
    ["no text", 7, /must be a text|texts such as/],
    ["none", [], /1 to 10/],
    ["eleven", Array(11).fill(`whsec_${base64(24)}`), /1 to 10/],
    [
      "a shared secret as a public key",
      `whpk_${base64(24)}`,
      /24 bytes, and not 32\. A shared secret begins with whsec_/,
    ],
    ["a shared secret as a private key", `whsk_${base64(24)}`, /24 bytes, and not 32/],
    ["a public key with a private one behind it", `whpk_${base64(64)}`, /whpk_ has 64 bytes, and not 32/],
    ...[31, 33, 40, 63, 65, 96].flatMap((bytes) =>
      ["whsk_", "whpk_"].map((prefix): [string, unknown, RegExp] => [
        `${prefix} of ${bytes} bytes`,
        `${prefix}${base64(bytes)}`,
        new RegExp(`${prefix} has ${bytes} bytes, and not 32`),
      ]),
    ),
    ["a public key of low order", `whpk_${Buffer.alloc(32).toString("base64")}`, /everybody can sign/],
  ])("%s", (_, secrets, message) => {
    for (const make of [standardWebhooksSigner, standardWebhooksVerifier])
      expect(() => make({ secrets: secrets as string })).toThrow(message);
  });

  it("a private key for a receiver, a public key for a sender", () => {
    expect(() => standardWebhooksVerifier({ secrets: VECTOR.privateKey })).toThrow(
      /needs its public key, whpk_/,
    );
    expect(() => standardWebhooksSigner({ secrets: VECTOR.publicKey })).toThrow(/sign with its whsk_/);
    for (const toleranceSeconds of [-1, Number.NaN, 3 * 86_400 + 1, Number.POSITIVE_INFINITY])
      expect(() => standardWebhooksVerifier({ secrets: VECTOR.secret, toleranceSeconds })).toThrow(
        RangeError,
      );
  });

  it("and no message or printed object shows it", async () => {
    const encoded = VECTOR.secret.slice(6);
    try {
      standardWebhooksSigner({ secrets: `whpk_${encoded}` });
    } catch (error) {
      expect(inspect(error)).not.toContain(encoded);
    }
    for (const shown of [
      standardWebhooksSigner({ secrets: VECTOR.secret }),
      standardWebhooksVerifier({ secrets: VECTOR.secret }),
    ])
      expect(inspect(shown, { depth: 9 })).not.toContain(encoded);
  });

  it("a receiver has a listener or a verifier, and says which is missing", () => {
    expect(() => createReceiver({} as ReceiverOptions)).toThrow(TypeError);
  });
});

it("new secrets and keys have the specification's form", async () => {
  expect(generateStandardSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { privateKey, publicKey } = await generateStandardKeys();
  expect(privateKey).toMatch(/^whsk_[A-Za-z0-9+/]{43}=$/);
  const signer = standardWebhooksSigner({ secrets: privateKey });
  const request = await signRequest({ url: URL, signer, event: createEvent({ n: 1 }), clock });
  const receiver = createReceiver({ verifier: standardWebhooksVerifier({ secrets: publicKey }), clock });
  expect((await receiver.verify(request)).ok).toBe(true);
  // Some write the private key with its public half behind it.
  const both = Buffer.concat([
    Buffer.from(privateKey.slice(5), "base64"),
    Buffer.from(publicKey.slice(5), "base64"),
  ]);
  const long = standardWebhooksSigner({ secrets: `whsk_${both.toString("base64")}` });
  expect(
    (
      await receiver.verify(
        await signRequest({ url: URL, signer: long, event: createEvent({ n: 1 }), clock }),
      )
    ).ok,
  ).toBe(true);
});

it("410 ends an event at once, and says why", async () => {
  const { transport } = createFakeReceiver([410]);
  const sender = createSender({
    url: URL,
    signer: standardWebhooksSigner({ secrets: VECTOR.secret }),
    transport,
  });
  const error = await sender.send({ n: 1 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DeliveryError);
  expect(error).toMatchObject({
    code: "REQUEST_REFUSED",
    hint: expect.stringContaining("410 Gone") as string,
  });
});

describe("what two sides may have agreed on otherwise", () => {
  const key = Buffer.alloc(24, 7);
  const encoded = key.toString("base64");

  /** The signature of an event, with its names of the headers. */
  async function signed(options: Parameters<typeof standardWebhooksSigner>[0]) {
    const event = createEvent({ n: 1 });
    const { headers, body: sent } = await signRequest({
      url: URL,
      signer: standardWebhooksSigner(options),
      event,
      clock,
    });
    return { headers, body: sent };
  }

  async function accepts(
    request: Awaited<ReturnType<typeof signed>>,
    options: Parameters<typeof standardWebhooksVerifier>[0],
  ) {
    const receiver = createReceiver({ verifier: standardWebhooksVerifier(options), clock });
    return receiver.verify({ method: "POST", url: "/in", ...request });
  }

  it.each(["webhook", "svix", "x-webhook"] as const)(
    "headers named %s-id, and no others",
    async (headerNames) => {
      const secrets = VECTOR.secret;
      const request = await signed({ secrets, headerNames });
      const own = ["id", "signature", "timestamp"].map((part) => `${headerNames}-${part}`);
      expect(
        Object.keys(request.headers)
          .filter((name) => /-(?:id|signature|timestamp)$/.test(name))
          .sort(),
      ).toEqual(own);
      for (const other of ["webhook", "svix", "x-webhook"] as const) {
        const verdict = await accepts(request, { secrets, headerNames: other });
        expect(verdict.ok).toBe(other === headerNames);
        if (!verdict.ok)
          expect(verdict.checks.at(-1)).toMatchObject({
            step: "event-id",
            rule: expect.stringContaining(`${other}-id is one text`),
          });
      }
      expect((await accepts(request, { secrets })).ok).toBe(headerNames === "webhook");
    },
  );

  it("another sender's option headers cannot set them", async () => {
    const sender = (name: string) =>
      createSender({
        url: URL,
        signer: standardWebhooksSigner({ secrets: VECTOR.secret, headerNames: "svix" }),
        headers: { [name]: "x" },
      });
    expect(() => sender("Svix-Id")).toThrow(/svix-id/i);
  });

  it("secrets without a prefix, raw ones, and loose padding sign with the key that was agreed on", async () => {
    const prefixed = `whsec_${encoded}`;
    const raw = "a raw secret; not decoded: +/=";
    const asPrefixed = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString("base64")}`;
    const loose = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBr"; // of the Python library's own tests
    const looseKey = Buffer.from(loose, "base64");
    const cases = [
      [{ secrets: encoded, secretForm: "base64" }, prefixed],
      [{ secrets: raw, secretForm: "raw" }, asPrefixed(Buffer.from(raw))],
      [{ secrets: prefixed, secretForm: "raw" }, asPrefixed(Buffer.from(prefixed))],
      [{ secrets: `whsec_${loose}`, loosePadding: true }, asPrefixed(looseKey)],
      [{ secrets: `whsec_${loose}=`, loosePadding: true }, asPrefixed(looseKey)],
      [{ secrets: `${loose}====`, secretForm: "base64", loosePadding: true }, asPrefixed(looseKey)],
      [{ secrets: prefixed, loosePadding: true }, prefixed],
    ] as const;
    for (const [options, plain] of cases) {
      expect((await accepts(await signed(options), { secrets: plain })).ok, JSON.stringify(options)).toBe(
        true,
      );
      expect((await accepts(await signed({ secrets: plain }), options)).ok).toBe(true);
      expect((await accepts(await signed(options), { secrets: VECTOR.secret })).ok).toBe(false);
    }
    // A function's secrets are in the same form.
    const request = await signed({ secrets: async () => [raw, `${raw} 2`], secretForm: "raw" });
    expect((await accepts(request, { secrets: `${raw} 2`, secretForm: "raw" })).ok).toBe(true);
  });

  it.each<[string, object, RegExp]>([
    [
      "a prefix where none was agreed on",
      { secrets: `whsec_${encoded}`, secretForm: "base64" },
      /begins with whsec_/,
    ],
    [
      "a private key without a prefix's form",
      { secrets: `whsk_${encoded}`, secretForm: "base64" },
      /begins with whsk_/,
    ],
    ["no prefix by default", { secrets: encoded }, /does not begin with whsec_/],
    [
      "15 bytes of base64",
      { secrets: Buffer.alloc(15).toString("base64"), secretForm: "base64" },
      /15 bytes, too few/,
    ],
    ["15 raw bytes", { secrets: "x".repeat(15), secretForm: "raw" }, /15 bytes, too few/],
    ["1,025 raw bytes", { secrets: "x".repeat(1_025), secretForm: "raw" }, /too many/],
    ["a raw secret with a line break", { secrets: `${"x".repeat(32)}\n`, secretForm: "raw" }, /white space/],
    ["an empty raw secret", { secrets: "", secretForm: "raw" }, /is empty/],
    ["a raw secret outside ASCII", { secrets: `${"x".repeat(32)}é`, secretForm: "raw" }, /outside ASCII/],
    ["half a character", { secrets: `${"x".repeat(32)}\ud800`, secretForm: "raw" }, /outside ASCII/],
    [
      "loose padding that is none",
      { secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZ=Io2L", loosePadding: true },
      /not whsec_ and base64/,
    ],
    [
      "base64url with loose padding",
      { secrets: `whsec_${"-_".repeat(16)}`, loosePadding: true },
      /not whsec_ and base64/,
    ],
    ["another form", { secrets: encoded, secretForm: "hex" }, /"prefixed", "base64", "raw"/],
    ["other headers", { secrets: VECTOR.secret, headerNames: "stripe" }, /"webhook", "svix", "x-webhook"/],
    [
      "loose padding of what is not decoded",
      { secrets: encoded, secretForm: "raw", loosePadding: true },
      /not decoded/,
    ],
  ])("%s is refused, by signer and verifier, without the secret", (_, options, words) => {
    for (const make of [standardWebhooksSigner, standardWebhooksVerifier]) {
      const made = () => make(options as never);
      expect(made).toThrow(words);
      expect(made).not.toThrow(/MfKQ9r8G|xxxxxxxx|BwcHBwcH/);
    }
  });
});
