import { createHmac } from "node:crypto";
import { generateKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { securityEventMistakes, securityEventVerifier } from "hookproof/set";
import { SignJWT, UnsecuredJWT } from "jose";
import { expect, it } from "vitest";

const NOW = 1_767_225_600;
const ISSUER = "https://idp.example.com/";
const AUDIENCE = "https://rp.example.com/";
const EVENT = { "https://schemas.openid.net/secevent/caep/event-type/session-revoked": {} };
const RIGHT = { iss: ISSUER, aud: AUDIENCE, jti: "id-1", iat: NOW, events: EVENT };

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
  const { privateJwk, publicJwk, alg, kid } = await generateKey({ alg: "ES256", kid: "k1" });
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
    const mistakes = await securityEventMistakes(common);
    return { ok: verdict.ok, ids: mistakes.map(({ id }) => id) };
  };
  for (const [id, change] of Object.entries(CASES)) found[id] = await judge(await request(change));
  expect(found).toEqual(
    Object.fromEntries(Object.keys(CASES).map((id) => [id, { ok: ACCEPTED.includes(id), ids: [id] }])),
  );
  expect(await judge(await request({}))).toEqual({ ok: true, ids: [] });

  const headers = { "Content-Type": "application/secevent+jwt" };
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
    expect(Array.isArray(await securityEventMistakes({ body }))).toBe(true);
  expect((await securityEventMistakes({ body: "a.b.c.d.e" })).map(({ id }) => id)).toContain(
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
  const found = await securityEventMistakes({ body: `${segments.join(".")}.AAAA`, nowSeconds: NOW });
  expect(found.map(({ id }) => id)).toEqual(ids);
});
