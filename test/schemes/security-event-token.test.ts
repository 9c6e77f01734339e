import { createPrivateKey } from "node:crypto";
import { createEvent, createSender, HookproofError, jwtSigner, signRequest } from "hookproof";
import { createKeySet, generateKey, importKey, type KeyRecord, localKeys } from "hookproof/jwks";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { createReceiver, memoryReplayStore } from "hookproof/receiver";
import { CAEP, SSF, securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";
import { createFakeReceiver, fixedClock } from "hookproof/testing";
import { CompactSign, importJWK, type JWK, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { type ProtocolVectors, readVectors } from "../vectors/vector-file.js";

const ISSUER = "https://idp.example.com/";
const AUDIENCE = "https://receiver.example.com/";
const URL = "https://receiver.example.com/events?tenant=7";
const NOW = 1_767_225_600;
const DAY = 86_400;

const revoked = securityEvent(
  CAEP.sessionRevoked,
  { event_timestamp: NOW - 5, initiating_entity: "policy" },
  { sub_id: { format: "opaque", id: "session-1" }, txn: "txn-1", toe: NOW - 5 },
);
const claims = { iss: ISSUER, iat: NOW, jti: "set-1", aud: AUDIENCE, ...revoked };
const SET = { "Content-Type": "application/secevent+jwt" };

let key: KeyRecord;
let rsa: KeyRecord;
beforeAll(async () => {
  key = await generateKey({ alg: "ES256", kid: "k1" });
  // Made beforehand, as to make an RSA key takes seconds.
  const made = readVectors<ProtocolVectors>("protocol.json").keys.find(({ jwk }) => jwk.alg === "RS256");
  const jwk = createPrivateKey(String(made?.privatePkcs8Pem)).export({ format: "jwk" });
  rsa = await importKey(jwk as JWK, { alg: "RS256", kid: "r1" });
});

async function verifierOf(over = {}) {
  const keys = localKeys(await createKeySet([key, rsa]).publicJwks());
  return securityEventVerifier({ issuer: ISSUER, audience: AUDIENCE, keys, ...over });
}

/** A receiver at a fixed time, and what its run was given. */
async function receiverAt(seconds = NOW, over = {}) {
  const clock = fixedClock(seconds * 1000);
  const ran: unknown[] = [];
  const receiver = createReceiver({
    verifier: await verifierOf(over),
    clock,
    replayStore: memoryReplayStore({ clock }),
  });
  const push = async (body: string | Uint8Array, headers: HeadersInit | [string, string][] = SET) => {
    const lines = Array.isArray(headers) ? headers : (headers as Record<string, string>);
    const {
      status,
      headers: answered,
      body: text,
      verdict,
    } = await receiver.receive(
      { method: "POST", url: "/events?tenant=7", headers: lines, body },
      async ({ payload, id }) => ran.push([id, payload]),
    );
    const { err, description } = text === "" ? { err: undefined, description: undefined } : JSON.parse(text);
    return { status, err, description, text, headers: answered, code: verdict.ok ? undefined : verdict.code };
  };
  return { push, ran, clock };
}

/** A token by jose itself, with claims and header members changed. */
async function token(over: object = {}, header: object = {}, by: KeyRecord = key): Promise<string> {
  const { alg, kid } = by;
  return new CompactSign(new TextEncoder().encode(JSON.stringify({ ...claims, ...over })))
    .setProtectedHeader({ alg, kid, typ: "secevent+jwt", ...header })
    .sign(await importJWK(by.privateJwk, alg));
}

describe("a transmitter", () => {
  it("sends the token as the body, with the event id as jti, and without exp", async () => {
    const signer = securityEventSigner({
      issuer: ISSUER,
      audience: [AUDIENCE, "https://other.example.com/"],
      key: { key: key.privateJwk, kid: "k1", alg: "ES256" },
    });
    const event = await createSender({ url: URL, signer }).createEvent(revoked);
    const { method, url, headers, body } = await signRequest({ url: URL, signer, event, timestamp: NOW });
    expect([method, url]).toEqual(["POST", URL]);
    expect(headers).toEqual({ "Content-Type": "application/secevent+jwt", Accept: "application/json" });
    const [head, payload] = Buffer.from(body).toString().split(".");
    expect(JSON.parse(Buffer.from(String(head), "base64url").toString())).toEqual({
      alg: "ES256",
      kid: "k1",
      typ: "secevent+jwt",
    });
    expect(JSON.parse(Buffer.from(String(payload), "base64url").toString())).toEqual({
      iss: ISSUER,
      iat: NOW,
      jti: event.id,
      aud: [AUDIENCE, "https://other.example.com/"],
      ...revoked,
    });
    expect(String(signer)).not.toContain("d:");
  });

  it("says the same in every attempt, by the key of the moment", async () => {
    const clock = fixedClock(NOW * 1000);
    const { transport, requests } = createFakeReceiver([503, 503, 202]);
    const next = await generateKey({ alg: "ES256", kid: "k2" });
    let active = key;
    const signer = securityEventSigner({
      issuer: ISSUER,
      audience: AUDIENCE,
      key: () => createKeySet([active]).signingKey("ES256"),
    });
    const wait = async (ms: number) => {
      clock.advance(ms);
      active = next;
    };
    await createSender({ url: URL, signer, transport, clock, wait }).send(revoked);
    const sent = requests.map(({ body }) =>
      Buffer.from(body)
        .toString()
        .split(".")
        .slice(0, 2)
        .map((segment) => JSON.parse(Buffer.from(segment, "base64url").toString())),
    );
    expect(sent.map(([header]) => header.kid)).toEqual(["k1", "k2", "k2"]);
    expect(new Set(sent.map(([, said]) => JSON.stringify(said))).size).toBe(1);
    expect(sent[0]?.[1].iat).toBe(NOW);
  });

  it("refuses a payload that cannot be a token, for good", async () => {
    const { transport, requests } = createFakeReceiver([202]);
    const signer = securityEventSigner({
      issuer: ISSUER,
      audience: AUDIENCE,
      key: { key: key.privateJwk, kid: "k1", alg: "ES256" },
    });
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`urn:example:${n}`, {}]));
    for (const wrong of [
      [],
      "text",
      {},
      { events: [] },
      { events: {} },
      { events: { "no uri": {} } },
      { events: { "urn:a:b": 1 } },
      { events: many },
      ...["iss", "iat", "jti", "aud", "exp", "nbf"].map((name) => ({ ...revoked, [name]: 1 })),
    ]) {
      const sent = createSender({ url: URL, signer, transport }).send(JSON.stringify(wrong));
      await expect(sent, JSON.stringify(wrong)).rejects.toMatchObject({ code: "EVENT_INVALID" });
    }
    expect(requests).toEqual([]);
    expect(() => securityEvent("session-revoked", {})).toThrow(/URI/);
    for (const wrong of [
      { issuer: "" },
      { audience: [] },
      { audience: [""] },
      { key: { key: key.privateJwk, kid: "", alg: "ES256" } },
    ])
      expect(() =>
        securityEventSigner({
          issuer: ISSUER,
          audience: AUDIENCE,
          key: { key: "", kid: "a", alg: "ES256" },
          ...wrong,
        } as never),
      ).toThrow(TypeError);
  });

  it.each([
    ["iss", "must not have iss: the signer sets it"],
    ["iat", "must not have iat: the signer sets it"],
    ["jti", "must not have jti: the signer sets it"],
    ["aud", "must not have aud: the signer sets it"],
    ["exp", "must not have exp: a security event token tells of what has happened"],
    ["nbf", "must not have nbf: a security event token tells of what has happened"],
    ["events", "has no object in the member events"],
  ])("says why it sends no payload with its own %s", async (name, words) => {
    const { privateJwk, kid } = key;
    const signer = securityEventSigner({
      issuer: ISSUER,
      audience: AUDIENCE,
      key: { key: privateJwk, kid, alg: "ES256" },
    });
    const event = createEvent({ ...revoked, [name]: 1 });
    const sent = signRequest({ url: URL, signer, event, timestamp: NOW });
    await expect(sent).rejects.toThrow(new HookproofError("EVENT_INVALID", `The payload ${words}.`));
  });

  it.each([
    ['{"id":1152921506151679042}', "the number 1152921506151679042, which JavaScript rounds"],
    ['{"id":1e400}', "the number 1e400, which JavaScript rounds"],
    ['{"a":1,"a":1}', "a member that stands twice in one object"],
  ])("makes no token of a text that would be changed in it: %s", async (said, words) => {
    const { privateJwk, kid } = key;
    const own = { issuer: ISSUER, audience: AUDIENCE, key: { key: privateJwk, kid, alg: "ES256" } } as const;
    const { transport, requests } = createFakeReceiver([202]);
    const sender = createSender({ url: URL, signer: securityEventSigner(own), transport });
    await expect(sender.send(`{"events":{"urn:a:b":${said}}}`)).rejects.toMatchObject({
      code: "EVENT_INVALID",
      cause: { message: `The payload has ${words}, and a token writes it again: it would be changed.` },
    });
    expect(requests).toEqual([]);
    await sender.send('{"events":{"urn:a:b":{"id":9007199254740991,"x":136.0,"y":0.1}}}');
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["invalid_request", "final", "REQUEST_REFUSED"],
    ["invalid_key", "setup", "AUTHENTICATION_REFUSED"],
    ["invalid_issuer", "setup", "REQUEST_REFUSED"],
    ["invalid_audience", "setup", "REQUEST_REFUSED"],
    ["authentication_failed", "setup", "AUTHENTICATION_REFUSED"],
    ["access_denied", "setup", "AUTHENTICATION_REFUSED"],
    ["invalid_state", "final", "REQUEST_REFUSED"],
    ["constructor", "final", "REQUEST_REFUSED"],
    [undefined, "final", "REQUEST_REFUSED"],
  ])("400 with %s is %s", async (err, outcome, code) => {
    const { scheme } = await verifierOf();
    const body = new TextEncoder().encode(
      err === undefined ? "<html>" : JSON.stringify({ err, description: "d" }),
    );
    expect(scheme.classify({ status: 400, headers: [], body }, 1, NOW)).toMatchObject({ outcome, code });
  });

  it.each([
    [202, "accepted"],
    [200, "accepted"],
    [204, "accepted"],
    [401, "setup"],
    [403, "setup"],
    [404, "setup"],
    [302, "setup"],
    [413, "final"],
    [415, "setup"],
    [429, "retry"],
    [500, "retry"],
    [503, "retry"],
  ])("%i is %s", async (status, outcome) => {
    const { scheme } = await verifierOf();
    const found = scheme.classify({ status, headers: [] }, 1, NOW);
    expect(found.outcome).toBe(outcome);
    expect("warning" in found).toBe(outcome === "accepted" && status !== 202);
  });

  it("over the outbox: what a person can correct buries no event", async () => {
    const clock = fixedClock(NOW * 1000);
    const signer = securityEventSigner({
      issuer: ISSUER,
      audience: AUDIENCE,
      key: { key: key.privateJwk, kid: "k1", alg: "ES256" },
    });
    const { push, ran } = await receiverAt();
    let broken = true;
    const transport: Parameters<typeof createSender>[0]["transport"] = async ({ body, headers }) => {
      const expected = broken
        ? (await receiverAt(NOW, { audience: "https://receiver.example.com" })).push
        : push;
      const { status, text } = await expected(body ?? "", [...headers] as [string, string][]);
      return { status, headers: [], body: new TextEncoder().encode(text), truncated: false };
    };
    const store = memoryStore({ clock });
    const outbox = createOutbox({
      store,
      listeners: { one: { url: URL, signer, transport } },
      clock,
      quiet: true,
    });
    const { eventId } = await outbox.enqueue({ listener: "one", payload: revoked });
    await outbox.drain();
    expect((await outbox.find(eventId))[0]?.state).not.toBe("dead");
    broken = false;
    clock.advance(3_600_000);
    await outbox.drain();
    expect(ran).toMatchObject([[eventId, { events: revoked.events, iat: NOW, jti: eventId }]]);
  });

  it.each([
    [10 * 60, "pending", 1],
    [0, "dead", 0],
  ])(
    "over the outbox: a token refused whose time is %i s ahead of the answer's Date is %s",
    async (ahead, state, runs) => {
      const clock = fixedClock((NOW + ahead) * 1000);
      const transmitter = securityEventSigner({
        issuer: ISSUER,
        audience: AUDIENCE,
        key: { key: key.privateJwk, kid: "k1", alg: "ES256" },
      });
      const { push, ran } = await receiverAt(NOW + ahead);
      const refusing = { status: 400, text: '{"err":"invalid_request","description":"iat"}' };
      let answered = 0;
      const transport: Parameters<typeof createSender>[0]["transport"] = async ({ body, headers }) => {
        const { status, text } =
          answered++ === 0 ? refusing : await push(body ?? "", [...headers] as [string, string][]);
        const date: [string, string] = ["Date", new Date(NOW * 1000).toUTCString()];
        return { status, headers: [date], body: new TextEncoder().encode(text), truncated: false };
      };
      const outbox = createOutbox({
        store: memoryStore({ clock }),
        listeners: { one: { url: URL, signer: transmitter, transport } },
        clock,
        quiet: true,
      });
      const { eventId } = await outbox.enqueue({ listener: "one", payload: revoked });
      await outbox.drain();
      expect((await outbox.find(eventId))[0]?.state).toBe(state);
      clock.advance(60_000);
      await outbox.drain();
      expect(ran).toHaveLength(runs);
    },
  );
});

describe("a receiver", () => {
  it("answers 202 and nothing, also to a copy, which is not run again", async () => {
    const { push, ran } = await receiverAt();
    for (const by of [key, rsa]) {
      const sent = await token({ jti: by.kid }, {}, by);
      expect(await push(sent)).toMatchObject({ status: 202, text: "", headers: [], code: undefined });
      expect(await push(sent)).toMatchObject({ status: 202, text: "", code: "EVENT_DUPLICATE" });
    }
    expect(ran).toEqual([
      ["k1", { ...claims, jti: "k1" }],
      ["r1", { ...claims, jti: "r1" }],
    ]);
  });

  it("answers a refusal in JSON and says in which language", async () => {
    const { push } = await receiverAt();
    const { status, headers, text } = await push(await token({ aud: "https://other.example.com/" }));
    expect(status).toBe(400);
    expect(headers).toEqual([
      ["Content-Type", "application/json"],
      ["Content-Language", "en"],
    ]);
    expect(JSON.parse(text)).toEqual({
      err: "invalid_audience",
      description: "The claim aud was not as demanded: aud is this receiver, or a list with it.",
    });
  });

  it.each<[string, object, object, string, string]>([
    ["typ JWT", {}, { typ: "JWT" }, "invalid_request", "TOKEN_HEADER_REFUSED"],
    ["typ of an access token", {}, { typ: "at+jwt" }, "invalid_request", "TOKEN_HEADER_REFUSED"],
    ["no typ", {}, { typ: undefined }, "invalid_request", "TOKEN_HEADER_REFUSED"],
    ["a typ that is a list", {}, { typ: ["secevent+jwt"] }, "invalid_request", "TOKEN_HEADER_REFUSED"],
    ["a key of its own", {}, { jwk: {} }, "invalid_request", "TOKEN_HEADER_REFUSED"],
    ["no kid", {}, { kid: undefined }, "invalid_request", "TOKEN_KEY_ID_INVALID"],
    ["an unknown kid", {}, { kid: "k9" }, "invalid_key", "KEY_NOT_FOUND"],
    ["another key's kid", {}, { kid: "r1" }, "invalid_key", "KEY_NOT_FOUND"],
    ["iss without its slash", { iss: "https://idp.example.com" }, {}, "invalid_issuer", "CLAIM_ISS_INVALID"],
    ["no iss", { iss: undefined }, {}, "invalid_issuer", "CLAIM_ISS_INVALID"],
    ["no aud", { aud: undefined }, {}, "invalid_audience", "CLAIM_AUD_INVALID"],
    ["aud as an object", { aud: { [AUDIENCE]: 1 } }, {}, "invalid_audience", "CLAIM_AUD_INVALID"],
    ["no jti", { jti: undefined }, {}, "invalid_request", "CLAIM_JTI_INVALID"],
    ["jti as a number", { jti: 7 }, {}, "invalid_request", "CLAIM_JTI_INVALID"],
    ["jti empty", { jti: "" }, {}, "invalid_request", "CLAIM_JTI_INVALID"],
    ["jti of 257", { jti: "a".repeat(257) }, {}, "invalid_request", "CLAIM_JTI_INVALID"],
    ["jti with NUL", { jti: "a\0" }, {}, "invalid_request", "CLAIM_JTI_INVALID"],
    ["no iat", { iat: undefined }, {}, "invalid_request", "TIMESTAMP_MISSING"],
    ["iat as a text", { iat: String(NOW) }, {}, "invalid_request", "TIMESTAMP_MALFORMED"],
    ["iat in milliseconds", { iat: NOW * 1000 }, {}, "invalid_request", "TIMESTAMP_OUT_OF_WINDOW"],
    ["iat 301 s ahead", { iat: NOW + 301 }, {}, "invalid_request", "TIMESTAMP_OUT_OF_WINDOW"],
    ["iat of 7 days ago", { iat: NOW - 7 * DAY }, {}, "invalid_request", "TIMESTAMP_OUT_OF_WINDOW"],
    ["exp past", { exp: NOW - 1 }, {}, "invalid_request", "CLAIM_EXP_INVALID"],
    ["exp as a text", { exp: "never" }, {}, "invalid_request", "CLAIM_EXP_INVALID"],
    ["nbf to come", { nbf: NOW + 3600 }, {}, "invalid_request", "CLAIM_NBF_INVALID"],
    ["no events", { events: undefined }, {}, "invalid_request", "CLAIM_EVENTS_INVALID"],
    ["events as a list", { events: [CAEP.sessionRevoked] }, {}, "invalid_request", "CLAIM_EVENTS_INVALID"],
    ["events empty", { events: {} }, {}, "invalid_request", "CLAIM_EVENTS_INVALID"],
    ["an event without a URI", { events: { revoked: {} } }, {}, "invalid_request", "CLAIM_EVENTS_INVALID"],
    ["an event that is a text", { events: { "urn:a:b": "" } }, {}, "invalid_request", "CLAIM_EVENTS_INVALID"],
  ])("refuses %s", async (_, over, header, err, code) => {
    const { push, ran } = await receiverAt();
    expect(await push(await token(over, header))).toMatchObject({ status: 400, err, code });
    expect(ran).toEqual([]);
  });

  it("refuses many events, and reads no more of them than that", async () => {
    const { push } = await receiverAt();
    const events = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`urn:example:${n}`, {}]));
    expect(await push(await token({ events: events(16) }))).toMatchObject({ status: 202 });
    expect(await push(await token({ events: events(17), jti: "17" }))).toMatchObject({ status: 400 });
    const large = await token({ events: events(2_500), jti: "large" });
    expect(await push(large.padEnd(65_537, "A"))).toMatchObject({ status: 413, text: "" });
  });

  it("takes what RFC 8417 allows: typ as a whole media type, aud in a list, exp to come, other claims", async () => {
    const { push, ran } = await receiverAt();
    const sent = await token(
      { aud: ["https://other.example.com/", AUDIENCE], exp: NOW + 60, nbf: NOW, sub: "u_1", "x-more": true },
      { typ: "application/SECEVENT+JWT" },
    );
    expect(await push(sent, { "content-type": "Application/SecEvent+JWT; charset=utf-8" })).toMatchObject({
      status: 202,
    });
    const verification = await token({ events: { [SSF.verification]: { state: "s" } }, jti: "v" });
    expect(await push(verification)).toMatchObject({ status: 202 });
    expect(ran.length).toBe(2);
  });

  it("refuses other content types, doubled headers and encodings", async () => {
    const { push, ran } = await receiverAt();
    const sent = await token();
    const double: [string, string][] = [
      ["Content-Type", "application/secevent+jwt"],
      ["content-type", "application/secevent+jwt"],
    ];
    for (const [headers, code] of [
      [{}, "CONTENT_TYPE_MISSING"],
      [double, "CONTENT_TYPE_MALFORMED"],
      [{ "Content-Type": "application/jwt" }, "CONTENT_TYPE_UNSUPPORTED"],
      [{ "Content-Type": "application/json" }, "CONTENT_TYPE_UNSUPPORTED"],
      [{ "Content-Type": "application/secevent+jwt, application/secevent+jwt" }, "CONTENT_TYPE_UNSUPPORTED"],
      [{ ...SET, "Content-Encoding": "gzip" }, "CONTENT_ENCODING_UNSUPPORTED"],
    ] as const)
      expect(await push(sent, headers as never), code).toMatchObject({
        status: 400,
        err: "invalid_request",
        code,
      });
    expect(ran).toEqual([]);
  });

  it("refuses what is no token, and one with a byte changed", async () => {
    const { push } = await receiverAt();
    const sent = await token();
    const [head, , signature] = sent.split(".");
    const other = Buffer.from(JSON.stringify({ ...claims, jti: "set-2" })).toString("base64url");
    for (const [body, code] of [
      ["", "TOKEN_MISSING"],
      [JSON.stringify({ token: sent }), "TOKEN_MALFORMED"],
      [`${sent}\n`, "TOKEN_MALFORMED"],
      [`Bearer ${sent}`, "TOKEN_MALFORMED"],
      [`${sent}.`, "TOKEN_MALFORMED"],
      [new Uint8Array([0xff, 0xfe]), "TOKEN_MALFORMED"],
      [`${head}.${other}.${signature}`, "TOKEN_SIGNATURE_MISMATCH"],
    ] as const)
      expect(await push(body), code).toMatchObject({ status: 400, code });
    const twice = new TextEncoder().encode(
      JSON.stringify(claims).replace("{", '{"iss":"https://evil.example.com/",'),
    );
    const doubled = await new CompactSign(twice)
      .setProtectedHeader({ alg: "ES256", kid: "k1", typ: "secevent+jwt" })
      .sign(await importJWK(key.privateJwk, "ES256"));
    expect(await push(doubled)).toMatchObject({ status: 400, code: "TOKEN_MALFORMED" });
  });

  it("refuses alg none, and HS256 with the public key as its secret", async () => {
    const { push } = await receiverAt();
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const none = `${encoded({ alg: "none", kid: "r1", typ: "secevent+jwt" })}.${encoded(claims)}.`;
    const symmetric = await new SignJWT(claims as never)
      .setProtectedHeader({ alg: "HS256", kid: "r1", typ: "secevent+jwt" })
      .sign(new TextEncoder().encode(JSON.stringify(rsa.publicJwk)));
    for (const sent of [none, symmetric])
      expect(await push(sent)).toMatchObject({ status: 400, code: "TOKEN_ALGORITHM_REFUSED" });
  });

  it("refuses a copy within the window by its id, and past it by its age", async () => {
    for (const iat of [NOW, NOW + 300]) {
      const { push, ran, clock } = await receiverAt();
      const sent = await token({ iat });
      expect(await push(sent)).toMatchObject({ status: 202, code: undefined });
      clock.advance((7 * DAY - 900) * 1000);
      const codes: unknown[] = [];
      for (let minute = 0; minute < 40; minute++) {
        codes.push((await push(sent)).code);
        clock.advance(60_000);
      }
      expect(new Set(codes)).toEqual(new Set(["EVENT_DUPLICATE", "TIMESTAMP_OUT_OF_WINDOW"]));
      expect(ran.length).toBe(1);
    }
  });

  it("answers 503 where the key set cannot be had: the token may come again", async () => {
    const keys = { resolve: () => Promise.reject(new Error("down")) };
    const { push } = await receiverAt(NOW, { keys });
    expect(await push(await token())).toMatchObject({ status: 503, text: "", code: "KEY_SET_UNAVAILABLE" });
  });

  it("and the default scheme take no token of each other", async () => {
    const { push } = await receiverAt();
    const listener = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
    const ours = createReceiver({
      clock: fixedClock(NOW * 1000),
      listener: {
        id: "lst_1",
        baseUrl: "https://tenant.example.com",
        auth: { method: "jwt", keys: localKeys(await createKeySet([key]).publicJwks()) },
      },
    });
    const signer = jwtSigner({ key: key.privateJwk, kid: "k1", alg: "ES256" });
    const event = await createSender({ url: listener, signer }).createEvent(revoked);
    const { method, url, headers, body } = await signRequest({
      url: listener,
      signer,
      event,
      timestamp: NOW,
    });
    expect((await ours.verify({ method, url, headers, body })).ok).toBe(true);
    const bearer = String(headers.Authorization).slice("Bearer ".length);
    expect(await push(bearer)).toMatchObject({ status: 400, code: "TOKEN_HEADER_REFUSED" });

    const set = await token({ jti: event.id });
    const confused = { ...headers, Authorization: `Bearer ${set}` };
    expect(await ours.verify({ method, url, headers: confused, body })).toMatchObject({
      code: "CLAIM_EXP_INVALID",
    });
  });

  it("says at the start what is wrong with its options", async () => {
    for (const wrong of [{ issuer: "" }, { audience: undefined }, { audience: [AUDIENCE] }, { keys: {} }])
      await expect(verifierOf(wrong)).rejects.toThrow(TypeError);
  });
});
