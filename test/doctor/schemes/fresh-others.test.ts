// Mistakes in Standard Webhooks and in security event tokens, made by plain node:crypto without a look at the catalogue.
import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { localKeys } from "hookproof/jwks";
import { describe, expect, it } from "vitest";
import { mistakesOf } from "../../kit/mistakes-of.js";

const NOW = 1_767_225_600;

describe("Standard Webhooks", () => {
  const text = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const key = Buffer.from(text, "base64");
  const id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";
  const body = '{"type":"invoice.paid","data":{"id":"in_1","amount":12}}';
  const signed = (message: string, by: Buffer | string = key) =>
    `v1,${createHmac("sha256", by).update(message).digest("base64")}`;
  const judge = (headers: Record<string, string>, sent: string | Uint8Array = body) =>
    mistakesOf("standard-webhooks", { headers, body: sent, secrets: `whsec_${text}`, nowSeconds: NOW });
  const proof = (signature: string, own: string = id) => ({
    "webhook-id": own,
    "webhook-timestamp": String(NOW),
    "webhook-signature": signature,
  });

  it.each<[what: string, id: string, signature: string]>([
    ["the time read twice", "timestamp-of-other-second", signed(`${id}.${NOW - 1}.${body}`)],
    ["an id not filled in", "part-not-filled-in", signed(`undefined.${NOW}.${body}`)],
    ["a time not filled in", "part-not-filled-in", signed(`${id}.undefined.${body}`)],
    ["the body's own id", "id-of-the-body", signed(`in_1.${NOW}.${body}`)],
    [
      "the names of the headers",
      "parts-joined-otherwise",
      signed(`webhook-id:${id}.webhook-timestamp:${NOW}.${body}`),
    ],
    ["the body first", "body-not-last", signed(`${body}.${NOW}.${id}`)],
    ["the body first, and the id", "body-not-last", signed(`${body}.${id}.${NOW}`)],
    ["the body in the middle", "body-not-last", signed(`${id}.${body}.${NOW}`)],
    ["a period at the end", "body-not-last", signed(`${id}.${NOW}.${body}.`)],
    ["the prefix twice", "secret-prefix-kept", signed(`${id}.${NOW}.${body}`, `whsec_whsec_${text}`)],
  ])("%s", async (_, wanted, signature) => {
    expect((await judge(proof(signature))).map((one) => one.id)).toEqual([wanted]);
  });

  it("a key that is empty may have been read as hex", async () => {
    const [found] = await judge(proof(signed(`${id}.${NOW}.${body}`, Buffer.from("zz", "hex"))));
    expect([found?.id, found?.message]).toEqual([
      "secret-missing",
      expect.stringContaining("decoded as what it is not"),
    ]);
  });

  it.each(["Stripe-Signature", "X-Slack-Signature", "X-Shopify-Hmac-Sha256"])(
    "the header %s is of another scheme",
    async (name) => {
      const [found] = await judge({ [name]: "t=1,v1=00" });
      expect([found?.id, found?.message]).toEqual([
        "header-missing",
        expect.stringContaining(`There is ${name}, which is of another`),
      ]);
    },
  );

  it("an id with a full stop and a body that is no JSON are named, as receivers refuse them", async () => {
    expect((await judge(proof(signed(`a.b.${NOW}.${body}`), "a.b"))).map((one) => one.id)).toEqual([
      "id-malformed",
    ]);
    const [found] = await judge(proof(signed(`${id}.${NOW}.a=1`)), "a=1");
    expect(found?.id).toBe("body-not-json");
  });
});

describe("security event tokens", () => {
  const issuer = "https://idp.example.com/";
  const audience = "https://receiver.example.com/";
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...pair.publicKey.export({ format: "jwk" }), kid: "ec-1", alg: "ES256", use: "sig" };
  const jwks = { keys: [jwk] } as never;
  const CLAIMS = {
    ...{ iss: issuer, aud: audience, iat: NOW, jti: "id-1" },
    events: { "https://schemas.openid.net/secevent/caep/event-type/session-revoked": {} },
  };
  const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const byKey = (input: string | Buffer) =>
    sign("sha256", Buffer.from(input), { key: pair.privateKey, dsaEncoding: "ieee-p1363" }).toString(
      "base64url",
    );
  function token(claims: object = {}, header: object = {}, by: (input: string) => string = byKey) {
    const head = { typ: "secevent+jwt", alg: "ES256", kid: "ec-1", ...header };
    const input = `${segment(head)}.${segment({ ...CLAIMS, ...claims })}`;
    return `${input}.${by(input)}`;
  }
  const TYPE: Record<string, string> = { "Content-Type": "application/secevent+jwt" };
  const judge = (body: string, headers = TYPE) =>
    mistakesOf("security-event-token", {
      issuer,
      audience,
      jwks,
      keys: localKeys(jwks),
      nowSeconds: NOW,
      headers,
      body,
    });
  const { x, y } = jwk;
  const thumbprint = createHash("sha256")
    .update(JSON.stringify({ crv: "P-256", kty: "EC", x, y }))
    .digest("base64url");

  it.each<[what: string, id: string, words: string, body: string, headers?: Record<string, string>]>([
    ["claims as JSON with URLs in it", "body-is-json", "no token: it is not signed", JSON.stringify(CLAIMS)],
    [
      "a hash that is signed",
      "token-signature-prehashed",
      "matches the hash",
      token({}, {}, (input) => byKey(createHash("sha256").update(input).digest())),
    ],
    ["jti as a number", "jti-not-a-text", "jti is 17", token({ jti: 17 })],
    ["jti of nothing", "jti-not-a-text", 'jti is ""', token({ jti: "" })],
    ["nbf ahead", "nbf-in-future", "4000 s ahead", token({ nbf: NOW + 4000 })],
    ["nbf as a text", "nbf-in-future", 'nbf is "soon"', token({ nbf: "soon" })],
    ["exp as a date", "exp-present", 'it is "2027-01-01", which is no number', token({ exp: "2027-01-01" })],
    ["a compressed body", "body-encoded", '"gzip"', token(), { ...TYPE, "Content-Encoding": "gzip" }],
    ["a thumbprint as kid", "key-unknown", "the thumbprint (RFC 7638)", token({}, { kid: thumbprint })],
    [
      "a kid behind an address",
      "key-unknown",
      'It has "ec-1", with which this one ends',
      token({}, { kid: "https://idp.example.com/jwks#ec-1" }),
    ],
  ])("%s", async (_, id, words, body, headers) => {
    const [first, ...others] = await judge(body, headers);
    expect([first?.id, others.map((one) => one.id)]).toEqual([id, []]);
    expect(first?.message).toContain(words);
  });

  it("a token in Authorization next to its claims as the body", async () => {
    const found = await judge(JSON.stringify(CLAIMS), { ...TYPE, Authorization: `Bearer ${token()}` });
    expect(found.map((one) => one.id)).toEqual(["token-in-header", "body-is-json"]);
  });

  it("a content type in two lines", async () => {
    const lines: [string, string][] = [...Object.entries(TYPE), ...Object.entries(TYPE)];
    const given = { issuer, audience, nowSeconds: NOW, headers: lines, body: token() };
    const [found] = await mistakesOf("security-event-token", given);
    expect(found?.message).toBe("Content-Type stands in more than one line.");
  });
});
