import {
  createEvent,
  createSender,
  generateSecret,
  hmacSigner,
  jwtSigner,
  newEventId,
  type SenderOptions,
  type Signer,
  signRequest,
} from "hookproof";
import { generateKey } from "hookproof/jwks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ReceiverServer, receiverServer, SECRET } from "../kit/receiver-server.js";

let server: ReceiverServer;
beforeAll(async () => {
  server = await receiverServer();
});
afterAll(async () => {
  const { connections } = server;
  await server.stop();
  expect(connections).toHaveLength(0); // nothing was sent by any of these tests
});

const create = (options: Partial<SenderOptions> = {}) =>
  createSender({ url: server.url, signer: hmacSigner({ secret: SECRET }), ...options });

const code = (code: string) => expect.objectContaining({ code });

function cyclic(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

describe("a payload that cannot be sent", () => {
  it.each([
    ["text that is not JSON", "{not json", "PAYLOAD_NOT_JSON"],
    ["an empty text", "", "PAYLOAD_NOT_JSON"],
    ["two values", "{}{}", "PAYLOAD_NOT_JSON"],
    ["a byte order mark", "\uFEFF{}", "PAYLOAD_NOT_JSON"],
    ["undefined", undefined, "PAYLOAD_NOT_JSON"],
    ["a function", () => {}, "PAYLOAD_NOT_JSON"],
    ["a BigInt", { amount: 1n }, "PAYLOAD_NOT_JSON"],
    ["a cycle", cyclic(), "PAYLOAD_NOT_JSON"],
    ["a value too deep to serialise", deep(50_000), "PAYLOAD_NOT_JSON"],
    ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "PAYLOAD_NOT_UTF8"],
    ["a lone surrogate", '"\uD800"', "PAYLOAD_NOT_UTF8"],
    ["65,537 bytes", `"${"x".repeat(65_535)}"`, "PAYLOAD_TOO_LARGE"],
    ["a value that is too large once serialised", { text: "é".repeat(32_768) }, "PAYLOAD_TOO_LARGE"],
  ])("%s", async (_name, payload, wanted) => {
    await expect(create().send(payload)).rejects.toEqual(code(wanted));
    expect(await create().trySend(payload)).toMatchObject({ ok: false, code: wanted, attempts: [] });
  });
});

describe("an id that cannot be used", () => {
  it.each([
    ["version 1", "c232ab00-9414-11ec-b3c8-9f68deced846"],
    ["version 7", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"],
    ["nil", "00000000-0000-0000-0000-000000000000"],
    ["braces", "{0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10}"],
    ["a line break at the end", "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10\r\n"],
    ["an empty text", ""],
  ])("%s", async (_name, eventId) => {
    await expect(create().send({}, { eventId })).rejects.toEqual(code("EVENT_ID_INVALID"));
  });

  it("the same id with other bytes, in either case of letters", async () => {
    const sender = create({
      transport: async () => ({ status: 200, headers: [], body: new Uint8Array(), truncated: false }),
    });
    const eventId = newEventId();
    await sender.send({ a: 1 }, { eventId });
    await sender.send({ a: 1 }, { eventId });
    await expect(sender.send({ a: 2 }, { eventId })).rejects.toEqual(code("EVENT_ID_REUSED"));
    await expect(sender.send({ a: 2 }, { eventId: eventId.toUpperCase() })).rejects.toEqual(
      code("EVENT_ID_REUSED"),
    );
  });

  it("an id that the sender made, with other bytes", async () => {
    let status = 200;
    const sender = create({
      retry: { maxAttempts: 1 },
      transport: async () => ({ status, headers: [], body: new Uint8Array(), truncated: false }),
    });
    const { eventId } = await sender.send({ a: 1 });
    for (let n = 1; n < 50; n++) await sender.send({ n });
    await expect(sender.send({ a: 2 }, { eventId })).rejects.toEqual(code("EVENT_ID_REUSED"));
    await sender.send({ a: 1 }, { eventId });

    status = 500;
    const failed = await sender.trySend({ a: 3 });
    status = 200;
    for (let n = 0; n < 9_998; n++) await sender.send({ n });
    const again = { eventId: failed.eventId };
    await expect(sender.send({ a: 4 }, again)).rejects.toEqual(code("EVENT_ID_REUSED"));
    expect(await sender.send({ a: 3 }, again)).toMatchObject({ eventId: failed.eventId });
  });

  it("an id that came again a moment ago, however long ago it first came", async () => {
    const sender = create({
      transport: async () => ({ status: 200, headers: [], body: new Uint8Array(), truncated: false }),
    });
    const eventId = newEventId();
    await sender.send({ a: 1 }, { eventId });
    for (let n = 0; n < 9_990; n++) await sender.send({ n });
    await sender.send({ a: 1 }, { eventId });
    for (let n = 0; n < 20; n++) await sender.send({ n });
    await expect(sender.send({ a: 2 }, { eventId })).rejects.toEqual(code("EVENT_ID_REUSED"));
  });

  it("a second id for an event that has one", async () => {
    await expect(create().send(createEvent({}), { eventId: newEventId() })).rejects.toEqual(
      code("EVENT_ID_REUSED"),
    );
  });
});

describe("a target that cannot be right", () => {
  const path = "/api/v1/webhooks/incoming/lst_1";
  it.each([
    ["plain HTTP off loopback", `http://tenant.example.com${path}`, "TLS_REQUIRED"],
    ["plain HTTP to a private network", `http://10.0.0.1${path}`, "TLS_REQUIRED"],
    ["a name that only looks like loopback", `http://localhost.example.com${path}`, "TLS_REQUIRED"],
    ["another scheme", `ftp://tenant.example.com${path}`, "LISTENER_URL_INVALID"],
    ["credentials", `https://user:pw@tenant.example.com${path}`, "LISTENER_URL_INVALID"],
    ["a fragment", `https://tenant.example.com${path}#a`, "LISTENER_URL_INVALID"],
    ["an empty fragment", `https://tenant.example.com${path}#`, "LISTENER_URL_INVALID"],
    ["a query", `https://tenant.example.com${path}?a=b`, "LISTENER_URL_INVALID"],
    ["another path", "https://tenant.example.com/webhooks/lst_1", "LISTENER_URL_INVALID"],
    ["no listener id", "https://tenant.example.com/api/v1/webhooks/incoming/", "LISTENER_URL_INVALID"],
    ["a path that goes on", `https://tenant.example.com${path}/more`, "LISTENER_URL_INVALID"],
    [
      "a line break inside",
      `https://tenant.example.com/api/v1/webhooks/inc\noming/lst_1`,
      "LISTENER_URL_INVALID",
    ],
    ["a line break at the end", `https://tenant.example.com${path}\r\n`, "LISTENER_URL_INVALID"],
    ["no URL at all", "lst_1", "LISTENER_URL_INVALID"],
  ])("%s", async (_name, url, wanted) => {
    const signer = hmacSigner({ secret: SECRET });
    expect(() => createSender({ url, signer })).toThrow(code(wanted));
    await expect(signRequest({ url, signer, event: createEvent({}) })).rejects.toEqual(code(wanted));
  });

  it("a base URL that does not fit the URL", async () => {
    const { kid, alg, privateJwk } = await generateKey({ alg: "EdDSA" });
    const signer = jwtSigner({ key: privateJwk, kid, alg, baseUrl: "https://other.example.com" });
    await expect(create({ signer }).send({})).rejects.toEqual(code("BASE_URL_MISMATCH"));
  });
});

describe("a key or secret that cannot sign", () => {
  it("a key of another kind than its algorithm", async () => {
    const { kid, privateJwk, publicJwk } = await generateKey({ alg: "ES256" });
    const refused = async (key: object, alg: "RS256" | "ES256" | "EdDSA") =>
      expect(create({ signer: jwtSigner({ key, kid, alg }) }).send({})).rejects.toEqual(code("KEY_UNFIT"));
    await refused(privateJwk, "RS256");
    await refused(privateJwk, "EdDSA");
    await refused(publicJwk, "ES256");
    await refused({ kty: "oct", k: "c2VjcmV0" }, "ES256");
  });

  it("an empty secret, or one that is not text", () => {
    expect(() => hmacSigner({ secret: "" })).toThrow(code("SECRET_INVALID"));
    expect(() => hmacSigner({ secret: [SECRET, ""] })).toThrow(code("SECRET_INVALID"));
    expect(() => hmacSigner({ secret: "\uD800" })).toThrow(code("SECRET_INVALID"));
    expect(() => hmacSigner({ secret: undefined as never })).toThrow(code("SECRET_INVALID"));
  });

  it.each([
    ["white space", `${SECRET}\n`, "white space"],
    ["quotes", `"${SECRET}"`, "a quote"],
    ["padding", `${SECRET}=`, "padding"],
    ["a prefix of another scheme", `whsec_${SECRET}`, "whsec_"],
    ["few characters", "hunter2", "7 characters"],
  ])("a suspicious secret is used, and warned about: %s", (_name, secret, words) => {
    const warnings: string[] = [];
    create({
      signer: hmacSigner({ secret }),
      observe: (event) => event.type === "warning" && warnings.push(event.message),
    });
    expect(warnings.join()).toContain(words);
    expect(warnings.join()).not.toContain(SECRET);
  });

  it("a secret as the service makes them is not warned about", () => {
    create({ observe: (event) => expect(event.type).not.toBe("warning") });
  });
});

describe("a header that breaks out of its line", () => {
  it.each(["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "\u2028"])("%j in a value", (value) => {
    expect(() => create({ headers: { "X-Trace": value } })).toThrow(code("HEADER_INVALID"));
  });

  it.each(["X Trace", "X:Trace", "X\r\nY", ""])("%j as a name", (name) => {
    expect(() => create({ headers: { [name]: "1" } })).toThrow(code("HEADER_INVALID"));
  });

  it.each([
    "Webhook-Event-Id",
    "webhook-anything",
    "Host",
    "Content-Type",
    "Transfer-Encoding",
    "Connection",
    "Expect",
  ])("%s is not the caller's to set", (name) => {
    expect(() => create({ headers: { [name]: "1" } })).toThrow(`headers must not set ${name}`);
  });

  it("comes from a signer of somebody else's", async () => {
    const signer: Signer = {
      ...hmacSigner({ secret: generateSecret() }),
      sign: () => ({ headers: [["Webhook-Signature", "a\r\nX: 1"]] }),
    };
    await expect(create({ signer }).send({})).rejects.toEqual(code("HEADER_INVALID"));
  });
});

describe("an option that cannot work", () => {
  it.each<[string, Partial<SenderOptions>, string]>([
    ["no signer", { signer: undefined as never }, "signer must be"],
    ["no time", { deadlineMs: 0 }, "deadlineMs"],
    ["no time for an attempt", { attemptTimeoutMs: Number.NaN }, "attemptTimeoutMs"],
    ["more time than a timer can count", { attemptTimeoutMs: Number.POSITIVE_INFINITY }, "attemptTimeoutMs"],
    ["no attempts", { retry: { maxAttempts: 0 } }, "retry.maxAttempts"],
    ["a range that is none", { allowPrivateNetwork: false, allowedCidrs: ["10.0.0.1/8"] }, "10.0.0.1/8"],
    [
      "a guard that the transport would ignore",
      { transport: async () => Promise.reject(), allowPrivateNetwork: false },
      "allowPrivateNetwork",
    ],
  ])("%s", (_name, options, words) => {
    expect(() => create(options)).toThrow(words);
  });
});

it.each<[string, unknown]>([
  ["Headers", new Headers({ "X-Key": "1" })],
  ["a Map", new Map([["X-Key", "1"]])],
  ["pairs", [["X-Key", "1"]]],
  ["a Promise", Promise.resolve({ "X-Key": "1" })],
  ["a variable that is not set", { "X-Key": undefined }],
])("headers as %s are refused, and not lost", (_, headers) => {
  const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
  const signer = hmacSigner({ secret: "a-secret-of-more-than-thirty-two-characters" });
  expect(() => createSender({ url, signer, headers: headers as Record<string, string> })).toThrow(
    /headers must be an object of names and texts/,
  );
});
