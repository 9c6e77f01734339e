import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { generateKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { securityEventVerifier } from "hookproof/set";
import { SignJWT, UnsecuredJWT } from "jose";
import { expect, it } from "vitest";
import { mistakesOf } from "../../kit/mistakes-of.js";

const NOW = 1_767_225_600;
const ISSUER = "https://idp.example.com/";
const AUDIENCE = "https://rp.example.com/";
const EVENT = { "https://schemas.openid.net/secevent/caep/event-type/session-revoked": {} };
const RIGHT = { iss: ISSUER, aud: AUDIENCE, jti: "id-1", iat: NOW, events: EVENT };

const KEY = await generateKey({ alg: "ES256", kid: "k1" });

interface Change {
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  readonly body?: (token: string) => string;
  readonly headers?: Record<string, string>;
}

/** What each mistake is, made on purpose; the last ones are accepted all the same. */
const CASES: Readonly<Record<string, Change>> = {
  "content-type-differs": { headers: { "Content-Type": "application/json" } },
  "body-in-quotes": { body: (token) => JSON.stringify(token) },
  "body-is-json": { body: (token) => JSON.stringify({ token }) },
  "body-is-form": { body: (token) => `SET=${token}` },
  "body-is-no-token": { body: (token) => `Bearer ${token}` },
  "body-line-break": { body: (token) => `${token}\n` },
  "typ-differs": { header: { typ: "JWT" } },
  "kid-missing": { header: { kid: undefined } },
  "key-unknown": { header: { kid: "other" } },
  "iss-differs": { claims: { iss: "https://idp.example.com" } },
  "aud-differs": { claims: { aud: ["https://other.example.com/"] } },
  "iss-missing": { claims: { iss: undefined } },
  "aud-missing": { claims: { aud: undefined } },
  "jti-missing": { claims: { jti: undefined } },
  "iat-missing": { claims: { iat: undefined } },
  "iat-in-milliseconds": { claims: { iat: NOW * 1000 } },
  "iat-not-a-number": { claims: { iat: "now" } },
  "iat-too-old": { claims: { iat: NOW - 8 * 86_400 } },
  "iat-in-future": { claims: { iat: NOW + 3600 } },
  "events-wrong": { claims: { events: {} } },
  "signature-of-other-key": { body: (token) => `${token.slice(0, -86)}${"A".repeat(86)}` },
  "exp-present": { claims: { exp: NOW + 3600 } },
  "sub-in-place-of-sub-id": { claims: { sub: "u_1" } },
};
const ACCEPTED = ["exp-present", "sub-in-place-of-sub-id"];

it("each mistake is named alone, and refused unless it does no harm", async () => {
  const { privateJwk, publicJwk, alg, kid } = KEY;
  const keys = localKeys({ keys: [publicJwk] });
  const receiver = createReceiver({
    verifier: securityEventVerifier({ issuer: ISSUER, audience: AUDIENCE, keys }),
    clock: { now: () => NOW * 1000 },
  });
  const found: Record<string, unknown> = {};
  const request = async ({ header, claims, body = (token) => token, headers }: Change) => {
    const token = await new SignJWT({ ...RIGHT, ...claims } as never)
      .setProtectedHeader({ alg, kid, typ: "secevent+jwt", ...header } as never)
      .sign(privateJwk as never);
    return { body: body(token), headers: { "Content-Type": "application/secevent+jwt", ...headers } };
  };
  const judge = async (given: { body: string; headers: Record<string, string> }) => {
    const verdict = await receiver.verify({ method: "POST", url: "/", ...given });
    const common = { ...given, issuer: ISSUER, audience: AUDIENCE, keys, nowSeconds: NOW };
    const mistakes = await mistakesOf("security-event-token", common);
    return { ok: verdict.ok, ids: mistakes.map(({ id }) => id) };
  };
  for (const [id, change] of Object.entries(CASES)) found[id] = await judge(await request(change));
  expect(found).toEqual(
    Object.fromEntries(Object.keys(CASES).map((id) => [id, { ok: ACCEPTED.includes(id), ids: [id] }])),
  );
  expect(await judge(await request({}))).toEqual({ ok: true, ids: [] });

  const headers = { "Content-Type": "application/secevent+jwt" };
  for (const body of ["", "hello", "a.b", "no token at all", "eyJh==.e30.AA"])
    expect(await judge({ body, headers }), body).toMatchObject({ ok: false, ids: ["body-is-no-token"] });
  const unsigned = new UnsecuredJWT(RIGHT as never).encode();
  expect((await judge({ body: unsigned, headers })).ids).toContain("alg-none");
  const input = [{ alg: "HS256", kid, typ: "secevent+jwt" }, RIGHT]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const mac = createHmac("sha256", "secret").update(input).digest("base64url");
  expect(await judge({ body: `${input}.${mac}`, headers })).toEqual({ ok: false, ids: ["alg-symmetric"] });
  const { body: token } = await request({});
  const inHeader = { body: "{}", headers: { ...headers, Authorization: `Bearer ${token}` } };
  expect((await judge(inHeader)).ids).toEqual(["token-in-header", "body-is-json"]);
});

it("a token without a request, of hostile length, and of nothing at all", async () => {
  for (const body of ["", "x", "a.b.c", "{", "a".repeat(60_000), "a.".repeat(30_000), "\u0000.\ud800.x"])
    expect(Array.isArray(await mistakesOf("security-event-token", { body }))).toBe(true);
  expect((await mistakesOf("security-event-token", { body: "a.b.c.d.e" })).map(({ id }) => id)).toContain(
    "token-encrypted",
  );
});

/** A text in JSON has no function that makes a text of it. */
const NO_TEXT = '{"toString":1,"valueOf":1}';

it.each([
  ["alg", `{"alg":${NO_TEXT},"kid":"k","typ":"secevent+jwt"}`, ["alg-other"]],
  [
    "alg, nested deeply",
    `{"alg":${"[".repeat(9_000)}${"]".repeat(9_000)},"kid":"k","typ":"secevent+jwt"}`,
    ["alg-other"],
  ],
  ["typ", `{"alg":"ES256","kid":"k","typ":${NO_TEXT}}`, ["typ-differs"]],
  [
    "a header with typ twice",
    '{"alg":"ES256","kid":"k","typ":"secevent+jwt","typ":"JWT"}',
    ["token-unreadable"],
  ],
  ["a header that is a list", "[]", ["token-unreadable"]],
])("a hostile header is explained: %s", async (_, header, ids) => {
  const segments = [header, JSON.stringify(RIGHT)].map((one) => Buffer.from(one).toString("base64url"));
  const found = await mistakesOf("security-event-token", {
    body: `${segments.join(".")}.AAAA`,
    nowSeconds: NOW,
  });
  expect(found.map(({ id }) => id)).toEqual(ids);
});

const SAID = "The claim events has";
const EVENT_OF_NOBODY = { "urn:a:b": {} };

/** The same mistake has several sentences, each for what was seen. */
it.each<[what: string, change: Change, words: string]>([
  [
    "another content type",
    { headers: { "Content-Type": "application/json" } },
    'Content-Type is "application/json", not application/secevent+jwt.',
  ],
  [
    "no content type",
    { headers: { "Content-Type": "" } },
    "Content-Type is missing, not application/secevent+jwt.",
  ],
  [
    "an object with the token in it",
    { body: (token) => JSON.stringify({ token }) },
    "The body is a JSON object with the token in it.",
  ],
  [
    "an object without a token",
    { body: () => JSON.stringify({ events: EVENT_OF_NOBODY }) },
    "The body is a JSON object, and no token: it is not signed.",
  ],
  [
    "another typ",
    { header: { typ: "JWT" } },
    'typ is "JWT", not secevent+jwt (RFC 8417 section 2.3): it could be taken for another kind of token.',
  ],
  [
    "no typ",
    { header: { typ: undefined } },
    "typ is missing, not secevent+jwt (RFC 8417 section 2.3): it could be taken for another kind of token.",
  ],
  [
    "another key",
    { header: { kid: "other" } },
    'The key set has no usable key with kid "other" and alg "ES256": no key with kid "other".',
  ],
  [
    "another iss",
    { claims: { iss: "https://elsewhere.example.com/" } },
    `iss is "https://elsewhere.example.com/", and the issuer that the receiver expects is "${ISSUER}".`,
  ],
  ...["https://idp.example.com", "http://idp.example.com/", "https://IDP.example.com/"].map(
    (iss): [string, Change, string] => [
      `an iss that is nearly right: ${iss}`,
      { claims: { iss } },
      `iss is "${iss}", and the issuer that the receiver expects is "${ISSUER}": they differ in a slash at the end, in capitals or in http and https.`,
    ],
  ),
  [
    "an aud that is nearly right",
    { claims: { aud: AUDIENCE.slice(0, -1) } },
    `aud is "${AUDIENCE.slice(0, -1)}", and the receiver is "${AUDIENCE}": they differ in a slash at the end, in capitals or in http and https.`,
  ],
  ["iat as a text", { claims: { iat: "now" } }, 'iat is "now", and no number.'],
  ["an old iat", { claims: { iat: NOW - 8 * 86_400 } }, "iat is 8 days old."],
  ["an iat in the future", { claims: { iat: NOW + 3600 } }, "iat is 3600 s ahead of the receiver's clock."],
  ["exp to come", { claims: { exp: NOW + 3600 } }, "The token has exp."],
  ["exp that is over", { claims: { exp: NOW - 1 } }, "The token has exp, and it is over."],
  ["no events", { claims: { events: undefined } }, "The claim events is missing."],
  ["an empty events", { claims: { events: {} } }, `${SAID} no event.`],
  ["a list of events", { claims: { events: [EVENT] } }, `${SAID} a list, and not an object.`],
  ["events of text", { claims: { events: "revoked" } }, `${SAID} no object.`],
  ["an event that is no URI", { claims: { events: { revoked: {} } } }, `${SAID} a name that is not a URI.`],
  [
    "an event that is true",
    { claims: { events: { "urn:a:b": true } } },
    `${SAID} a value that is not an object.`,
  ],
])(
  "its sentence says what was seen: %s",
  async (_, { header, claims, body = (token) => token, headers }, words) => {
    const { privateJwk, publicJwk, alg, kid } = KEY;
    const token = await new SignJWT({ ...RIGHT, ...claims } as never)
      .setProtectedHeader({ alg, kid, typ: "secevent+jwt", ...header } as never)
      .sign(privateJwk as never);
    const lines = Object.entries({ "Content-Type": "application/secevent+jwt", ...headers });
    const found = await mistakesOf("security-event-token", {
      body: body(token),
      headers: lines.filter(([, value]) => value !== ""),
      issuer: ISSUER,
      audience: AUDIENCE,
      keys: localKeys({ keys: [publicJwk] }),
      nowSeconds: NOW,
    });
    expect(found.map(({ message }) => message)).toEqual([words]);
  },
);

it.each([
  ["another alg", { alg: "PS256", kid: "k", typ: "secevent+jwt" }, 'alg is "PS256".'],
  ["no alg", { kid: "k", typ: "secevent+jwt" }, "alg is missing."],
  [
    "a shared secret",
    { alg: "HS512", kid: "k", typ: "secevent+jwt" },
    "alg is HS512: the token is made with a shared secret.",
  ],
])("a header's sentence says what was seen: %s", async (_, header, words) => {
  const segments = [header, RIGHT].map((one) => Buffer.from(JSON.stringify(one)).toString("base64url"));
  const found = await mistakesOf("security-event-token", {
    body: `${segments.join(".")}.AAAA`,
    nowSeconds: NOW,
  });
  expect(found.map(({ message }) => message)).toEqual([words]);
});

const SCIM_USER = "https://scim.example.com/Users/44f6142df96bd6ab61e7521d9";

// RFC 8417 section 2.1: what its figures 1 to 4 hold, signed.
it.each<[figure: number, claims: Record<string, unknown>]>([
  [
    1,
    {
      aud: [AUDIENCE, "https://scim.example.com/Feeds/5d7604516b1d08641d7676ee7"],
      events: { "urn:ietf:params:scim:event:create": { ref: SCIM_USER, attributes: ["id", "name"] } },
    },
  ],
  [
    2,
    {
      sub: SCIM_USER,
      events: {
        "urn:ietf:params:scim:event:passwordReset": { id: "44f6142df96bd6ab61e7521d9" },
        "https://example.com/scim/event/passwordResetExt": { resetAttempts: 5 },
      },
    },
  ],
  [
    3,
    {
      sub: "248289761001",
      sid: "08a5019c",
      events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    },
  ],
  [
    4,
    {
      events: {
        "https://schemas.openid.net/secevent/risc/event-type/account-disabled": {
          subject: { subject_type: "iss-sub", iss: ISSUER, sub: "7375626A656374" },
          reason: "hijacking",
        },
      },
    },
  ],
])("figure %i of RFC 8417 is accepted, and nothing in it is called a mistake", async (_, claims) => {
  const { privateJwk, publicJwk, alg, kid } = KEY;
  const body = await new SignJWT({ ...RIGHT, ...claims } as never)
    .setProtectedHeader({ alg, kid, typ: "secevent+jwt" })
    .sign(privateJwk as never);
  const keys = localKeys({ keys: [publicJwk] });
  const headers = { "Content-Type": "application/secevent+jwt" };
  const receiver = createReceiver({
    verifier: securityEventVerifier({ issuer: ISSUER, audience: AUDIENCE, keys }),
    clock: { now: () => NOW * 1000 },
  });
  expect(await receiver.verify({ method: "POST", url: "/", headers, body })).toMatchObject({ ok: true });
  const given = { body, headers, issuer: ISSUER, audience: AUDIENCE, keys, nowSeconds: NOW };
  expect(await mistakesOf("security-event-token", given)).toEqual([]);
});

it.each<[id: string, what: string, by: (input: string, key: KeyObject) => Buffer]>([
  [
    "token-signature-of-other-text",
    "the claims alone",
    (input, key) => sign("sha256", Buffer.from(input.split(".")[1] ?? ""), raw(key)),
  ],
  [
    "token-signature-of-other-text",
    "a line break",
    (input, key) => sign("sha256", Buffer.from(`${input}\n`), raw(key)),
  ],
  ["token-signature-other-hash", "SHA-512", (input, key) => sign("sha512", Buffer.from(input), raw(key))],
  [
    "token-signature-encoded-twice",
    "base64url of hex",
    (input, key) => Buffer.from(sign("sha256", Buffer.from(input), raw(key)).toString("hex")),
  ],
  [
    "token-signature-byte-order",
    "reversed",
    (input, key) => sign("sha256", Buffer.from(input), raw(key)).reverse(),
  ],
  [
    "token-signature-length",
    "cut",
    (input, key) => sign("sha256", Buffer.from(input), raw(key)).subarray(0, 40),
  ],
  [
    "signature-of-other-key",
    "another key",
    (input) =>
      sign("sha256", Buffer.from(input), raw(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey)),
  ],
])("a signature is explained where the key set is known: %s, %s", async (id, _, by) => {
  const { privateJwk, publicJwk, alg, kid } = KEY;
  const input = [{ alg, kid, typ: "secevent+jwt" }, RIGHT]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const key = createPrivateKey({ key: privateJwk as never, format: "jwk" });
  const jwks = { keys: [publicJwk] };
  const found = await mistakesOf("security-event-token", {
    ...{ issuer: ISSUER, audience: AUDIENCE, keys: localKeys(jwks), jwks, nowSeconds: NOW },
    headers: { "Content-Type": "application/secevent+jwt" },
    body: `${input}.${by(input, key).toString("base64url")}`,
  });
  expect(found.map((one) => one.id)).toEqual([id]);
});

it("a published key is explained", async () => {
  const { privateJwk, publicJwk, alg, kid } = KEY;
  const jwks = { keys: [{ ...publicJwk, crv: "secp256r1" }] };
  const body = await new SignJWT(RIGHT as never)
    .setProtectedHeader({ alg, kid, typ: "secevent+jwt" })
    .sign(privateJwk as never);
  const keys = localKeys(jwks as never);
  const found = await mistakesOf("security-event-token", {
    body,
    keys,
    jwks: jwks as never,
    nowSeconds: NOW,
  });
  expect(found.map((one) => one.id)).toEqual(["key-curve"]);
});

function raw(key: KeyObject) {
  return { key, dsaEncoding: "ieee-p1363" as const };
}
