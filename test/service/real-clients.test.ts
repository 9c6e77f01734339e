import { fixedClock } from "hookproof/testing";
import { createService, type Service } from "hookproof-service";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIXTURE } from "./fixture.js";
import { ask, startService } from "./running-service.js";

/** What published clients of this kind of API send, each as one of them does. */

const OWNERS = "/api/v2/apps/app-1/users/au-1/owners/users";
const COHORT = "/api/v1/role-mining/suggestions/cohort-1/users";
const UPDATE = "/api/v1/apps/app-1/resource_types/rt-manual";
const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
const publicJwk = await exportJWK(publicKey);
const CLIENT = "name-12345@tenant.example.com/pcc";

let service: Service;
beforeAll(async () => {
  const clients = [{ id: CLIENT, publicJwk, role: "super-admin" as const }];
  const suggestions = [{ id: "cohort-1", userIds: ["user-ada", "user-bob", "user-cyd"] }];
  const users = [...(FIXTURE.users ?? [])];
  for (let n = 0; n < 30; n++) users.push({ id: `user-${n}`, displayName: `User ${n}` });
  suggestions[0]?.userIds.push(...users.slice(3).map(({ id }) => id));
  service = await createService({
    fixture: { ...FIXTURE, users, clients, suggestions },
    validateAnswers: true,
  });
});
afterAll(() => service.stop());

async function tokenFor(
  url: string,
  aud: unknown,
  claims: Record<string, unknown> = {},
  now = Date.now(),
): Promise<{ status: number; body: Record<string, unknown> }> {
  const seconds = Math.floor(now / 1000);
  const assertion = await new SignJWT({
    iss: CLIENT,
    sub: CLIENT,
    aud,
    exp: seconds + 120,
    ...claims,
  } as never)
    .setProtectedHeader({ alg: "EdDSA" })
    .sign(privateKey);
  const answer = await fetch(`${url}/auth/v1/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: CLIENT,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
    }),
  });
  return { status: answer.status, body: await answer.json() };
}

describe("names in a query", () => {
  it.each(["role_slug", "roleSlug"])("%s filters owners", async (name) => {
    const { body } = await ask(service, "GET", `${OWNERS}?${name}=deputy`);
    expect(body.list.map((one: { roleSlug: string }) => one.roleSlug)).toEqual(["deputy"]);
  });

  it.each([OWNERS, "/api/v1/iam/tunnel/bridges/bridge-1/credentials", "/local/v1/automations"])(
    "are taken in both spellings by %s, and refused where they disagree",
    async (path) => {
      for (const name of ["page_token", "pageToken"]) {
        expect((await ask(service, "GET", `${path}?${name}=none`)).status).toBe(400);
        expect((await ask(service, "GET", `${path}?${name}=`)).status).toBe(200);
      }
      expect((await ask(service, "GET", `${path}?page_size=10&pageSize=10`)).status).toBe(200);
      expect(await ask(service, "GET", `${path}?page_size=10&pageSize=11`)).toMatchObject({
        status: 400,
        body: { message: "pageSize stands in two spellings that disagree" },
      });
    },
  );

  it("are taken in both spellings in a body as well", async () => {
    const sizes = [];
    for (const body of [{ pageSize: 10 }, { page_size: 10 }, {}])
      sizes.push((await ask(service, "POST", COHORT, { body })).body.list.length);
    expect(sizes).toEqual([10, 10, 25]);
    const filters = [{ attribute: "display_name", values: ["Ada"] }];
    expect((await ask(service, "POST", COHORT, { body: { profile_filters: filters } })).body.list).toEqual(
      [],
    );
    const both = { pageSize: 10, page_size: 10 };
    expect((await ask(service, "POST", COHORT, { body: both })).status).toBe(400);
  });
});

describe("null", () => {
  it.each<[path: string, body: object]>([
    [UPDATE, { updateMask: null, appResourceType: { displayName: "Door" } }],
    [UPDATE, { appResourceType: null }],
    [UPDATE, { appResourceType: { displayName: null, traitIds: null } }],
    [COHORT, { profileFilters: null, selectedEntitlements: null }],
    [COHORT, { pageSize: null, pageToken: null }],
    [COHORT, { profileFilters: [{ attribute: "department", values: null }] }],
    ["/api/v1/search/secrets-admin/audit_events", { vaultId: null, actorEmail: null }],
    ["/local/v1/automations", { displayName: null, trigger: { hmac: {}, jwt: null }, steps: null }],
    ["/local/v1/secrets", { text: "t", file: null, creatorUserId: "user-ada" }],
  ])("in a field of %s counts as left out: %j", async (path, body) => {
    expect(await ask(service, "POST", path, { body })).toMatchObject({ status: 200 });
  });

  it("clears no field that is not named, and a mask that names it empties it", async () => {
    const kept = await ask(service, "POST", UPDATE, {
      body: { appResourceType: { displayName: "Gate", traitIds: null } },
    });
    expect(kept.body.appResourceType).toMatchObject({ displayName: "Gate", traitIds: ["role"] });
    const body = { appResourceType: { displayName: null }, updateMask: "display_name" };
    expect((await ask(service, "POST", UPDATE, { body })).body.appResourceType.displayName).toBe("");
  });

  it("is no body, no member that must be there, and no item of a list", async () => {
    for (const body of ["null", { profileFilters: [null] }, { profileFilters: [{ attribute: null }] }])
      expect((await ask(service, "POST", COHORT, { body })).status).toBe(400);
  });

  it("in a token request of JSON counts as left out", async () => {
    const { clientId: client_id, clientSecret: client_secret } = service;
    const body = {
      grant_type: "client_credentials",
      client_id,
      client_secret,
      client_assertion: null,
      scope: null,
    };
    expect(
      (await ask(service, "POST", "/auth/v1/token", { body, headers: { Authorization: "Basic eDp5" } }))
        .status,
    ).toBe(401);
    const answer = await fetch(`${service.url}/auth/v1/token`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
  });
});

describe("half of a surrogate pair", () => {
  it.each<[path: string, body: string, field: string]>([
    ["/local/v1/secrets", '{"text":"\\ud800","creatorUserId":"user-ada"}', "text"],
    [UPDATE, '{"appResourceType":{"traitIds":["ok","a\\uDFFFb"]}}', "appResourceType.traitIds[1]"],
    [
      "/local/v1/automations",
      '{"trigger":{"hmac":{}},"steps":[{"name":"a","templates":{"\\ud800":1}}]}',
      "steps[0].templates.\ufffd",
    ],
    [UPDATE, '{"colour\\ud800":1}', "colour\ufffd"],
    [UPDATE, '"\\udc00"', "body"],
    [UPDATE, '{"x":{"in":[[],["x",{"at":"\\uDfFf"}]]}}', "x.in[1][1].at"],
  ])("in a body of %s is refused with its place", async (path, body, field) => {
    const answer = await ask(service, "POST", path, { body });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe(`${field} has half of a surrogate pair`);
  });

  it("is refused however deep it lies, and whole pairs are taken", async () => {
    const deep = `{"x":${"[".repeat(100_000)}"\\ud800"${"]".repeat(100_000)}}`;
    expect((await ask(service, "POST", COHORT, { body: deep })).status).toBe(400);
    for (const text of ['"\\ud83d\\ude00"', '"😀"', '"\\\\ud800"']) {
      const body = `{"profileFilters":[{"attribute":"department","values":[${text}]}]}`;
      expect((await ask(service, "POST", COHORT, { body })).status).toBe(200);
    }
  });

  it("in a fixture is refused with its path", async () => {
    const fixture = { users: [{ id: "ada", displayName: "a\ud800" }] };
    await expect(createService({ fixture })).rejects.toThrow(
      "users[0].displayName has half of a surrogate pair",
    );
  });
});

describe("the audience of an assertion", () => {
  const withPort = (url: string) => new URL(url).port;

  it.each<[name: string, aud: (url: string) => unknown]>([
    ["the host", () => "127.0.0.1"],
    ["the host with its port", (url) => new URL(url).host],
    ["the host by another name of loopback", () => "localhost"],
    ["the host of IPv6", () => "[::1]"],
    ["the address of IPv6", () => "::1"],
    ["the issuer", (url) => url],
    ["the issuer with a slash", (url) => `${url}/`],
    ["the issuer by another name", (url) => `http://localhost:${withPort(url)}`],
    ["the token endpoint", (url) => `${url}/auth/v1/token`],
    ["the token endpoint by another name", (url) => `http://localhost:${withPort(url)}/auth/v1/token`],
    ["issuer and token endpoint, as some clients send", (url) => [url, `${url}/auth/v1/token`]],
  ])("may be %s", async (_name, aud) => {
    expect(await tokenFor(service.url, aud(service.url))).toMatchObject({ status: 200 });
  });

  it.each<[name: string, aud: (url: string) => unknown]>([
    ["another host", () => "tenant.example.com"],
    ["another port", () => "127.0.0.1:1"],
    ["another scheme", (url) => url.replace("http:", "https:")],
    ["another path", (url) => `${url}/auth/v2/token`],
    ["the host with a path", () => "127.0.0.1/auth/v1/token"],
    ["a name that begins like one", () => "127.0.0.1.example.com"],
    ["another service next to this one", (url) => [url, "https://tenant.example.com"]],
    ["an empty text", () => ""],
  ])("is refused by its name: %s", async (_name, aud) => {
    const claim = aud(service.url);
    const { status, body } = await tokenFor(service.url, claim);
    expect(status).toBe(401);
    const wrong = Array.isArray(claim) ? claim[1] : claim;
    expect(body.error_description).toContain(
      `The assertion's aud is ${JSON.stringify(wrong)}, and must be ${service.url}`,
    );
  });

  it("is the address that the service is told it has", async () => {
    const clients = [{ id: CLIENT, publicJwk }];
    const behind = await startService({ fixture: { clients }, baseUrl: "https://tenant.example.com" });
    for (const aud of [
      "tenant.example.com",
      "https://tenant.example.com",
      "https://tenant.example.com/auth/v1/token",
    ])
      expect((await tokenFor(behind.url, aud)).status).toBe(200);
    expect((await tokenFor(behind.url, "localhost")).status).toBe(401);
  });

  it.each<[claims: Record<string, unknown>, says: string]>([
    [{ exp: 1_000_000 }, "The assertion's exp is in the past."],
    [{ exp: undefined }, "The assertion's exp is missing or wrong."],
    [{ exp: Math.floor(Date.now() / 1000) + 3_600 }, "The assertion's exp must be at most 300 s ahead."],
    [{ iss: "other" }, "The assertion's iss must be the client's id."],
    [{ sub: "other" }, "The assertion's sub must be the client's id."],
  ])("and every other claim that is wrong is named: %j", async (claims, says) => {
    expect(await tokenFor(service.url, "localhost", claims)).toMatchObject({
      status: 401,
      body: { error: "invalid_client", error_description: says },
    });
  });
});

describe("access tokens", () => {
  it("live as long as the service is told, or an hour", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const clients = [{ id: CLIENT, publicJwk }];
    const short = await startService({ fixture: { clients }, clock, tokenLifetimeSeconds: 60 });
    const { body } = await tokenFor(short.url, "localhost", {}, clock.now());
    expect(body.expires_in).toBe(60);
    const status = async () =>
      (
        await fetch(`${short.url}/api/v1/auth-configs/none`, {
          headers: { Authorization: `Bearer ${body.access_token}` },
        })
      ).status;
    clock.advance(59_999);
    expect(await status()).toBe(404);
    clock.advance(1);
    expect(await status()).toBe(401);
    expect((await tokenFor(service.url, "localhost")).body.expires_in).toBe(3_600);
  });

  it("outlive a rotation of the key, however long they live", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const long = await startService({ clock, tokenLifetimeSeconds: 86_400 });
    const token = await long.token();
    await long.rotateSigningKey();
    clock.advance(86_399_000);
    const headers = { Authorization: `Bearer ${token}` };
    expect((await ask(long, "GET", "/api/v1/auth-configs/ac-okta", { headers })).status).toBe(200);
  });

  it.each([0, -1, 1.5, 86_401, Number.NaN])("cannot live %d seconds", async (tokenLifetimeSeconds) => {
    await expect(createService({ tokenLifetimeSeconds })).rejects.toThrow(RangeError);
  });

  it("are answered with the scopes that were given, none, if some were asked for", async () => {
    const { clientId: client_id, clientSecret: client_secret } = service;
    const asked = async (more: Record<string, string>) => {
      const form = { grant_type: "client_credentials", client_id, client_secret, ...more };
      const answer = await fetch(`${service.url}/auth/v1/token`, {
        method: "POST",
        body: new URLSearchParams(form),
      });
      return (await answer.json()).scope;
    };
    expect(await asked({ scope: "read write" })).toBe("");
    expect(await asked({ scope: "" })).toBeUndefined();
    expect(await asked({})).toBeUndefined();
  });
});

it("a client may fail as often as it likes, if the service is told so", async () => {
  const open = await startService({ attemptLimits: { failures: Number.POSITIVE_INFINITY } });
  const form = (client_secret: string) =>
    fetch(`${open.url}/auth/v1/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: open.clientId,
        client_secret,
      }),
    });
  for (let n = 0; n < 12; n++) expect((await form("wrong")).status).toBe(401);
  expect((await form(open.clientSecret)).status).toBe(200);
});

describe("a client's id", () => {
  it.each(["robot", "name-12345@tenant.example.com/pcc"])("may be %s", async (id) => {
    const service = await startService({ fixture: { clients: [{ id, secret: "s" }] } });
    const form = { grant_type: "client_credentials", client_id: id, client_secret: "s" };
    const answer = await fetch(`${service.url}/auth/v1/token`, {
      method: "POST",
      body: new URLSearchParams(form),
    });
    expect(answer.status).toBe(200);
  });

  it("is no place for brackets", async () => {
    await expect(
      createService({ fixture: { clients: [{ id: "a:b@[host]", secret: "s" }] } }),
    ).rejects.toThrow("clients[0].id must match pattern");
  });
});
