import { fixedClock } from "hookproof/testing";
import { createService, type Service } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIXTURE } from "./fixture.js";
import { ask, startService } from "./running-service.js";

const clock = fixedClock("2026-05-01T12:00:00Z");
let service: Service;
beforeAll(async () => {
  service = await createService({ fixture: FIXTURE, validateAnswers: true, clock });
});
afterAll(() => service.stop());

describe("auth configs (4.2, 4.3)", () => {
  it("has every scalar, leaves out what is not set, and never shows a client secret", async () => {
    const { body } = await ask(service, "GET", "/api/v1/auth-configs/ac-okta");
    expect(body).toEqual({
      authConfig: {
        id: "ac-okta",
        displayName: "",
        providerType: "AUTH_CONFIG_PROVIDER_TYPE_OKTA",
        status: "AUTH_CONFIG_STATUS_UNSPECIFIED",
        bootstrapDomains: [],
        isDefaultBootstrap: false,
        deprecationMessage: "",
        createdAt: "2026-05-01T12:00:00.000Z",
        okta: { domain: "example.com", oidcClientId: "c", oidcClientSecret: "" },
      },
    });
  });

  it.each([
    ["ac-microsoft", { microsoft: { tenantIds: ["t-1"] } }],
    ["ac-onelogin", { onelogin: { domain: "example.com", oidcClientId: "c", oidcClientSecret: "" } }],
    ["ac-jumpcloud", { jumpcloud: { oidcClientId: "c", oidcClientSecret: "" } }],
    ["ac-pingone", { pingone: { environmentId: "e", oidcClientId: "c", oidcClientSecret: "" } }],
    ["ac-local", { svcLocal: { delegatedVerifiers: ["DELEGATED_VERIFIER_TYPE_GITHUB", "OF_TOMORROW"] } }],
    [
      "ac-oidc",
      {
        status: "AUTH_CONFIG_STATUS_DEPRECATED",
        deprecationDeadline: "2026-12-31T00:00:00Z",
        oidc: { scopes: ["openid"], exactMatchClaims: { hd: "example.com" }, oidcClientSecret: "" },
        google: { hostedDomains: ["example.com"], additionalHostedDomains: [] },
      },
    ],
  ])("%s has its provider's member", async (id, config) => {
    const { body } = await ask(service, "GET", `/api/v1/auth-configs/${id}`);
    expect(body.authConfig).toMatchObject(config);
  });

  it("is gone once it is deleted", async () => {
    const own = await startService();
    const path = "/api/v1/auth-configs/ac-oidc";
    expect(await ask(own, "DELETE", path, { body: {} })).toMatchObject({ status: 200, body: {} });
    expect((await ask(own, "GET", path)).status).toBe(404);
    expect((await ask(own, "DELETE", path)).status).toBe(404);
    // Without a body as well.
    expect((await ask(own, "DELETE", "/api/v1/auth-configs/ac-okta")).status).toBe(200);
  });
});

describe("resource types (4.4)", () => {
  it.each<[string, string | undefined, object, object]>([
    [
      "one field",
      "displayName",
      { displayName: "A", traitIds: ["x"] },
      { displayName: "A", traitIds: ["role"] },
    ],
    [
      "snake_case",
      "trait_ids",
      { displayName: "A", traitIds: ["x"] },
      { displayName: "Door", traitIds: ["x"] },
    ],
    [
      "a prefix, and blanks",
      "appResourceType.displayName, app_resource_type.trait_ids",
      { displayName: "A", traitIds: [] },
      { displayName: "A", traitIds: [] },
    ],
    ["all", "*", { displayName: "A" }, { displayName: "A", traitIds: [] }],
    ["what is in the body", "", { traitIds: ["x", "y"] }, { displayName: "Door", traitIds: ["x", "y"] }],
    ["no mask", undefined, { displayName: "A" }, { displayName: "A", traitIds: ["role"] }],
    ["a field that is not in the body", "displayName", {}, { displayName: "", traitIds: ["role"] }],
  ])("a mask of %s", async (_name, updateMask, appResourceType, changed) => {
    const own = await startService({ clock });
    const path = "/api/v1/apps/app-1/resource_types/rt-manual";
    const { body } = await ask(own, "POST", path, { body: { appResourceType, updateMask } });
    expect(body).toEqual({
      appResourceType: {
        id: "rt-manual",
        appId: "app-1",
        createdAt: "2026-05-01T12:00:00.000Z",
        updatedAt: "2026-05-01T12:00:00.000Z",
        ...changed,
      },
      expanded: [],
    });
    // It is kept: an update of nothing shows it again.
    const again = await ask(own, "POST", path, { body: {} });
    expect(again.body.appResourceType).toMatchObject(changed);
  });

  it("one that is not manually managed is 400, and stays as it is", async () => {
    const path = "/api/v1/apps/app-1/resource_types/rt-synced";
    const body = { appResourceType: { displayName: "A" } };
    expect(await ask(service, "POST", path, { body })).toMatchObject({ status: 400, body: { code: 3 } });
  });
});

describe("cohort search (4.5)", () => {
  const search = async (...profileFilters: object[]) => {
    const path = "/api/v1/role-mining/suggestions/cohort-1/users";
    const { body } = await ask(service, "POST", path, { body: { profileFilters } });
    return body.list.map(({ displayName }: { displayName: string }) => displayName);
  };

  it("is in the order of display names, with what is deprecated empty", async () => {
    const { body } = await ask(service, "POST", "/api/v1/role-mining/suggestions/cohort-1/users");
    expect(body).toMatchObject({ nextPageToken: "", usersWithCoverage: [] });
    expect(body.list.map(({ id }: { id: string }) => id)).toEqual(["user-ada", "user-bob", "user-cyd"]);
    expect(body.list[0]).toMatchObject({
      status: "ENABLED",
      directoryStatus: "UNKNOWN",
      profile: { team: "blue", remote: true, level: 3, skills: ["maths", "looms"] },
      departmentSources: [
        {
          appId: "app-1",
          appUserId: "au-1",
          appUserProfileAttributeKey: "",
          priority: 1,
          userAttributeMappingId: "",
          value: "Research",
        },
      ],
    });
  });

  it.each<[string, object[], string[]]>([
    ["a field", [{ attribute: "department", values: ["Sales"] }], ["Bob", "Cyd"]],
    [
      "one of several values",
      [{ attribute: "department", values: ["Sales", "Research"] }],
      ["Ada", "Bob", "Cyd"],
    ],
    [
      "several filters",
      [
        { attribute: "department", values: ["Sales"] },
        { attribute: "email", values: ["cyd@example.com", "ada@example.com"] },
      ],
      ["Cyd"],
    ],
    ["a list", [{ attribute: "emails", values: ["ada@example.org"] }], ["Ada"]],
    ["an enum", [{ attribute: "status", values: ["ENABLED"] }], ["Ada"]],
    ["a key of the profile", [{ attribute: "profile.team", values: ["red", "green"] }], ["Bob"]],
    ["a list in the profile", [{ attribute: "profile.skills", values: ["looms"] }], ["Ada"]],
    ["a boolean", [{ attribute: "profile.remote", values: ["true"] }], ["Ada"]],
    ["a number", [{ attribute: "profile.level", values: ["3"] }], ["Ada"]],
    ["an attribute nobody has", [{ attribute: "shoeSize", values: ["43"] }], []],
    ["a key nobody has", [{ attribute: "profile.shoe", values: ["43"] }], []],
    ["no values", [{ attribute: "department", values: [] }], []],
    ["another case", [{ attribute: "department", values: ["sales"] }], []],
  ])("finds by %s", async (_name, filters, names) => {
    expect(await search(...filters)).toEqual(names);
  });
});

describe("owners (4.7, 4.8)", () => {
  it("gets an entitlement owner whole", async () => {
    const path = "/api/v2/apps/app-1/owners/entitlements/owner/app-1/ent-1";
    const { body } = await ask(service, "GET", path);
    expect(body.appOwnerEntitlement).toMatchObject({
      appId: "app-1",
      roleSlug: "owner",
      createdAt: "2026-05-01T12:00:00.000Z",
      appEntitlement: {
        id: "ent-1",
        grantCount: "12345678901234567890",
        durationGrant: "3600s",
        annotations: { of: "interest" },
        purpose: "APP_ENTITLEMENT_PURPOSE_VALUE_UNSPECIFIED",
        provisionerPolicy: {
          manual: {
            assignee: { users: { allowReassignment: false, userIds: ["user-ada"] } },
            instructions: "",
            userIds: [],
          },
        },
        deprovisionerPolicy: { unconfigured: {} },
      },
    });
    expect(body.appOwnerEntitlement.appEntitlement).not.toHaveProperty("durationUnset");
  });

  it.each([
    ["", ["user-ada", "user-bob"]],
    ["?roleSlug=deputy", ["user-bob"]],
    ["?roleSlug=nobody", []],
  ])("finds user owners%s", async (query, ids) => {
    const { body } = await ask(service, "GET", `/api/v2/apps/app-1/users/au-1/owners/users${query}`);
    expect(
      body.list.map(({ userId, user }: { userId: string; user: { id: string } }) => [userId, user.id]),
    ).toEqual(ids.map((id) => [id, id]));
  });

  it("gives an empty list for an app that is not there", async () => {
    const answer = await ask(service, "GET", "/api/v2/apps/none/users/none/owners/users");
    expect(answer).toMatchObject({ status: 200, body: { list: [], nextPageToken: "" } });
  });
});

it("lists the credentials of a bridge, active and revoked, without their secrets (4.9)", async () => {
  const { body } = await ask(service, "GET", "/api/v1/iam/tunnel/bridges/bridge-1/credentials");
  expect(body).toEqual({
    list: [
      {
        id: "cred-1",
        bridgeId: "bridge-1",
        clientId: "tunnel-1",
        clientSecret: "",
        credentialStatus: "TUNNEL_CREDENTIAL_STATUS_ACTIVE",
        createdAt: "2026-01-01T00:00:00Z",
      },
      {
        id: "cred-2",
        bridgeId: "bridge-1",
        clientId: "",
        clientSecret: "",
        credentialStatus: "TUNNEL_CREDENTIAL_STATUS_REVOKED",
        createdAt: "2026-01-02T00:00:00Z",
        revokedAt: "2026-01-03T00:00:00Z",
      },
    ],
    nextPageToken: "",
  });
});
