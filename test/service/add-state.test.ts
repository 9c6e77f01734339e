import { expect, it } from "vitest";
import { ask, startService } from "./running-service.js";

const STATE = "/local/v1/state";
const NEW = {
  users: [{ id: "eve", displayName: "Eve", email: "eve@example.com", managerIds: ["user-ada"] }],
  clients: [{ id: "name-1@example.com/pcc", secret: "eve-secret", userId: "eve" }],
  authConfigs: [{ id: "ac-new", okta: { domain: "example.com" } }],
  apps: [
    {
      id: "app-1",
      resourceTypes: [{ id: "rt-new", displayName: "New" }],
      entitlements: [{ id: "ent-new" }],
      entitlementOwners: [
        { roleSlug: "owner", appId: "app-1", entitlementId: "ent-new" },
        { roleSlug: "deputy", appId: "app-1", entitlementId: "ent-1" },
      ],
      users: [{ id: "au-1", owners: [{ roleSlug: "backup", userId: "eve" }] }],
    },
  ],
  suggestions: [
    { id: "cohort-1", userIds: ["eve"] },
    { id: "cohort-new", userIds: ["user-ada", "eve"] },
  ],
  bridges: [{ id: "bridge-1", credentials: [{ id: "cred-new" }] }, { id: "bridge-new" }],
  secrets: [{ id: "note-new", creatorUserId: "user-ada", text: "hunter2" }],
  automations: [{ id: "auto-new", trigger: { hmac: {} } }],
};

it("what can be read can be made, next to what is there and in it, and a reset takes it back", async () => {
  const service = await startService();
  const get = (path: string) => ask(service, "GET", path);
  const listed = async (path: string, body?: object) =>
    (await ask(service, body ? "POST" : "GET", path, { body })).body.list.map(
      (one: { id?: string; userId?: string }) => one.id ?? one.userId,
    );
  expect(await ask(service, "POST", STATE, { body: NEW })).toMatchObject({ status: 200, body: {} });
  expect((await get("/api/v1/auth-configs/ac-new")).body.authConfig.providerType).toBe(
    "AUTH_CONFIG_PROVIDER_TYPE_OKTA",
  );
  expect((await get("/api/v2/apps/app-1/owners/entitlements/owner/app-1/ent-new")).status).toBe(200);
  expect((await get("/api/v2/apps/app-1/owners/entitlements/deputy/app-1/ent-1")).status).toBe(200);
  expect(await listed("/api/v2/apps/app-1/users/au-1/owners/users?role_slug=backup")).toEqual(["eve"]);
  expect(await listed("/api/v1/role-mining/suggestions/cohort-1/users", {})).toContain("eve");
  expect(await listed("/api/v1/role-mining/suggestions/cohort-new/users", {})).toEqual(["user-ada", "eve"]);
  expect(await listed("/api/v1/iam/tunnel/bridges/bridge-1/credentials")).toContain("cred-new");
  expect(await listed("/api/v1/iam/tunnel/bridges/bridge-new/credentials")).toEqual([]);
  expect((await get("/local/v1/automations/auto-new")).status).toBe(200);
  const renamed = await ask(service, "POST", "/api/v1/apps/app-1/resource_types/rt-new", {
    body: { appResourceType: { displayName: "Gate" } },
  });
  expect(renamed.body.appResourceType.displayName).toBe("Gate");
  const form = {
    grant_type: "client_credentials",
    client_id: "name-1@example.com/pcc",
    client_secret: "eve-secret",
  };
  expect(
    (await fetch(`${service.url}/auth/v1/token`, { method: "POST", body: new URLSearchParams(form) })).status,
  ).toBe(200);

  await service.reset();
  expect((await get("/api/v1/auth-configs/ac-new")).status).toBe(404);
  expect(await listed("/api/v1/role-mining/suggestions/cohort-1/users", {})).not.toContain("eve");
});

it("is added as a whole or not at all, and what is wrong is named with its path", async () => {
  const service = await startService();
  const cases: [body: object, status: number, field: string | undefined][] = [
    [{ users: [{ id: "eve" }, { id: "user-ada" }] }, 409, undefined],
    [{ users: [{ id: "eve" }], authConfigs: [{ id: "ac-okta" }] }, 409, undefined],
    [
      { users: [{ id: "eve" }], suggestions: [{ id: "s", userIds: ["nobody"] }] },
      400,
      "suggestions[0].userIds[0]",
    ],
    [{ users: [{ id: "eve" }], authConfigs: [{ id: "x", okta: {}, oidc: {} }] }, 400, "authConfigs[0]"],
    [
      { users: [{ id: "eve" }], automations: [{ trigger: { hmac: {} }, allowedCidrs: ["10.0.0.1/8"] }] },
      400,
      "automations[0].allowedCidrs[0]",
    ],
    [{ users: [{ id: "eve" }], nothing: [] }, 400, "nothing"],
  ];
  for (const [body, status, field] of cases) {
    const answer = await ask(service, "POST", STATE, { body });
    expect([body, answer.status]).toEqual([body, status]);
    if (field !== undefined) expect(answer.body.details[0].fieldViolations[0].field).toBe(field);
  }
  expect((await ask(service, "POST", STATE, { body: { users: [{ id: "eve" }] } })).status).toBe(200);
});
