import { diffStates, type Fixture } from "hookproof-service";
import { expect, it } from "vitest";
import { FIXTURE } from "./fixture.js";
import { ask, startService } from "./running-service.js";

it("names what a program did by room and id, with what was there before", async () => {
  const service = await startService();
  const before = await service.exportState();
  await ask(service, "DELETE", "/api/v1/auth-configs/ac-microsoft");
  await ask(service, "POST", "/api/v1/apps/app-1/resource_types/rt-manual", {
    body: { appResourceType: { displayName: "Gate" }, updateMask: "displayName" },
  });
  await ask(service, "POST", "/local/v1/state", { body: { users: [{ id: "eve", displayName: "Eve" }] } });
  const changes = diffStates(before, await service.exportState());
  expect(changes.map(({ kind, room, id }) => [kind, room, id])).toEqual([
    ["added", "users", "eve"],
    ["removed", "authConfigs", "ac-microsoft"],
    ["changed", "resourceTypes", "app-1/rt-manual"],
  ]);
  const [eve, gone, door] = changes;
  // Without defaults: what the file would say.
  expect(eve?.members.map(({ name }) => name)).toEqual(["displayName", "createdAt"]);
  expect(eve?.members[0]).toEqual({ name: "displayName", before: undefined, after: "Eve" });
  expect(gone?.members).toContainEqual({ name: "microsoft.tenantIds", before: ["t-1"], after: undefined });
  expect(door?.members).toContainEqual({ name: "displayName", before: "Door", after: "Gate" });
});

it("a fixture and the service that was started with it are the same", async () => {
  const service = await startService();
  expect(diffStates(FIXTURE, await service.exportState())).toEqual([]);
});

const secret = (text: string): Fixture => ({
  users: [{ id: "ada", profile: { apiSecret: text, team: text } }],
  clients: [{ id: "c", secret: text }],
  secrets: [{ id: "s", creatorUserId: "ada", text }],
  automations: [{ id: "a", signingSecret: text, trigger: { hmac: {} } }],
});

it("the format that texts have by default is no change", () => {
  const given = (inputFormat?: string): Fixture =>
    ({
      secrets: [{ id: "s", creatorUserId: "ada", text: "x", ...(inputFormat ? { inputFormat } : {}) }],
    }) as Fixture;
  expect(diffStates(given(), given("SECRET_INPUT_FORMAT_PLAINTEXT"))).toEqual([]);
});

it("that a secret changed is said, and no secret is shown", () => {
  const changes = diffStates(secret("hunter2"), secret("hunter3"));
  expect(changes.map(({ id, members }) => [id, members.map(({ name }) => name)])).toEqual([
    ["ada", ["profile.apiSecret", "profile.team"]],
    ["c", ["secret"]],
    ["s", ["text"]],
    ["a", ["signingSecret"]],
  ]);
  expect(JSON.stringify(changes.filter(({ id }) => id !== "ada"))).not.toContain("hunter");
  expect(changes[0]?.members[0]).toEqual({
    name: "profile.apiSecret",
    before: "[hidden]",
    after: "[hidden]",
  });
  expect(JSON.stringify(diffStates({}, { ...secret("hunter2"), users: [] }))).not.toContain("hunter2");
});

it("what is no fixture is refused by its field", () => {
  const wrong = { users: [{ id: "ada", createdAt: "soon" }] };
  expect(() => diffStates({}, wrong)).toThrow("fixture: users[0].createdAt must match format");
  expect(() => diffStates({ version: 2 }, {})).toThrow("fixture: version is 2");
});

it("what is in an app is told by itself", () => {
  const after: Fixture = {
    users: [{ id: "ada" }],
    apps: [
      {
        id: "billing",
        resourceTypes: [{ id: "role" }],
        entitlements: [{ id: "admin" }],
        entitlementOwners: [{ roleSlug: "owner", appId: "billing", entitlementId: "admin" }],
        grants: [{ entitlementId: "admin", userId: "ada" }],
        users: [{ id: "robot", displayName: "Robot", owners: [{ roleSlug: "owner", userId: "ada" }] }],
      },
    ],
    bridges: [{ id: "dc1", credentials: [{ id: "cred1", clientSecret: "hunter2" }] }],
    suggestions: [{ id: "all", userIds: ["ada"] }],
  };
  const names = diffStates({}, after).map(({ room, id, members }) => [room, id, members.length]);
  expect(names).toEqual([
    ["users", "ada", 0],
    ["apps", "billing", 0],
    ["resourceTypes", "billing/role", 0],
    ["entitlements", "billing/admin", 0],
    ["entitlementOwners", "billing/owner/billing/admin", 3],
    ["grants", "billing/admin/ada", 2],
    ["appUsers", "billing/robot", 1],
    ["userOwners", "billing/robot/owner/ada", 2],
    ["suggestions", "all", 1],
    ["bridges", "dc1", 0],
    ["credentials", "dc1/cred1", 1],
  ]);
  expect(JSON.stringify(diffStates({}, after))).not.toContain("hunter2");
});

it.each<[what: string, before: Fixture, after: Fixture, same: boolean]>([
  ["a default and its absence", { users: [{ id: "a", email: "" }] }, { users: [{ id: "a" }] }, true],
  [
    "a time that one side leaves out",
    { users: [{ id: "a", createdAt: "2026-01-01T00:00:00Z" }] },
    { users: [{ id: "a" }] },
    true,
  ],
  [
    "two times",
    { users: [{ id: "a", createdAt: "2026-01-01T00:00:00Z" }] },
    { users: [{ id: "a", createdAt: "2026-01-02T00:00:00Z" }] },
    false,
  ],
  [
    "lists in another order of ids",
    { users: [{ id: "a" }, { id: "b" }] },
    { users: [{ id: "b" }, { id: "a" }] },
    true,
  ],
  [
    "a content that was not exported",
    { secrets: secret("[hidden]").secrets },
    { secrets: secret("hunter2").secrets },
    true,
  ],
  ["an empty profile and none", { users: [{ id: "a", profile: {} }] }, { users: [{ id: "a" }] }, false],
  [
    "an owner",
    { apps: [{ id: "p", users: [{ id: "u", owners: [{ roleSlug: "o", userId: "a" }] }] }] },
    { apps: [{ id: "p", users: [{ id: "u" }] }] },
    false,
  ],
])("%s", (_, before, after, same) => {
  expect(diffStates(before, after).length === 0).toBe(same);
  expect(diffStates(after, before).length === 0).toBe(same);
});
