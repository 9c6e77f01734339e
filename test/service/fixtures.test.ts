import { readFileSync } from "node:fs";
import { type Fixture, FixtureError, parseFixture } from "hookproof-service";
import { describe, expect, it } from "vitest";
import { fixtureSchema } from "../../service/src/state/fixture-schema.js";
import { FIXTURE } from "./fixture.js";
import { ask, startService } from "./running-service.js";

const YAML = `
# yaml-language-server: $schema=fixture.schema.json
users:
  - id: ada
    displayName: Ada
    createdAt: 2026-01-01T00:00:00Z
clients:
  - { id: ci, secret: not-a-secret, role: super-admin, userId: ada }
apps:
  - id: billing
    resourceTypes: [{ id: role, displayName: Role }]
    entitlements: [{ id: admin, slug: admin }]
    entitlementOwners: [{ roleSlug: owner, appId: billing, entitlementId: admin }]
    users: [{ id: robot, owners: [{ roleSlug: owner, userId: ada }] }]
suggestions:
  - { id: everybody, userIds: [ada] }
bridges:
  - id: dc1
    credentials: [{ id: cred1, credentialStatus: TUNNEL_CREDENTIAL_STATUS_ACTIVE }]
secrets:
  - { id: note, creatorUserId: ada, text: hunter2, views: 5 }
automations:
  - id: left
    listenerId: lst_left
    trigger: { hmac: {} }
    steps: [{ name: tell, templates: { text: "{{ ctx.trigger.userId }}" } }]
`;

async function mistake(text: string): Promise<string> {
  const error = await parseFixture(text, "team.yaml").catch((thrown: unknown) => thrown);
  if (!(error instanceof FixtureError)) throw new Error(`not refused: ${text}`);
  expect(error.code).toBe("FIXTURE_INVALID");
  return error.message;
}

describe("a fixture", () => {
  it("in YAML is what the service holds", async () => {
    const service = await startService({ fixture: await parseFixture(YAML) });
    const status = async (method: string, path: string, body?: object) =>
      (await ask(service, method, path, { body })).status;
    expect(await status("GET", "/api/v2/apps/billing/owners/entitlements/owner/billing/admin")).toBe(200);
    const cohort = await ask(service, "POST", "/api/v1/role-mining/suggestions/everybody/users", {
      body: {},
    });
    expect(cohort.body.list[0]).toMatchObject({
      id: "ada",
      createdAt: "2026-01-01T00:00:00Z",
      department: "",
    });
    expect((await ask(service, "GET", "/local/v1/automations/left")).body.automation.listenerId).toBe(
      "lst_left",
    );
  });

  it("in JSON, or with nothing in it, is one as well", async () => {
    expect(await parseFixture('{"users":[{"id":"ada"}]}')).toEqual({ users: [{ id: "ada" }] });
    expect(await parseFixture("")).toEqual({});
    expect(await parseFixture(JSON.stringify(FIXTURE))).toEqual(JSON.parse(JSON.stringify(FIXTURE)));
  });

  it.each([
    ["users:\n  - displayName: Ada", "team.yaml:2: users[0].id is missing"],
    ["users:\n  - id: ada\n    email: 7", "team.yaml:3: users[0].email must be string"],
    [
      "users:\n  - id: ada\n    emial: a@b",
      "team.yaml:3: users[0].emial is not known here; did you mean email?",
    ],
    ["user: []", "team.yaml:1: user is not known here; did you mean users?"],
    ["users: {}", "team.yaml:1: users must be array"],
    ["- users", "team.yaml: fixture must be object"],
    ["users: [", "team.yaml:1: "],
    ["users: []\nusers: []", "team.yaml:2: Map keys must be unique"],
    ["users:\n  - id: a b", "team.yaml:2: users[0].id must match pattern"],
    ["users:\n  - id: ada\n    createdAt: yesterday", "team.yaml:3: users[0].createdAt must match format"],
    ["users:\n  - id: ada\n  - id: ada", "team.yaml:3: users[1].id stands twice: ada"],
    [
      "suggestions:\n  - id: s\n    userIds:\n      - eve",
      "suggestions[0].userIds[0] is no user of the fixture: eve",
    ],
    ["clients: [{ id: c, userId: eve }]", "clients[0].userId is no user of the fixture: eve"],
    [
      "secrets: [{ id: s, creatorUserId: eve, text: t }]",
      "secrets[0].creatorUserId is no user of the fixture: eve",
    ],
    [
      "apps: [{ id: a, entitlementOwners: [{ roleSlug: o, appId: a, entitlementId: e }] }]",
      "apps[0].entitlementOwners[0].entitlementId is no entitlement of a: e",
    ],
    ["automations: [{ displayName: x }]", "automations[0].trigger is missing"],
    [
      `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]`,
      "alias",
    ],
  ])("with a mistake is refused with its place: %s", async (text, message) => {
    expect(await mistake(text)).toContain(message);
  });

  it.each<[field: string, fixture: Fixture]>([
    ["users[0].createdAt", { users: [{ id: "ada", createdAt: "2016-12-31T23:59:60Z" }] }],
    ["users[0].id", { users: [{ id: "" }] }],
    ["clients[0].id", { clients: [{ id: "", secret: "x" }] }],
    ["clients[0].secret", { clients: [{ id: "c", secret: "" }] }],
    ["clients[0].userId", { clients: [{ id: "c", userId: "" }] }],
    ["apps[0].createdAt", { apps: [{ id: "a", createdAt: "soon" }] }],
    ["apps[0].users[0].createdAt", { apps: [{ id: "a", users: [{ id: "u", createdAt: "soon" }] }] }],
    ["bridges[0].createdAt", { bridges: [{ id: "b", createdAt: "2026-02-30T00:00:00Z" }] }],
    ["suggestions[0].createdAt", { suggestions: [{ id: "s", createdAt: "" }] }],
    ...(["createdAt", "expiresAt", "revokedAt"] as const).map((name): [string, Fixture] => [
      `secrets[0].${name}`,
      {
        users: [{ id: "ada" }],
        secrets: [{ id: "s", creatorUserId: "ada", text: "t", [name]: "2016-12-31T23:59:60Z" }],
      },
    ]),
    [
      "secrets[0].allowedUserIds[0]",
      {
        users: [{ id: "ada" }],
        secrets: [{ id: "s", creatorUserId: "ada", text: "t", access: "INTERNAL", allowedUserIds: [""] }],
      },
    ],
    [
      "automations[0].createdAt",
      { automations: [{ trigger: { hmac: {} }, createdAt: "2016-12-31T23:59:60Z" }] },
    ],
    ["users[0].nickname", { users: [{ id: "ada", nickname: "a" } as never] }],
    ["secrets[0].creatorUserId", { secrets: [{ id: "s", creatorUserId: "eve", text: "t" }] }],
  ])("handed over as an object is checked like one from a file: %s", async (field, fixture) => {
    await expect(startService({ fixture })).rejects.toThrow(`${field} `);
  });

  it("may have times before 1970, which lists begin with", async () => {
    const credentials = [{ id: "old", createdAt: "1901-01-01T00:00:00Z" }, { id: "new" }];
    const service = await startService({ fixture: { bridges: [{ id: "b", credentials }] } });
    const { body } = await ask(service, "GET", "/api/v1/iam/tunnel/bridges/b/credentials");
    expect(body.list.map(({ id }: { id: string }) => id)).toEqual(["old", "new"]);
  });

  it("whose automation cannot run is refused when it is loaded", async () => {
    const fixture = await parseFixture(
      'automations: [{ trigger: { hmac: {} }, steps: [{ name: "a", condition: "1 +" }] }]',
    );
    await expect(startService({ fixture })).rejects.toThrow(/automations\[0\]\.steps\[0\]\.condition/);
  });

  it("has the JSON Schema that is shipped", () => {
    const shipped = readFileSync(new URL("../../service/fixture.schema.json", import.meta.url), "utf8");
    expect(JSON.parse(shipped), "npm run generate").toEqual(fixtureSchema());
  });
});
