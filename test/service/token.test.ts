import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fixedClock } from "hookproof/testing";
import { createService, type Service } from "hookproof-service";
import { decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from "jose";
import * as oauth from "oauth4webapi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { startService } from "./running-service.js";

const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
const publicJwk = await exportJWK(publicKey);
const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const LONGEST = "x".repeat(128);
const clients = [
  { id: "robot", secret: "robot-secret", publicJwk, role: "member" as const },
  { id: "quiet", role: "member" as const },
  { id: "twin", publicJwk },
  { id: LONGEST, publicJwk },
  { id: "oct", publicJwk: { kty: "oct", k: Buffer.alloc(32).toString("base64url") } },
];

type Params = Record<string, string>;

/** One for all tests that leave nothing behind. */
let shared: Service;
beforeAll(async () => {
  shared = await createService({ fixture: { clients }, attemptLimits: { failures: 1_000 } });
});
afterAll(() => shared.stop());

async function askToken(url: string, params: Params | string, headers: Params = {}) {
  const answer = await fetch(`${url}/auth/v1/token`, {
    method: "POST",
    headers,
    body: typeof params === "string" ? params : new URLSearchParams(params),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

async function assertion(claims: Record<string, unknown> = {}, clock = Date.now()): Promise<string> {
  const now = Math.floor(clock / 1000);
  const all = { iss: "robot", sub: "robot", aud: "127.0.0.1", exp: now + 300, ...claims };
  return new SignJWT(all).setProtectedHeader({ alg: "EdDSA" }).sign(privateKey);
}

const bySecret = { grant_type: "client_credentials", client_id: "robot", client_secret: "robot-secret" };
const byAssertion = async (claims?: Record<string, unknown>, clock?: number) => ({
  grant_type: "client_credentials",
  client_assertion_type: ASSERTION_TYPE,
  client_assertion: await assertion(claims, clock),
});

describe("the token endpoint", () => {
  it.each([
    ["its secret", () => oauth.ClientSecretPost("robot-secret")],
    ["an assertion", () => oauth.PrivateKeyJwt(privateKey)],
  ])("gives a standard OAuth client a token for %s", async (_name, authentication) => {
    const service = shared;
    const server = { issuer: service.url, token_endpoint: `${service.url}/auth/v1/token` };
    const client = { client_id: "robot" };
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authentication(),
      {},
      {
        [oauth.allowInsecureRequests]: true,
      },
    );
    expect(response.headers.get("cache-control")).toBe("no-store");
    const token = await oauth.processClientCredentialsResponse(server, client, response);
    expect(token).toMatchObject({ token_type: "bearer", expires_in: 3_600 });
    const answer = await fetch(`${service.url}/api/v1/auth-configs/none`, {
      headers: { Authorization: `Bearer ${token.access_token}` },
    });
    expect(answer.status).toBe(404);
  });

  it("takes a form and JSON", async () => {
    const { url } = shared;
    expect((await askToken(url, bySecret)).status).toBe(200);
    const asJson = await askToken(url, JSON.stringify(bySecret), { "Content-Type": "application/json" });
    expect(asJson.body).toMatchObject({ token_type: "Bearer", expires_in: 3_600 });
  });

  it("knows the client there always is", async () => {
    const { url, clientId, clientSecret } = shared;
    const params = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    expect((await askToken(url, params)).status).toBe(200);
  });

  it.each<[string, Params, number, string]>([
    ["no grant_type", { ...bySecret, grant_type: undefined as never }, 400, "invalid_request"],
    ["another grant", { ...bySecret, grant_type: "password" }, 400, "unsupported_grant_type"],
    ["no secret", { grant_type: "client_credentials", client_id: "robot" }, 400, "invalid_request"],
    ["no client", { grant_type: "client_credentials", client_secret: "x" }, 400, "invalid_request"],
    ["a wrong secret", { ...bySecret, client_secret: "robot-secreT" }, 401, "invalid_client"],
    ["an empty secret", { ...bySecret, client_secret: "" }, 401, "invalid_client"],
    ["an empty client", { ...bySecret, client_id: "" }, 400, "invalid_request"],
    ["an unknown client", { ...bySecret, client_id: "nobody" }, 401, "invalid_client"],
    ["a client that has no secret", { ...bySecret, client_id: "quiet" }, 401, "invalid_client"],
    ["two proofs", { ...bySecret, client_assertion: "x" }, 400, "invalid_request"],
    ["SQL", { ...bySecret, client_id: "robot' OR '1'='1" }, 401, "invalid_client"],
    ["an over-long secret", { ...bySecret, client_secret: "x".repeat(2000) }, 400, "invalid_request"],
  ])("refuses %s", async (_name, params, status, error) => {
    const { url } = shared;
    const form = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
    const answer = await askToken(url, form);
    expect(answer).toMatchObject({ status, body: { error, error_description: expect.any(String) } });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(JSON.stringify(answer.body)).not.toContain("robot-secre");
  });

  it.each<[string, string, Params, number]>([
    ["a parameter twice", "grant_type=client_credentials&client_id=a&client_id=b&client_secret=c", {}, 400],
    ["JSON of a wrong type", '{"grant_type":1}', { "Content-Type": "application/json" }, 400],
    ["malformed JSON", '{"grant', { "Content-Type": "application/json" }, 400],
    ["null", "null", { "Content-Type": "application/json" }, 400],
    ["nothing", "", {}, 400],
    ["another media type", "grant_type=client_credentials", { "Content-Type": "text/csv" }, 415],
    ["more than 1 MiB", `x=${"y".repeat(1_100_000)}`, {}, 413],
  ])("refuses %s", async (_name, text, headers, status) => {
    const { url } = shared;
    const type = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await askToken(url, text, { ...type, ...headers });
    expect(answer).toMatchObject({ status, body: { error: "invalid_request" } });
  });

  it("refuses credentials in the Authorization header", async () => {
    const { url } = shared;
    const Authorization = `Basic ${Buffer.from("robot:robot-secret").toString("base64")}`;
    const answer = await askToken(url, { grant_type: "client_credentials" }, { Authorization });
    expect(answer).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    expect(answer.headers.get("www-authenticate")).toBe('Basic realm="access-governance"');
  });

  it.each<[string, Record<string, unknown>, number]>([
    ["as it should be", {}, 200],
    ["with the audience as a list of one", { aud: ["127.0.0.1"] }, 200],
    ["with two names of the service", { aud: ["127.0.0.1", "localhost"] }, 200],
    ["with no audience", { aud: [] }, 401],
    ["with an audience that is no text", { aud: 7 }, 401],
    ["with two audiences", { aud: ["127.0.0.1", "example.com"] }, 401],
    ["for a host with its port", { aud: "127.0.0.1:80" }, 401],
    ["for another host", { aud: "example.com" }, 401],
    ["by another issuer", { iss: "quiet" }, 401],
    ["of another subject", { sub: "quiet" }, 401],
    ["without expiry", { exp: undefined }, 401],
    ["that has expired", { exp: Math.floor(Date.now() / 1000) - 1 }, 401],
    ["that lives longer than 5 minutes", { exp: Math.floor(Date.now() / 1000) + 3_600 }, 401],
  ])("takes an assertion %s: %o is %i", async (_name, claims, status) => {
    const { url } = shared;
    expect((await askToken(url, await byAssertion(claims))).status).toBe(status);
  });

  it.each<[what: string, params: Params, claims: Record<string, unknown>]>([
    ["for another client than the one named", { client_id: "quiet" }, {}],
    ["for another client that has the same key", { client_id: "twin" }, {}],
    ["whose subject is another than the client", { client_id: "robot" }, { sub: "twin" }],
    ["whose issuer is another than the client", { client_id: "robot" }, { iss: "twin" }],
    ["for a client without a key", { client_id: "quiet" }, { iss: "quiet", sub: "quiet" }],
    ["for a client that is not there", { client_id: "nobody" }, { iss: "nobody", sub: "nobody" }],
    ["whose subject is a number", {}, { sub: 5 }],
    ["whose subject is an object", {}, { sub: { id: "robot" } }],
    ["whose subject is a list", {}, { sub: ["robot"] }],
    ["without a subject", {}, { sub: undefined }],
    ["with an empty subject", {}, { iss: "", sub: "" }],
    ["with a subject of 257 characters", {}, { iss: "x".repeat(257), sub: "x".repeat(257) }],
  ])("refuses an assertion %s", async (_what, params, claims) => {
    const answer = await askToken(shared.url, { ...(await byAssertion(claims)), ...params });
    expect(answer).toMatchObject({ status: 401, body: { error: "invalid_client" } });
  });

  it("takes an assertion of a client whose id is as long as one may be, and by both names of its algorithm", async () => {
    const params = await byAssertion({ iss: LONGEST, sub: LONGEST });
    expect((await askToken(shared.url, params)).status).toBe(200);
    expect((await askToken(shared.url, { ...params, client_id: LONGEST })).status).toBe(200);
    const claims = { iss: "robot", sub: "robot", aud: "127.0.0.1", exp: Math.floor(Date.now() / 1000) + 60 };
    const newer = await new SignJWT(claims).setProtectedHeader({ alg: "Ed25519" }).sign(privateKey);
    expect((await askToken(shared.url, { ...params, client_assertion: newer })).status).toBe(200);
  });

  it("refuses an assertion by a secret, whatever key the client has", async () => {
    const claims = { iss: "oct", sub: "oct", aud: "127.0.0.1", exp: Math.floor(Date.now() / 1000) + 60 };
    const hmac = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new Uint8Array(32));
    const params = { ...(await byAssertion()), client_assertion: hmac };
    expect((await askToken(shared.url, params)).status).toBe(401);
  });

  it("refuses an assertion by another key, one unsigned, and one that is none", async () => {
    const { url } = shared;
    const other = await generateKeyPair("EdDSA");
    const [, claims] = (await assertion()).split(".");
    const forged = await new SignJWT({ iss: "robot", sub: "robot", aud: "127.0.0.1" })
      .setExpirationTime("2m")
      .setProtectedHeader({ alg: "EdDSA" })
      .sign(other.privateKey);
    for (const wrong of [forged, `eyJhbGciOiJub25lIn0.${claims}.`, "nonsense", "a.b.c"]) {
      const params = { ...(await byAssertion()), client_assertion: wrong };
      expect(await askToken(url, params)).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    }
    const otherType = { ...(await byAssertion()), client_assertion_type: "saml" };
    expect((await askToken(url, otherType)).status).toBe(400);
  });

  it("answers other methods with 405", async () => {
    const { url } = shared;
    const answer = await fetch(`${url}/auth/v1/token`);
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
    expect(await answer.json()).toMatchObject({ code: 12 });
  });

  it("throttles a client that keeps failing, and no other", async () => {
    const { url } = await startService({ fixture: { clients }, attemptLimits: { failures: 3 } });
    const wrong = { ...bySecret, client_secret: "guess" };
    for (let i = 0; i < 3; i++) expect((await askToken(url, wrong)).status).toBe(401);
    const refused = await askToken(url, bySecret);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await askToken(url, { ...bySecret, client_id: "quiet" })).status).toBe(401);
  });

  it("does not let many attempts at once past the limit", async () => {
    const { url } = await startService({ fixture: { clients }, attemptLimits: { failures: 2 } });
    const wrong = { ...bySecret, client_secret: "guess" };
    const answers = await Promise.all(Array.from({ length: 12 }, () => askToken(url, wrong)));
    const failed = answers.filter(({ status }) => status === 401);
    // Four are hashed at a time.
    expect(failed.length).toBeLessThanOrEqual(2 + 4);
    expect(answers.every(({ status }) => status === 401 || status === 429)).toBe(true);
  });

  it("lets a client in again after the window", async () => {
    const limits = { failures: 1, windowMs: 50 };
    const { url } = await startService({ fixture: { clients }, attemptLimits: limits });
    expect((await askToken(url, { ...bySecret, client_secret: "guess" })).status).toBe(401);
    await expect.poll(async () => (await askToken(url, bySecret)).status).toBe(200);
  });
});

describe("access tokens", () => {
  it("are EdDSA JWTs, and end after an hour of the service's own clock", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const service = await startService({ fixture: { clients }, clock });
    const { body } = await askToken(service.url, await byAssertion({}, clock.now()));
    expect(decodeProtectedHeader(body.access_token)).toMatchObject({ alg: "EdDSA", kid: expect.any(String) });
    const status = async () =>
      (
        await fetch(`${service.url}/api/v1/auth-configs/none`, {
          headers: { Authorization: `Bearer ${body.access_token}` },
        })
      ).status;
    expect(await status()).toBe(404);
    clock.advance(3_599_000);
    expect(await status()).toBe(404);
    clock.advance(1_000);
    expect(await status()).toBe(401);
  });

  it("stay good over a rotation of the key and a restart, and new ones have the new key", async () => {
    const db = join(temporaryFolder("service"), "service.db");
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const before = await startService({ db, clock });
    const old = await before.token();
    await before.rotateSigningKey();
    const fresh = await before.token();
    expect(decodeProtectedHeader(fresh).kid).not.toBe(decodeProtectedHeader(old).kid);
    await before.stop();

    const after = await startService({ db, clock });
    for (const token of [old, fresh]) {
      const answer = await fetch(`${after.url}/api/v1/auth-configs/ac-oidc`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      expect(answer.status).toBe(200);
    }
  });
});

it("no client secret is in the database", async () => {
  const folder = temporaryFolder("service");
  const service = await startService({ db: join(folder, "service.db"), fixture: { clients } });
  await service.stop();
  const stored = readFileSync(join(folder, "service.db"), "latin1");
  expect(stored).toContain("robot");
  expect(stored).not.toContain("robot-secret");
  expect(stored).not.toContain(service.clientSecret);
});
