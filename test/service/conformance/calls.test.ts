import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { createService, type Service } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIXTURE } from "../fixture.js";
import { type Answer, ask, startService } from "../running-service.js";

/** What the document says of every call (sections 1, 5.1 and 8), and of no operation alone. */

const MANY = 120;
const COHORT = "/api/v1/role-mining/suggestions/many/users";
const EVENTS = "/api/v1/search/secrets-admin/audit_events";
const OWNERS = "/api/v2/apps/many/users/many/owners/users";
const CREDENTIALS = "/api/v1/iam/tunnel/bridges/many/credentials";

const userIds = Array.from({ length: MANY }, (_, n) => `user-${n}`);
const recipient = await identityToRecipient(await generateX25519Identity());

let service: Service;
beforeAll(async () => {
  service = await createService({
    fixture: {
      ...FIXTURE,
      users: [...(FIXTURE.users ?? []), ...userIds.map((id) => ({ id }))],
      apps: [
        ...(FIXTURE.apps ?? []),
        {
          id: "many",
          users: [{ id: "many", owners: userIds.map((userId) => ({ roleSlug: "owner", userId })) }],
        },
      ],
      suggestions: [...(FIXTURE.suggestions ?? []), { id: "many", userIds }],
      bridges: [...(FIXTURE.bridges ?? []), { id: "many", credentials: userIds.map((id) => ({ id })) }],
      secrets: userIds.map((id) => ({ id, creatorUserId: "user-ada", text: "hunter2" })),
    },
    validateAnswers: true,
  });
});
afterAll(() => service?.stop());

/** The operations of section 4 that take a token, each as it succeeds. */
const CALLS: [section: string, method: string, path: string, body?: object][] = [
  ["4.1", "POST", "/api/v1/secrets/user-1/view", { readerRecipient: recipient }],
  ["4.3", "GET", "/api/v1/auth-configs/ac-oidc"],
  ["4.4", "POST", "/api/v1/apps/app-1/resource_types/rt-manual", {}],
  ["4.5", "POST", "/api/v1/role-mining/suggestions/cohort-1/users", {}],
  ["4.6", "POST", EVENTS, {}],
  ["4.7", "GET", "/api/v2/apps/app-1/owners/entitlements/owner/app-1/ent-1"],
  ["4.8", "GET", "/api/v2/apps/app-1/users/au-1/owners/users"],
  ["4.9", "GET", "/api/v1/iam/tunnel/bridges/bridge-1/credentials"],
  ["4.2", "DELETE", "/api/v1/auth-configs/ac-local", {}],
];

const LISTS: [section: string, method: "GET" | "POST", path: string][] = [
  ["4.5", "POST", COHORT],
  ["4.6", "POST", EVENTS],
  ["4.8", "GET", OWNERS],
  ["4.9", "GET", CREDENTIALS],
];

/** A page, asked for in the place the document has for it: the query of a GET, the body of a POST. */
function page(method: string, path: string, pageSize?: number, pageToken = ""): Promise<Answer> {
  if (method === "POST") return ask(service, method, path, { body: { pageSize, pageToken } });
  const size = pageSize === undefined ? "" : `page_size=${pageSize}&`;
  return ask(service, method, `${path}?${size}page_token=${pageToken}`);
}

/** Every member of a value with its name, those of free-form objects left out. */
function members(value: unknown): [name: string, value: unknown][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    if (["profile", "annotations", "exactMatchClaims"].includes(name)) return [[name, inner]];
    const below = members(inner);
    return Array.isArray(value) ? below : [[name, inner], ...below];
  });
}

describe("a call", () => {
  it.each(CALLS)("%s is 401 without a bearer token", async (_section, method, path, body) => {
    for (const Authorization of ["", "Basic cm9ib3Q6c2VjcmV0"])
      expect((await ask(service, method, path, { body, headers: { Authorization } })).status).toBe(401);
  });

  it.each(CALLS)(
    "%s that succeeds is 200 with application/json, camelCase and times in UTC",
    async (section, method, path, body) => {
      const answer = await ask(service, method, path, { body });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
      const all = members(answer.body);
      const names = all.map(([name]) => name);
      // The names of an audit event are OCSF's: the document shows none.
      const other = section === "4.6" ? ["activity_name", "email_addr", "src_endpoint"] : ["@type"];
      expect(names.filter((name) => !/^[a-z][a-zA-Z0-9]*$/.test(name) && !other.includes(name))).toEqual([]);
      const times = all.filter(([name]) => /(At|Deadline|Time|^time)$/.test(name)).map(([, time]) => time);
      for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    },
  );
});

describe("a list", () => {
  it.each(LISTS)(
    "of %s has pages of 10 to 100, and of 25 if none is asked for",
    async (_section, method, path) => {
      for (const [asked, given] of [
        [undefined, 25],
        [0, 10],
        [1, 10],
        [9, 10],
        [10, 10],
        [11, 11],
        [100, 100],
        [101, 100],
      ] as const)
        expect([asked, (await page(method, path, asked)).body.list.length]).toEqual([asked, given]);
    },
  );

  it.each(LISTS)(
    "of %s has a token on each page but the last, which leads to the next",
    async (_section, method, path) => {
      const sizes = [];
      let token = "";
      do {
        const { body } = await page(method, path, 50, token);
        sizes.push(body.list.length);
        token = body.nextPageToken;
      } while (token !== "");
      // Views are recorded while this runs.
      expect(sizes.slice(0, 2)).toEqual([50, 50]);
      expect(sizes).toHaveLength(3);
    },
  );
});

describe("what is deprecated or ignored", () => {
  it("selectedEntitlements changes nothing, and usersWithCoverage is empty", async () => {
    const path = "/api/v1/role-mining/suggestions/cohort-1/users";
    const selectedEntitlements = [{ appId: "app-1", entitlementId: "ent-1" }];
    const [without, beside] = [
      await ask(service, "POST", path, { body: {} }),
      await ask(service, "POST", path, { body: { selectedEntitlements } }),
    ];
    expect(beside.body).toEqual(without.body);
    expect(beside.body.usersWithCoverage).toEqual([]);
  });
});

describe("a client's credentials", () => {
  it("are taken in the body of a token request and refused in its headers", async () => {
    const own = await startService();
    const ask = (body: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(`${own.url}/auth/v1/token`, { method: "POST", body: new URLSearchParams(body), headers });
    const grant = { grant_type: "client_credentials" };
    const inBody = await ask({ ...grant, client_id: own.clientId, client_secret: own.clientSecret });
    expect(inBody.status).toBe(200);
    const basic = Buffer.from(`${own.clientId}:${own.clientSecret}`).toString("base64");
    expect((await ask(grant, { Authorization: `Basic ${basic}` })).status).toBe(401);
  });
});
