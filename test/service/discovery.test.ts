import { createLocalJWKSet, createRemoteJWKSet, jwtVerify } from "jose";
import * as oauth from "oauth4webapi";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../service/src/api/openapi-document.js";
import { ask, startService } from "./running-service.js";

const CONFIG = "/api/v1/auth-configs";

describe("OAuth metadata (RFC 8414)", () => {
  it("leads a standard client from the service's address to a token", async () => {
    const service = await startService();
    const issuer = new URL(service.url);
    const insecure = { [oauth.allowInsecureRequests]: true };
    const found = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    expect(server.token_endpoint_auth_methods_supported).toEqual(["client_secret_post", "private_key_jwt"]);
    const client = { client_id: service.clientId };
    const proof = oauth.ClientSecretPost(service.clientSecret);
    const answer = await oauth.clientCredentialsGrantRequest(server, client, proof, {}, insecure);
    expect((await oauth.processClientCredentialsResponse(server, client, answer)).expires_in).toBe(3_600);
  });

  it("has the address that the service is told it has", async () => {
    const service = await startService({ baseUrl: "https://tenant.example.com" });
    const { body } = await ask(service, "GET", "/.well-known/oauth-authorization-server");
    expect(body).toMatchObject({
      issuer: "https://tenant.example.com",
      token_endpoint: "https://tenant.example.com/auth/v1/token",
      jwks_uri: "https://tenant.example.com/.well-known/jwks.json",
    });
  });
});

describe("the key set of the access tokens", () => {
  it("lets others verify them, those of a replaced key too, and shows no private key", async () => {
    const service = await startService();
    const { body } = await ask(service, "GET", "/.well-known/oauth-authorization-server");
    const before = await service.token();
    await service.rotateSigningKey();
    const keys = createRemoteJWKSet(new URL(body.jwks_uri));
    for (const token of [before, await service.token()]) {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer: service.url,
        typ: "at+jwt",
      });
      expect(protectedHeader.alg).toBe("EdDSA");
      expect(payload.sub).toBe("minted:super-admin:");
    }
    const set = await ask(service, "GET", "/.well-known/jwks.json");
    expect(set.headers.get("cache-control")).toBe("public, max-age=300");
    for (const key of set.body.keys)
      expect(Object.keys(key).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
    const other = await startService();
    await expect(jwtVerify(await other.token(), createLocalJWKSet(set.body))).rejects.toThrow();
  });
});

describe("the start page", () => {
  it("welcomes a person, and its links lead somewhere", async () => {
    const service = await startService();
    const answer = await fetch(`${service.url}/`, { headers: { Accept: "text/html,*/*;q=0.8" } });
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    const html = await answer.text();
    const links = [...html.matchAll(/<a href="(\/[^"]*)"/g)].map(([, path]) => path);
    expect(links).toHaveLength(5);
    for (const path of links) expect((await fetch(service.url + path)).status, path).toBe(200);
  });

  it("gives a program the same in JSON", async () => {
    const service = await startService();
    const { body } = await ask(service, "GET", "/");
    for (const name of ["reference", "openapi", "metadata", "health"])
      expect((await fetch(body[name])).status, name).toBe(200);
    expect((await ask(service, "GET", "/openapi.json")).body).toEqual(openApiDocument);
  });
});

describe("a page of another origin", () => {
  const preflight = (url: string, origin: string) =>
    fetch(`${url}${CONFIG}/ac-okta`, {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "DELETE",
        "Access-Control-Request-Headers": "authorization,content-type",
      },
    });
  const PAGE = "http://localhost:5173";

  it("may not call the service by default", async () => {
    const service = await startService();
    const answer = await preflight(service.url, PAGE);
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([405, null]);
    expect(
      (await fetch(`${service.url}/healthz`, { headers: { Origin: PAGE } })).headers.get(
        "access-control-allow-origin",
      ),
    ).toBeNull();
  });

  it.each<[cors: true | string[], allowed: string[], refused: string[]]>([
    [true, [PAGE, "https://example.com"], []],
    [[PAGE], [PAGE], ["https://example.com", "http://localhost:5174", "null"]],
    [[], [], [PAGE]],
  ])("may with cors %j", async (cors, allowed, refused) => {
    const service = await startService({ cors });
    for (const origin of allowed) {
      const answer = await preflight(service.url, origin);
      expect(answer.status).toBe(204);
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
      expect(answer.headers.get("access-control-allow-headers")).toBe("authorization,content-type");
      expect(answer.headers.get("access-control-allow-methods")).toContain("DELETE");
      const config = await ask(service, "GET", `${CONFIG}/ac-okta`, { headers: { Origin: origin } });
      expect([config.status, config.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
      expect(config.headers.get("vary")).toContain("Origin");
    }
    for (const origin of refused) {
      const answer = await preflight(service.url, origin);
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([405, null]);
    }
    const form = {
      grant_type: "client_credentials",
      client_id: service.clientId,
      client_secret: service.clientSecret,
    };
    for (const origin of [...allowed, ...refused]) {
      const headers = { Origin: origin, "Sec-Fetch-Site": "cross-site" };
      const answer = await fetch(`${service.url}/auth/v1/token`, {
        method: "POST",
        headers,
        body: new URLSearchParams(form),
      });
      expect(answer.status).toBe(allowed.includes(origin) ? 200 : 403);
    }
  });

  it.each(["*", "localhost:5173", "http://localhost:5173/", ""])("cannot be named %j", async (origin) => {
    await expect(startService({ cors: [origin] })).rejects.toThrow(/is no origin|list of origins/);
  });
});

describe("wire names", () => {
  const names = {
    svcLocal: "acmeLocal",
    matchXId: "matchAcmeId",
    AUTH_CONFIG_PROVIDER_TYPE_SVC_LOCAL: "AUTH_CONFIG_PROVIDER_TYPE_ACME",
  };
  const OWNER = "/api/v2/apps/app-1/owners/entitlements/owner/app-1/ent-1";

  it("are in answers, in the places of the document's names and nowhere else", async () => {
    const service = await startService({ wireNames: names });
    const { authConfig } = (await ask(service, "GET", `${CONFIG}/ac-local`)).body;
    expect(authConfig).toHaveProperty("acmeLocal.delegatedVerifiers");
    expect(authConfig).not.toHaveProperty("svcLocal");
    expect(authConfig.providerType).toBe("AUTH_CONFIG_PROVIDER_TYPE_ACME");
    const { appEntitlement } = (await ask(service, "GET", OWNER)).body.appOwnerEntitlement;
    expect(appEntitlement).toHaveProperty("matchAcmeId", "");
    expect(appEntitlement).not.toHaveProperty("matchXId");
    const plain = await startService();
    expect((await ask(plain, "GET", `${CONFIG}/ac-local`)).body.authConfig).toHaveProperty("svcLocal");
  });

  it("are not put into free-form objects and texts of users", async () => {
    const profile = { svcLocal: "svcLocal" };
    const users = [{ id: "ada", displayName: "AUTH_CONFIG_PROVIDER_TYPE_SVC_LOCAL", profile }];
    const service = await startService({
      wireNames: names,
      fixture: { users, suggestions: [{ id: "all", userIds: ["ada"] }] },
    });
    const { body } = await ask(service, "POST", "/api/v1/role-mining/suggestions/all/users", { body: {} });
    expect(body.list[0]).toMatchObject({ displayName: "AUTH_CONFIG_PROVIDER_TYPE_SVC_LOCAL", profile });
  });

  it("are taken in requests", async () => {
    const service = await startService({ wireNames: { displayName: "title", updateMask: "mask" } });
    const path = "/api/v1/apps/app-1/resource_types/rt-manual";
    const { body } = await ask(service, "POST", path, {
      body: { appResourceType: { title: "Gate" }, mask: "displayName" },
    });
    expect(body.appResourceType).toMatchObject({ title: "Gate" });
  });

  it.each([5, null, "text", [], { appResourceType: [{}] }, { appResourceType: 5 }])(
    "let nothing pass that is refused without them: %j",
    async (body) => {
      const path = "/api/v1/apps/app-1/resource_types/rt-manual";
      const named = await startService({ wireNames: { displayName: "title" } });
      const answer = await ask(named, "POST", path, { body: JSON.stringify(body) });
      const plain = await ask(await startService(), "POST", path, { body: JSON.stringify(body) });
      expect(answer.status).toBe(400);
      expect(answer.body.message).toBe(plain.body.message);
    },
  );

  it.each([
    { nothing: "x" },
    { svcLocal: "okta" },
    { svcLocal: "a b" },
    { svcLocal: "same", matchXId: "same" },
  ])("are refused: %j", async (wireNames) => {
    await expect(startService({ wireNames } as never)).rejects.toThrow(/^wireNames: /);
  });
});
