import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { openSqlite } from "hookproof/node";
import {
  createService,
  diffStates,
  exportDatabase,
  type Fixture,
  FixtureError,
  formatFixture,
  parseFixture,
  readFixture,
  type Service,
} from "hookproof-service";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { FIXTURE } from "./fixture.js";
import { ask, askControl, startService } from "./running-service.js";

/** What only an export can hold: secrets in every state, and texts that YAML reads as something else. */
const MORE: Fixture = {
  ...FIXTURE,
  apps: (FIXTURE.apps ?? []).map((app) =>
    app.id === "app-1" ? { ...app, grants: [{ entitlementId: "ent-1", userId: "user-ada" }] } : app,
  ),
  users: [
    ...(FIXTURE.users ?? []),
    {
      id: "user-odd",
      displayName: "no",
      department: "- a: b # c\n  \u2028\u0085 'x' \"y\"\t",
      jobTitle: "2026-01-01",
      email: "~",
      profile: JSON.parse('{"":"","yes":"null","a.b":0.1,"<<":[[],{}],"__proto__":"x","1":1e21}'),
    },
  ],
  clients: [{ id: "ci", secret: "not-a-secret", role: "super-admin", userId: "user-ada" }],
  secrets: [
    { id: "note", creatorUserId: "user-ada", text: "hunter2", views: 2, allowedUserIds: ["user-bob"] },
    { id: "gone", creatorUserId: "user-ada", text: "hunter2", views: 1 },
    { id: "ended", creatorUserId: "user-bob", revokedAt: "2026-01-03T00:00:00Z" },
    {
      id: "report",
      creatorUserId: "user-ada",
      access: "INTERNAL",
      expiresAt: "2999-01-01T00:00:00Z",
      file: { filename: "a.age", contentBase64: "aHVudGVyMg==" },
    },
  ],
  automations: [
    {
      id: "left",
      listenerId: "lst-left",
      signingSecret: "hunter2-signing",
      trigger: { hmac: {} },
      allowedCidrs: ["203.0.113.0/24"],
      enabled: false,
      steps: [{ name: "tell", condition: "true", templates: { text: "{{ ctx.trigger.userId }}" } }],
    },
    { id: "jobs", trigger: { jwt: { jwksUrl: "https://keys.example.com/jwks.json" } } },
  ],
};

const text = async (service: Service, withSecrets = false) =>
  formatFixture(await service.exportState({ withSecrets }));

async function reader(): Promise<string> {
  return identityToRecipient(await generateX25519Identity());
}

it.each([false, true])(
  "what is exported and loaded is exported again as the same bytes (withSecrets %s)",
  async (withSecrets) => {
    const first = await startService({ fixture: MORE });
    expect(
      (await ask(first, "POST", "/api/v1/secrets/gone/view", { body: { readerRecipient: await reader() } }))
        .status,
    ).toBe(200);
    await ask(first, "DELETE", "/api/v1/auth-configs/ac-okta");
    const exported = await text(first, withSecrets);
    const second = await startService({ fixture: await parseFixture(exported) });
    expect(await text(second, withSecrets)).toBe(exported);
    expect(exported).toContain("grants:");
    // What is made anew is not of the state.
    expect(exported).not.toMatch(/local-admin-secret|minted:/);
    for (const path of [
      ...(MORE.authConfigs ?? []).slice(2).map(({ id }) => `/api/v1/auth-configs/${id}`),
      "/api/v1/iam/tunnel/bridges/bridge-1/credentials",
      "/api/v2/apps/app-1/users/au-1/owners/users",
      "/api/v2/apps/app-1/owners/entitlements/owner/app-1/ent-1",
      "/local/v1/automations",
    ]) {
      const [was, is] = [await ask(first, "GET", path), await ask(second, "GET", path)];
      // The listener's URL has the port.
      const body = JSON.parse(JSON.stringify(is.body).replaceAll(second.url, first.url));
      expect([is.status, body], path).toEqual([was.status, was.body]);
    }
    const cohort = "/api/v1/role-mining/suggestions/cohort-1/users";
    expect((await ask(second, "POST", cohort, { body: {} })).body).toEqual(
      (await ask(first, "POST", cohort, { body: {} })).body,
    );
    const form = { grant_type: "client_credentials", client_id: "ci", client_secret: "not-a-secret" };
    const token = await fetch(`${second.url}/auth/v1/token`, {
      method: "POST",
      body: new URLSearchParams(form),
    });
    expect(token.status).toBe(200);
    expect(
      (await ask(second, "POST", "/api/v1/secrets/gone/view", { body: { readerRecipient: await reader() } }))
        .status,
    ).toBe(404);
  },
);

it("no secret is in an export that was not asked for them, and all of them in one that was", async () => {
  const service = await startService({ fixture: MORE });
  const [closed, open] = [await text(service), await text(service, true)];
  expect(closed).not.toMatch(/hunter2|not-a-secret|aHVudGVyMg/);
  expect(closed).toContain('text: "[hidden]"');
  expect(closed).not.toContain("signingSecret");
  expect(open.match(/hunter2/g)).toHaveLength(3);
  expect(open).toContain("contentBase64: aHVudGVyMg==");
  expect(open).not.toContain("not-a-secret");
});

it("a made-up state is the same bytes again, from a database too, whatever runs over it", async () => {
  const db = join(temporaryFolder("export"), "service.db");
  const service = await createService({ db, seed: 7, users: 20 });
  onTestFinished(() => service.stop());
  const exported = await formatFixture(await exportDatabase({ db }));
  expect(exported).toBe(await text(service));
  expect(exported).toMatch(/^version: 1\nusers:\n {2}- id: /);
  const other = await startService({ fixture: await parseFixture(exported) });
  expect(await text(other)).toBe(exported);
  await expect(exportDatabase({ db: `${db}.none` })).rejects.toMatchObject({ code: "DATABASE_MISSING" });
});

it("a change is one line of the file", async () => {
  const service = await startService();
  const before = (await text(service)).split("\n");
  await ask(service, "POST", "/api/v1/apps/app-1/resource_types/rt-manual", {
    body: { appResourceType: { displayName: "Gate" }, updateMask: "displayName" },
  });
  const after = (await text(service)).split("\n");
  const gone = before.filter((line) => !after.includes(line));
  expect(gone.map((line) => line.trim())).toEqual(["displayName: Door"]);
});

it("the remote control exports it too, and the answer can be loaded", async () => {
  const service = await startService({ fixture: MORE });
  const { status, body } = await askControl(service, "POST", "state/export", {});
  expect([status, body]).toEqual([200, JSON.parse(JSON.stringify(await service.exportState()))]);
  expect(
    JSON.stringify((await askControl(service, "POST", "state/export", { withSecrets: true })).body),
  ).toContain("hunter2");
  const member = `Bearer ${await service.token({ role: "member" })}`;
  const refused = await ask(service, "POST", "/local/v1/state/export", {
    body: {},
    headers: { Authorization: member },
  });
  expect(refused.status).toBe(403);
});

it("a file above 8 MiB is refused by its secret's id and not cut", async () => {
  const service = await startService({ fixture: { users: [{ id: "ada" }] } });
  const upload = await fetch(`${service.url}/local/v1/secrets/upload?filename=large.age&creatorUserId=ada`, {
    method: "POST",
    headers: { Authorization: `Bearer ${await service.token()}` },
    body: randomBytes(8 * 2 ** 20 + 1),
  });
  const { id } = (await upload.json()) as { id: string };
  await expect(service.exportState({ withSecrets: true })).rejects.toMatchObject({
    code: "FILE_TOO_LARGE",
    message: expect.stringContaining(id),
  });
  expect((await askControl(service, "POST", "state/export", { withSecrets: true })).status).toBe(400);
  expect((await service.exportState()).secrets?.[0]?.file?.filename).toBe("large.age");
});

it.each([
  ["version: 2\nrooms: []", "team.yaml:1: version is 2, and this release reads version 1"],
  ["users: &a\n  - id: ada\n    profile: { all: *a }", "team.yaml:3: users[0].profile.all is part of itself"],
  ["users: &a [*a]", "users[0] is part of itself"],
  [`users: [${"1,".repeat(1_600_000)}]`, "has more than 3 million words and signs"],
  [`version: "${"x".repeat(2 ** 24)}"`, "has more than 16 MiB"],
  [`users: ${"[".repeat(20_000)}${"]".repeat(20_000)}`, "is nested too deeply"],
  [
    `users: [{ id: ada, profile: ${"{ a: ".repeat(501)}1${" }".repeat(501)} }]`,
    "is nested deeper than 500 levels",
  ],
  [
    // 300 levels that stand once near the top, and once below 300 more.
    `users: [{ id: ada, profile: { b: &b ${"{ a: ".repeat(300)}1${" }".repeat(300)}, c: ${"{ a: ".repeat(300)}*b${" }".repeat(300)} } }]`,
    "is nested deeper than 500 levels",
  ],
  ["clients: [{ id: c, secretHash: hunter2 }]", "clients[0].secretHash must match pattern"],
  [
    `clients: [{ id: c, secret: x, secretHash: ${"a".repeat(22)}.${"b".repeat(43)} }]`,
    "clients[0].secretHash stands next to secret",
  ],
  ["users: [{ id: ada }]\nsecrets: [{ id: s, creatorUserId: ada, views: 1 }]", "secrets[0].text is missing"],
])("a file that cannot be used is refused with its place: %#", async (yaml, message) => {
  const error = await parseFixture(yaml, "team.yaml").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(FixtureError);
  expect((error as Error).message).toContain(message);
});

it("a database of another program is refused, and its bytes stay", async () => {
  const db = join(temporaryFolder("other"), "notes.db");
  const other = openSqlite(db, { from: import.meta.url });
  other.exec("CREATE TABLE notes (text TEXT)");
  other.close();
  chmodSync(db, 0o600);
  const before = readFileSync(db);
  await expect(exportDatabase({ db })).rejects.toThrow("it is a database of another program");
  await expect(createService({ db })).rejects.toThrow("it is a database of another program");
  expect(readFileSync(db).equals(before)).toBe(true);
});

it("an export waits for nobody who writes", async () => {
  const db = join(temporaryFolder("reading"), "service.db");
  const service = await startService({ db });
  const writer = openSqlite(db, { from: import.meta.url });
  writer.exec("BEGIN IMMEDIATE");
  const began = await service.exportState().finally(() => writer.exec("ROLLBACK"));
  writer.close();
  expect(diffStates(FIXTURE, began)).toEqual([]);
});

it("a cyclic object is refused where it is handed over", async () => {
  const profile: Record<string, unknown> = {};
  profile.self = profile;
  const users = [{ id: "ada", profile }];
  await expect(createService({ fixture: { users } })).rejects.toThrow(
    "users[0].profile.self is part of itself",
  );
  expect(() => diffStates({ users }, {})).toThrow("users[0].profile.self is part of itself");
});

it("an export that somebody edited is loaded with the change and nothing else", async () => {
  const service = await startService({ fixture: MORE });
  const file = join(temporaryFolder("export"), "team.yaml");
  writeFileSync(
    file,
    (await text(service)).replace("displayName: Ada", "displayName: Ada Lovelace # of late"),
  );
  const edited = await startService({ fixture: await readFixture(file) });
  expect(diffStates(await service.exportState(), await edited.exportState())).toEqual([
    {
      kind: "changed",
      room: "users",
      id: "user-ada",
      members: [{ name: "displayName", before: "Ada", after: "Ada Lovelace" }],
    },
  ]);
});
