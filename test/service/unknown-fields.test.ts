import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createService } from "hookproof-service";
import { expect, it, onTestFinished } from "vitest";
import { dataFolder } from "../kit/own-server.js";
import { ask, askControl, startService } from "./running-service.js";

const COHORT = "/api/v1/role-mining/suggestions/cohort-1/users";
const OWNERS = "/api/v2/apps/app-1/users/au-1/owners/users";

it.each<[method: string, path: string, body: object | undefined, message: string]>([
  ["POST", COHORT, { profileFilter: [] }, "profileFilter is not known here; did you mean profileFilters?"],
  ["POST", COHORT, { page_sise: 10 }, "page_sise is not known here; did you mean pageSize?"],
  [
    "POST",
    COHORT,
    { profileFilters: [{ attribute: "department", value: ["Sales"] }] },
    "profileFilters[0].value is not known here; did you mean values?",
  ],
  ["GET", `${OWNERS}?role_slugg=owner`, undefined, "role_slugg is not known here; did you mean role_slug?"],
  ["GET", "/api/v1/auth-configs/ac-oidc?fields=id", undefined, "fields is not known here"],
  [
    "POST",
    "/local/v1/secrets",
    { text: "x", creatorUserId: "user-ada", view: 1 },
    "view is not known here; did you mean views?",
  ],
  // What an operation without a body is sent would change nothing.
  ["POST", "/local/v1/reset", { all: true }, "all is not known here"],
  ["DELETE", "/local/v1/journal", { status: 404 }, "status is not known here"],
  ["POST", "/local/v1/journal/search", { statuss: 1 }, "statuss is not known here; did you mean status?"],
])(
  "%s %s with %j is refused, and taken where unknown names are ignored",
  async (method, path, body, message) => {
    const answer = await ask(await startService(), method, path, { body });
    expect(answer).toMatchObject({ status: 400, body: { message } });
    const lenient = await startService({ unknownFields: "ignore" });
    expect((await ask(lenient, method, path, { body })).status).toBe(200);
  },
);

it("the token endpoint takes no notice of what it does not know, as RFC 6749 section 3.2 demands", async () => {
  const service = await startService();
  const body = {
    grant_type: "client_credentials",
    client_id: service.clientId,
    client_secret: service.clientSecret,
    resource: "https://api.example.com/",
  };
  expect((await ask(service, "POST", "/auth/v1/token?tenant=a", { body })).status).toBe(200);
});

it("members of free-form objects are anybody's, and both spellings are known", async () => {
  const service = await startService();
  const body = { trigger: { hmac: {} }, steps: [{ name: "a", templates: { any_thing: { at: "all" } } }] };
  expect((await ask(service, "POST", "/local/v1/automations", { body })).status).toBe(200);
  expect((await ask(service, "POST", COHORT, { body: { page_size: 10, pageToken: "" } })).status).toBe(200);
  expect((await ask(service, "GET", `${OWNERS}?page_size=10&roleSlug=owner`)).status).toBe(200);
});

it("a member that is null is left out of a fixture and of what is added", async () => {
  const users = [{ id: "eve", email: null, display_name: "Eve", profile: { kept: null } }];
  const service = await startService({ fixture: { users } as never });
  const added = {
    auth_configs: [
      { id: "ac-new", pingone: null, okta: { domain: "d", oidcClientId: "c", oidcClientSecret: "s" } },
    ],
  };
  expect((await ask(service, "POST", "/local/v1/state", { body: added })).status).toBe(200);
  const { authConfig } = (await ask(service, "GET", "/api/v1/auth-configs/ac-new")).body;
  expect(authConfig).toMatchObject({ okta: { domain: "d" } });
  expect(authConfig).not.toHaveProperty("pingone");
  const twice = { users: [{ id: "x", displayName: "a", display_name: "b" }] };
  expect((await ask(service, "POST", "/local/v1/state", { body: twice })).body.message).toBe(
    "users[0].displayName stands in two spellings, displayName and display_name",
  );
  await expect(createService({ fixture: twice as never })).rejects.toThrow("stands in two spellings");
});

it("the document has the names of a client, so that what is generated from it has them", async () => {
  const service = await startService({ wireNames: { svcLocal: "acmeLocal", matchXId: "matchAcmeId" } });
  const text = JSON.stringify((await ask(service, "GET", "/openapi.json")).body);
  expect(text).not.toMatch(/svcLocal|matchXId/);
  const { schemas } = JSON.parse(text).components;
  expect(schemas.AuthConfig.properties).toHaveProperty("acmeLocal");
  expect(schemas.AuthConfig["x-at-most-one"]).toContain("acmeLocal");
  expect(schemas.AppEntitlement.required).toContain("matchAcmeId");
});

it.each([
  { disconnect: true, status: 500 },
  { disconnect: true, malformed: true },
  { malformed: true, body: 1 },
  { status: 204, body: {} },
  { status: 304, malformed: true },
  { body: {} },
  { retryAfterSeconds: 1 },
  { sequence: [{ disconnect: true, retryAfterSeconds: 1 }] },
])("a fault that contradicts itself is refused: %j", async (fault) => {
  const service = await startService();
  expect((await askControl(service, "PUT", "faults/getAuthConfig", fault)).status).toBe(400);
  expect(() => service.setFault("getAuthConfig", fault)).toThrow(RangeError);
  expect((await askControl(service, "GET", "faults")).body.list).toEqual([]);
});

it("an address of a file ends when its secret is revoked, and when that ends", async () => {
  let now = Date.parse("2030-01-01T00:00:00Z");
  const service = await startService({ clock: { now: () => now } });
  const recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";
  const file = { filename: "a.txt", contentBase64: "aGk=" };
  const made = async (more: object) => {
    const body = { creatorUserId: "user-ada", file, ...more };
    const { id } = (await ask(service, "POST", "/local/v1/secrets", { body })).body;
    const view = await ask(service, "POST", `/api/v1/secrets/${id}/view`, {
      body: { readerRecipient: recipient },
    });
    return { id, url: view.body.downloadUrl as string };
  };
  const [revoked, ending, used] = [
    await made({}),
    await made({ expiresAt: "2030-01-01T00:01:00Z" }),
    await made({ views: 1 }),
  ];
  const status = async ({ url }: { url: string }) => (await fetch(url)).status;
  for (const one of [revoked, ending, used]) expect(await status(one)).toBe(200);
  expect((await ask(service, "POST", `/local/v1/secrets/${revoked.id}/revoke`)).status).toBe(200);
  now += 60_000;
  expect([await status(revoked), await status(ending), await status(used)]).toEqual([404, 404, 200]);
});

it("a secret may be for users that there are, and for nobody else", async () => {
  const service = await startService();
  const secret = { creatorUserId: "user-ada", text: "x", allowedUserIds: ["user-bob", "nobody"] };
  const { status, body } = await ask(service, "POST", "/local/v1/secrets", { body: secret });
  expect([status, body.details[0].fieldViolations[0].field]).toEqual([400, "allowedUserIds[1]"]);
  await expect(
    createService({ fixture: { users: [{ id: "user-ada" }], secrets: [{ id: "s", ...secret }] } }),
  ).rejects.toThrow("secrets[0].allowedUserIds[0]");
});

it("a second service over one database is told, and the first one that comes after both is not", async () => {
  const folder = await dataFolder("shared");
  onTestFinished(() => rm(folder, { recursive: true }));
  const db = join(folder, "service.db");
  const lines: string[] = [];
  const log = { info() {}, error() {}, warn: (_fields: object, message: string) => void lines.push(message) };
  const first = await createService({ db });
  const second = await createService({ db, log });
  expect([first.isDatabaseShared, second.isDatabaseShared]).toEqual([false, true]);
  expect(lines).toEqual(["another service runs over this database"]);
  await first.stop();
  const third = await createService({ db });
  expect(third.isDatabaseShared).toBe(true);
  await second.stop();
  await third.stop();
  const last = await createService({ db });
  expect(last.isDatabaseShared).toBe(false);
  await last.stop();
});

it("a bearer token on a token request is not looked at; a client's own key is a secret", async () => {
  const service = await startService();
  const token = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/auth/v1/token`, {
      method: "POST",
      headers,
      body: new URLSearchParams({ grant_type: "client_credentials", ...form }),
    });
  const own = { client_id: service.clientId, client_secret: service.clientSecret };
  expect((await token(own, { Authorization: "Bearer stale" })).status).toBe(200);
  expect((await token(own, { Authorization: "Basic eDp5" })).status).toBe(401);
  const { privateKey } = (await import("node:crypto")).generateKeyPairSync("ed25519");
  const { d, ...publicJwk } = privateKey.export({ format: "jwk" });
  const id = "sdk-1@127.0.0.1/pcc";
  await ask(service, "POST", "/local/v1/clients", { body: { id, publicJwk, role: "member" } });
  const secretOf = (jwk: object) =>
    `secret-token:127.0.0.1:v1:${Buffer.from(JSON.stringify(jwk)).toString("base64")}`;
  const other = (await import("node:crypto"))
    .generateKeyPairSync("ed25519")
    .privateKey.export({ format: "jwk" });
  const statuses = [];
  for (const jwk of [{ ...publicJwk, d }, { ...publicJwk, d: other.d }, publicJwk, {}])
    statuses.push((await token({ client_id: id, client_secret: secretOf(jwk) })).status);
  expect(statuses).toEqual([200, 401, 401, 401]);
});

it("the journal is asked for what it holds: any method and query of a webhook's path, HEAD where GET is answered", async () => {
  const service = await startService();
  const incoming = "/api/v1/webhooks/incoming/lst_none";
  await ask(service, "PATCH", `${incoming}?tenant=1`);
  await ask(service, "HEAD", "/api/v1/auth-configs/ac-oidc");
  const found = async (body: object) => {
    const answer = await ask(service, "POST", "/local/v1/journal/search", { body });
    return answer.body.list?.map(({ method, path }: { method: string; path: string }) => [method, path]);
  };
  expect(await found({ method: "PATCH" })).toEqual([["PATCH", incoming]]);
  expect(await found({ operation: "receiveWebhook", query: { tenant: "1" } })).toEqual([["PATCH", incoming]]);
  expect(await found({ path: incoming, query: { tenant: "1" } })).toEqual([["PATCH", incoming]]);
  expect(await found({ operation: "getAuthConfig", method: "HEAD" })).toEqual([
    ["HEAD", "/api/v1/auth-configs/ac-oidc"],
  ]);
  const refused = async (body: object) =>
    (await ask(service, "POST", "/local/v1/journal/search", { body })).body.message;
  expect(await refused({ method: "PSOT" })).toContain("No request can have the method");
  for (const status of [-1, 20, 600, 1_000])
    expect(await refused({ status })).toBe(`No request can have the status "${status}".`);
  expect(await refused({ operation: "getAuthConfig", method: "PATCH" })).toContain("No request can have");
  expect(await refused({ query: { tenant: "1" } })).toContain('No request can have the query name "tenant"');
});
