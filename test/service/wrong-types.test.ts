import { readdirSync, readFileSync } from "node:fs";
import { createService, type Service } from "hookproof-service";
import { type Dispatcher, request } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "../../service/src/api/operations.js";
import { tooMuch } from "../kit/cost.js";
import { FIXTURE } from "./fixture.js";
import { ask } from "./running-service.js";

/** What a body of 1 MiB may cost, in time of the processor, with the client's part. */
const MAX_MS = 750;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const READER = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg";
const AUTOMATION: Json = {
  displayName: "x",
  trigger: { hmac: {} },
  allowedCidrs: ["127.0.0.1/32"],
  published: true,
  enabled: true,
  steps: [{ name: "a", condition: "true", templates: { text: "{{ ctx.trigger.id }}", list: [1, null] } }],
};

/** A path that leads somewhere and bodies that are taken, for every operation that has one. */
const CALLS: Record<string, { path: string; bodies: Json[]; status?: number }> = {
  debugAutomation: {
    path: "/local/v1/automations/auto-1/debug",
    bodies: [{ event: { userId: "u_1", n: [1, null] } }],
  },
  createToken: {
    path: "/auth/v1/token",
    // With a secret each of them would cost as much as a guess does.
    status: 401,
    bodies: [
      {
        grant_type: "client_credentials",
        client_id: "robot",
        client_assertion: "none",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        scope: "any",
      },
    ],
  },
  viewSecret: { path: "/api/v1/secrets/note/view", bodies: [{ readerRecipient: READER }] },
  deleteAuthConfig: { path: "/api/v1/auth-configs/ac-okta", bodies: [{}] },
  updateResourceType: {
    path: "/api/v1/apps/app-1/resource_types/rt-manual",
    bodies: [
      { appResourceType: { displayName: "Door", traitIds: ["a"] }, updateMask: "displayName,traitIds" },
    ],
  },
  searchCohortUsers: {
    path: "/api/v1/role-mining/suggestions/cohort-1/users",
    bodies: [
      {
        pageSize: 10,
        pageToken: "",
        profileFilters: [{ attribute: "profile.team", values: ["blue"] }],
        selectedEntitlements: [],
      },
    ],
  },
  searchSecretAuditEvents: {
    path: "/api/v1/search/secrets-admin/audit_events",
    bodies: [{ vaultId: "note", actorUserId: "", actorEmail: "", clientIp: "", pageSize: 10, pageToken: "" }],
  },
  createSecret: {
    path: "/local/v1/secrets",
    bodies: [
      {
        creatorUserId: "user-ada",
        access: "INTERNAL",
        allowedUserIds: ["user-bob"],
        text: "x",
        inputFormat: "SECRET_INPUT_FORMAT_PLAINTEXT",
        views: 2,
        expiresAt: "2030-01-01T00:00:00Z",
      },
      { creatorUserId: "user-ada", file: { filename: "a", contentBase64: "AAAA" } },
    ],
  },
  createAutomation: {
    path: "/local/v1/automations",
    bodies: [AUTOMATION, { trigger: { jwt: { jwksUrl: "https://keys.example.com/jwks.json" } } }],
  },
  updateAutomation: { path: "/local/v1/automations/auto-1", bodies: [AUTOMATION] },
  addState: {
    path: "/local/v1/state",
    // There already, as nothing can be added twice.
    status: 409,
    bodies: [{ users: [{ id: "user-ada", displayName: "New" }], authConfigs: [{ id: "ac-okta", okta: {} }] }],
  },
  exportState: { path: "/local/v1/state/export", bodies: [{ withSecrets: true }] },
  createClient: {
    path: "/local/v1/clients",
    // There already, as nothing can be added twice.
    status: 409,
    bodies: [
      { id: "robot", publicJwk: { kty: "OKP" }, displayName: "New", role: "member", userId: "user-ada" },
    ],
  },
  // Last, as they change what the others get.
  searchJournal: {
    path: "/local/v1/journal/search",
    bodies: [
      {
        operation: "viewSecret",
        method: "POST",
        path: "/api/v1/secrets/note/view",
        status: 200,
        query: {},
        body: { readerRecipient: READER },
      },
    ],
  },
  putFault: {
    path: "/local/v1/faults/viewSecret",
    bodies: [
      {
        status: 503,
        body: { a: 1 },
        delayMs: 1,
        disconnect: false,
        malformed: false,
        retryAfterSeconds: 1,
        times: 1,
      },
      { sequence: [{ status: 503, times: 2 }] },
      { rateLimit: { requests: 1, windowMs: 1_000 } },
    ],
  },
  moveClock: {
    path: "/local/v1/clock",
    bodies: [{ to: "2030-01-01T00:00:00Z", advanceMs: 1, frozen: true }],
  },
};

const WRONG: Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  "",
  "x",
  "\u0000",
  "\ud800",
  "2016-12-31T23:59:60Z",
  [],
  [null],
  [[]],
  {},
  { a: 1 },
];

/** Names of what the service keeps, and of what every object of JavaScript has. */
const NAMES = [
  ..."id createdAt updatedAt revokedAt ciphertext objectKey content clientId userId role secretHash publicJwk".split(
    " ",
  ),
  ..."viewsRemaining listenerId hmacSecret signingSecret appId manuallyManaged unknown".split(" "),
  ..."__proto__ constructor prototype toString hasOwnProperty valueOf toJSON then length".split(" "),
];

const MORE: Json[] = [null, 0, "x", {}];

/** The text of a value, each of its places in turn replaced; and one more member in each of its objects. */
function* changed(value: Json): Generator<string> {
  for (const wrong of WRONG) yield JSON.stringify(wrong);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      for (const text of changed(item)) {
        const before = value.slice(0, index).map((one) => JSON.stringify(one));
        yield `[${[...before, text, ...value.slice(index + 1).map((one) => JSON.stringify(one))].join(",")}]`;
      }
  } else if (value !== null && typeof value === "object") {
    const members = Object.entries(value);
    const shown = (name: string, text: string) => `${JSON.stringify(name)}:${text}`;
    const whole = members.map(([name, one]) => shown(name, JSON.stringify(one)));
    for (const [index, [name, one]] of members.entries())
      for (const text of changed(one)) yield `{${whole.with(index, shown(name, text)).join(",")}}`;
    for (const name of NAMES)
      for (const wrong of MORE)
        if (!(name in value) || name === "__proto__")
          yield `{${[...whole, shown(name, JSON.stringify(wrong))].join(",")}}`;
  }
}

let service: Service;
beforeAll(async () => {
  service = await createService({
    fixture: {
      ...FIXTURE,
      clients: [{ id: "robot", secret: "robot-secret" }],
      secrets: [{ id: "note", creatorUserId: "user-ada", text: "note" }],
      automations: [{ id: "auto-1", trigger: { hmac: {} } }],
    },
    attemptLimits: { failures: 1_000_000 },
    unknownFields: "ignore",
    validateAnswers: true,
  });
});
afterAll(() => service.stop());

it("every operation with a body is looked at", () => {
  const withBody = OPERATIONS.filter(({ bodySchema }) => bodySchema !== undefined).map(({ id }) => id);
  expect(Object.keys(CALLS).sort()).toEqual(withBody.filter((id) => id !== "receiveWebhook").sort());
});

/** The remote control takes a token that no clock ends. */
const bearerOf = async (id: string) =>
  OPERATIONS.find((one) => one.id === id)?.isControl ? service.controlToken : await service.token();

describe("no wrong type, in a field that is known or in one that is not, is a 500", () => {
  it.each(Object.entries(CALLS))("%s", async (id, { path, bodies, status = 200 }) => {
    const method = OPERATIONS.find((one) => one.id === id)?.method.toUpperCase() as Dispatcher.HttpMethod;
    const headers: Record<string, string> =
      id === "createToken" ? {} : { Authorization: `Bearer ${await bearerOf(id)}` };
    const counts = new Map<number, number>();
    const send = async (body: string) => {
      // Not fetch, which takes a fifth more of the processor in this file.
      const answer = await request(`${service.url}${path}`, {
        method,
        headers: { ...headers, "Content-Type": "application/json" },
        body,
      });
      const shown = await answer.body.text();
      counts.set(answer.statusCode, (counts.get(answer.statusCode) ?? 0) + 1);
      expect(answer.statusCode, `${body}: ${shown}`).toBeLessThan(500);
      expect(JSON.parse(shown)).toBeTypeOf("object");
      return answer.statusCode;
    };
    for (const body of bodies) expect(await send(JSON.stringify(body)), JSON.stringify(body)).toBe(status);
    const texts = bodies.flatMap((body) => [...changed(body)]);
    for (let at = 0; at < texts.length; at += 20) await Promise.all(texts.slice(at, at + 20).map(send));
    // Some of them are right, and most objects may hold what nobody knows.
    if (id !== "deleteAuthConfig") expect(counts.get(status)).toBeGreaterThan(10);
    expect(counts.get(400)).toBeGreaterThan(10);
  });
});

/** As large as a body may be, and made of what costs most where it is looked at, compared or written again. */
const LARGE: Readonly<Record<string, string>> = {
  numbers: `[${new Array(500_000).fill("1").join(",")}]`,
  names: `{${Array.from({ length: 80_000 }, (_, n) => `"k${n}":1`).join(",")}}`,
};

describe("a body of 1 MiB, whatever stands where", () => {
  it.each(Object.entries(CALLS))("%s", async (id, { path, bodies }) => {
    const { method = "" } = OPERATIONS.find((one) => one.id === id) ?? {};
    const members = Object.keys(bodies[0] as object);
    for (const [name, large] of Object.entries(LARGE))
      for (const member of members) {
        const body = `{"${member}":${large}}`;
        let status = 0;
        const cost = await tooMuch(async () => {
          ({ status } = await ask(service, method, path, { body }));
        }, MAX_MS);
        expect(status, member).toBeLessThan(500);
        expect(cost, `${member}, ${name}: ms`).toBeUndefined();
      }
  });
});

it("a time from outside is read in one place, which refuses what is none", () => {
  const folder = new URL("../../service/src/", import.meta.url);
  const reading = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter(
      (file) => file.endsWith(".ts") && readFileSync(new URL(file, folder), "utf8").includes("Date.parse("),
    )
    .sort();
  // The format of the schemas, the function for everybody, a constant, and a HAR file's times, whose NaN is looked at.
  expect(reading).toEqual([
    "api/validation.ts",
    "inspector/import-file.ts",
    "state/seed/seed.ts",
    "storage/document.ts",
  ]);
});

describe("a field that is not of the request changes nothing", () => {
  it.each([0, 1, "2020-01-01T00:00:00Z", {}, null])(
    "a secret with revokedAt %j is not revoked",
    async (revokedAt) => {
      const body = {
        creatorUserId: "user-ada",
        text: "x",
        revokedAt,
        id: "mine",
        createdAt: 1,
        viewsRemaining: 0,
        content: { objectKey: "note" },
      };
      const made = await ask(service, "POST", "/local/v1/secrets", { body });
      expect(made.status).toBe(200);
      expect(made.body.id).not.toBe("mine");
      const view = await ask(service, "POST", `/api/v1/secrets/${made.body.id}/view`, {
        body: { readerRecipient: READER },
      });
      expect(view).toMatchObject({
        status: 200,
        body: { viewsRemaining: -1, creatorUserId: "user-ada", secretType: "SECRET_TYPE_TEXT" },
      });
      expect(Date.parse(view.body.createdAt)).toBeGreaterThan(1);
    },
  );

  it("an automation keeps what the document names, and nothing else", async () => {
    const made = await ask(service, "POST", "/local/v1/automations", {
      body: {
        trigger: { jwt: { jwksUrl: "https://keys.example.com/jwks.json", more: 1 }, more: 2 },
        listenerId: "mine",
        hmacSecret: "mine",
        signingSecret: "mine",
        createdAt: 1,
        more: 3,
        steps: [{ name: "a", more: 4 }],
      },
    });
    const { body } = await ask(service, "GET", `/local/v1/automations/${made.body.automation.id}`);
    expect(made.body).toEqual({ automation: body.automation, signingSecret: "" });
    expect(body.automation.listenerId).not.toBe("mine");
    expect(JSON.stringify(body)).not.toContain("more");
  });

  it("a resource type keeps its id, its app and its times", async () => {
    const path = "/api/v1/apps/app-1/resource_types/rt-manual";
    const before = await ask(service, "POST", path, { body: {} });
    const after = await ask(service, "POST", path, {
      body: { appResourceType: { id: "mine", appId: "mine", createdAt: "2000-01-01T00:00:00Z", more: 1 } },
    });
    const { updatedAt: _, ...same } = before.body.appResourceType;
    expect(after.body.appResourceType).toMatchObject(same);
    expect(JSON.stringify(after.body)).not.toMatch(/mine|more/);
  });
});
