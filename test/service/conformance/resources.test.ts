import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { createService, type Fixture, type Service } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask } from "../running-service.js";
import { fieldTables } from "../specification.js";

/** What the document says of resources (section 2), read from the service over HTTP. */

const POLICIES = {
  action: { actionName: "a", appId: "b", connectorId: "c", displayName: "d" },
  connector: {
    account: { config: { any: [1] }, connectorId: "a", schemaId: "b", saveToVault: { vaultIds: ["c"] } },
  },
  delegated: { appId: "a", entitlementId: "b", implicit: true },
  devicePlacement: { vaultBoundaryId: "a" },
  externalTicket: {
    appId: "a",
    connectorId: "b",
    externalTicketProvisionerConfigId: "c",
    instructions: "d",
  },
  manual: { assignee: {}, instructions: "a", userIds: ["user-1"] },
  multiStep: { provisionSteps: [{ any: "step" }] },
  unconfigured: {},
  webhook: { webhookId: "a" },
};
const OWNERS = { allowReassignment: true, fallbackUserIds: ["user-1"] };
const ASSIGNEES = {
  appOwners: OWNERS,
  entitlementOwners: OWNERS,
  expression: { ...OWNERS, expressions: ["a"] },
  group: { ...OWNERS, appGroupId: "a", appId: "b" },
  manager: OWNERS,
  users: { allowReassignment: true, userIds: ["user-1"] },
};

/** Every policy there is, by the id of the entitlement that has it. */
const policies: Record<string, object> = {
  ...Object.fromEntries(Object.entries(POLICIES).map(([name, of]) => [name, { [name]: of }])),
  "connector-not-saved": { connector: { account: { connectorId: "a", schemaId: "b", doNotSave: {} } } },
  "connector-default": { connector: { defaultBehavior: { connectorId: "a" } } },
  "connector-delete": { connector: { deleteAccount: { connectorId: "a" } } },
  ...Object.fromEntries(
    Object.entries(ASSIGNEES).map(([name, of]) => [
      `manual-${name}`,
      { manual: { assignee: { [name]: of } } },
    ]),
  ),
};

/** A value of a field as its table has it: an enumerated one that the table names. */
function exampleOf(name: string, type: string): unknown {
  if (type.includes("enum")) return /[A-Z][A-Z_]{3,}/.exec(type)?.[0] ?? "OF_TOMORROW";
  if (type.includes("attribute source"))
    return [
      {
        appId: "app-1",
        appUserId: "au-1",
        appUserProfileAttributeKey: "key",
        priority: 2,
        userAttributeMappingId: "mapping",
        value: "value",
      },
    ];
  if (type.includes("[]")) return ["a", "b"];
  if (type.includes("date-time")) return "2026-01-02T03:04:05Z";
  if (type.includes("empty object")) return {};
  if (type.includes("object")) return { any: { thing: [1, null] } };
  if (type.includes("boolean")) return true;
  if (type.includes("policy")) return { unconfigured: {} };
  return { grantCount: "9007199254740993", durationGrant: "3600s", appId: "app-1" }[name] ?? `${name} of it`;
}

/** A resource with every field of its table. */
function whole(section: string, fields: object = {}): never {
  const table = fieldTables().filter((one) => one.section === section);
  const values = table.map(({ name, type }) => [name, exampleOf(name, type)]);
  return { ...Object.fromEntries(values), ...fields } as never;
}

const user = whole("2.4", { id: "user-1", delegatedUserId: "user-1", managerIds: ["user-1"] }) as {
  id: string;
};
const config = whole("2.2", { id: "config" });
const resourceType = whole("2.3", { id: "type-1" });
const credential = whole("2.7", { id: "cred-1", bridgeId: "bridge-1" });
const entitlement: Record<string, unknown> = whole("2.5", { id: "ent-1" });
const { durationUnset, ...limited } = entitlement;
const { durationGrant, ...unlimited } = entitlement;
const FIXTURE: Fixture = {
  users: [user],
  authConfigs: [
    config,
    { id: "elsewhere", createdAt: "2026-01-01T01:30:00+01:30", updatedAt: "2026-01-01t00:00:00z" },
  ],
  apps: [
    {
      id: "app-1",
      resourceTypes: [resourceType],
      entitlements: [
        limited as never,
        { ...unlimited, id: "unset" } as never,
        ...Object.entries(policies).map(([id, provisionerPolicy]) => ({ id, provisionerPolicy }) as never),
      ],
      entitlementOwners: ["ent-1", "unset", ...Object.keys(policies)].map((entitlementId) => ({
        roleSlug: "owner",
        appId: "app-1",
        entitlementId,
        createdAt: "2026-01-02T03:04:05Z",
      })),
      users: [
        { id: "au-1", owners: [{ roleSlug: "owner", userId: "user-1", createdAt: "2026-01-02T03:04:05Z" }] },
      ],
    },
  ],
  suggestions: [{ id: "cohort-1", userIds: ["user-1"] }],
  bridges: [{ id: "bridge-1", credentials: [credential] }],
};

const recipient = await identityToRecipient(await generateX25519Identity());
let service: Service;
beforeAll(async () => {
  service = await createService({ fixture: FIXTURE, validateAnswers: true });
});
afterAll(() => service?.stop());

const owned = async (id: string) =>
  (await ask(service, "GET", `/api/v2/apps/app-1/owners/entitlements/owner/app-1/${id}`)).body
    .appOwnerEntitlement;

/** Each resource as it was given, and how it is read; at the end what is another by intent. */
const READ: [section: string, given: object, read: () => Promise<Record<string, unknown>>, but?: object][] = [
  ["2.2", config, async () => (await ask(service, "GET", "/api/v1/auth-configs/config")).body.authConfig],
  [
    "2.3",
    resourceType,
    async () =>
      (await ask(service, "POST", "/api/v1/apps/app-1/resource_types/type-1", { body: {} })).body
        .appResourceType,
    // A call is an update, also of nothing.
    { updatedAt: expect.stringMatching(/Z$/) },
  ],
  [
    "2.4",
    user,
    async () =>
      (await ask(service, "POST", "/api/v1/role-mining/suggestions/cohort-1/users", { body: {} })).body
        .list[0],
  ],
  // One of the two that say how long.
  ["2.5", entitlement, async () => ({ ...(await owned("ent-1")).appEntitlement, durationUnset: {} })],
  [
    "2.7",
    credential,
    async () => (await ask(service, "GET", "/api/v1/iam/tunnel/bridges/bridge-1/credentials")).body.list[0],
    // Shown once, when it is made.
    { clientSecret: "" },
  ],
];

describe("a resource over HTTP", () => {
  it.each(READ)("has every field of the table of %s, as it was given", async (section, given, read, but) => {
    const table = fieldTables().filter((one) => one.section === section);
    const answered = await read();
    const fields = table.map(({ name }) => [name, answered[name]]);
    expect(Object.fromEntries(fields)).toEqual({ ...given, ...but });
  });

  it("an entitlement without an end says so by an empty object, in the place of a duration", async () => {
    const { appEntitlement } = await owned("unset");
    expect(appEntitlement.durationUnset).toEqual({});
    expect(appEntitlement).not.toHaveProperty("durationGrant");
  });

  it.each(Object.entries(policies))("has the provisioning policy %s, as it was given", async (id, policy) => {
    expect((await owned(id)).appEntitlement.provisionerPolicy).toMatchObject(policy);
  });

  it("an owner entitlement has its entitlement, app, role and time", async () => {
    const { appEntitlement, ...owner } = await owned("ent-1");
    expect(owner).toEqual({ appId: "app-1", roleSlug: "owner", createdAt: "2026-01-02T03:04:05.000Z" });
    expect(appEntitlement.id).toBe("ent-1");
  });

  it("a user owner has its app, role, user and time", async () => {
    const { body } = await ask(service, "GET", "/api/v2/apps/app-1/users/au-1/owners/users");
    expect(body.list).toEqual([
      { appId: "app-1", roleSlug: "owner", userId: "user-1", user, createdAt: "2026-01-02T03:04:05.000Z" },
    ]);
  });
});

it("a time that was given with an offset is answered in UTC", async () => {
  const { body } = await ask(service, "GET", "/api/v1/auth-configs/elsewhere");
  const time = "2026-01-01T00:00:00.000Z";
  expect(body.authConfig).toMatchObject({ createdAt: time, updatedAt: time });
});

describe("the content of a secret", () => {
  const view = async (input: object) => {
    const made = await ask(service, "POST", "/local/v1/secrets", {
      body: { creatorUserId: "user-1", ...input },
    });
    const path = `/api/v1/secrets/${made.body.id}/view`;
    return (await ask(service, "POST", path, { body: { readerRecipient: recipient } })).body;
  };

  it.each(["UNSPECIFIED", "PLAINTEXT", "JSON", "YAML", "KEY_VALUE"])(
    "of text has its fields, and the format %s",
    async (format) => {
      const inputFormat = `SECRET_INPUT_FORMAT_${format}`;
      expect(await view({ text: "hunter2", inputFormat, views: 3 })).toEqual({
        encryptedContent: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
        createdAt: expect.stringMatching(/Z$/),
        creatorUserId: "user-1",
        filename: "",
        inputFormat,
        secretType: "SECRET_TYPE_TEXT",
        viewsRemaining: 2,
      });
    },
  );

  it("of a file has its fields, and a URL in the place of the content", async () => {
    const file = { filename: "a.age", contentBase64: "AAEC" };
    expect(await view({ file })).toEqual({
      downloadUrl: expect.stringMatching(/^http/),
      createdAt: expect.stringMatching(/Z$/),
      creatorUserId: "user-1",
      filename: "a.age",
      inputFormat: "SECRET_INPUT_FORMAT_UNSPECIFIED",
      secretType: "SECRET_TYPE_FILE",
      viewsRemaining: -1,
    });
  });
});
