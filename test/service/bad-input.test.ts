import { connect } from "node:net";
import type { Service } from "hookproof-service";
import { createService } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIXTURE } from "./fixture.js";
import { ask, startService } from "./running-service.js";

const UPDATE = "/api/v1/apps/app-1/resource_types/rt-manual";
const COHORT = "/api/v1/role-mining/suggestions/cohort-1/users";
const OWNERS = "/api/v2/apps/app-1/users/au-1/owners/users";
const AUTOMATIONS = "/local/v1/automations";
const CREDENTIALS = "/api/v1/iam/tunnel/bridges/bridge-1/credentials";

let service: Service;
beforeAll(async () => {
  service = await createService({ fixture: FIXTURE, validateAnswers: true });
});
afterAll(() => service.stop());

const violationsOf = (body: { details: { fieldViolations?: object[] }[] }) =>
  body.details.flatMap(({ fieldViolations = [] }) => fieldViolations);
const fieldsOf = (body: { details: { fieldViolations?: { field: string }[] }[] }) =>
  body.details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));

describe("400 with the path of the field", () => {
  it.each<[string, string, unknown, string]>([
    ["malformed JSON", UPDATE, '{"appResourceType":', "body"],
    ["null", UPDATE, "null", "body"],
    ["a list", UPDATE, [], "body"],
    ["text", UPDATE, '"text"', "body"],
    ["a resource of a wrong type", UPDATE, { appResourceType: 5 }, "appResourceType"],
    [
      "a field of a wrong type",
      UPDATE,
      { appResourceType: { displayName: 5 } },
      "appResourceType.displayName",
    ],
    ["null in a list", UPDATE, { appResourceType: { traitIds: [null] } }, "appResourceType.traitIds[0]"],
    ["a list's entry", UPDATE, { appResourceType: { traitIds: ["a", 5] } }, "appResourceType.traitIds[1]"],
    [
      "a long text",
      UPDATE,
      { appResourceType: { displayName: "x".repeat(1025) } },
      "appResourceType.displayName",
    ],
    [
      "a long list",
      UPDATE,
      { appResourceType: { traitIds: Array(1001).fill("x") } },
      "appResourceType.traitIds",
    ],
    ["a mask that is no text", UPDATE, { updateMask: ["displayName"] }, "updateMask"],
    ["a mask with an unknown path", UPDATE, { updateMask: "displayName,colour" }, "updateMask"],
    ["a mask with the id", UPDATE, { updateMask: "id" }, "updateMask"],
    ["a mask with the app's id", UPDATE, { updateMask: "appResourceType.app_id" }, "updateMask"],
    ["a mask with a time", UPDATE, { updateMask: "createdAt" }, "updateMask"],
    ["a mask with an empty path", UPDATE, { updateMask: "displayName,,traitIds" }, "updateMask"],
    ["a page size of text", COHORT, { pageSize: "10" }, "pageSize"],
    ["a page size of a half", COHORT, { pageSize: 10.5 }, "pageSize"],
    ["a page size past all numbers", COHORT, '{"pageSize":1e999}', "pageSize"],
    ["a page token of a number", COHORT, { pageToken: 5 }, "pageToken"],
    ["a page token that is none", COHORT, { pageToken: "nonsense" }, "pageToken"],
    ["a long page token", COHORT, { pageToken: "x".repeat(5000) }, "pageToken"],
    ["a filter without attribute", COHORT, { profileFilters: [{}] }, "profileFilters[0].attribute"],
    ["filters of a wrong type", COHORT, { profileFilters: {} }, "profileFilters"],
    [
      "a filter's value",
      COHORT,
      { profileFilters: [{ attribute: "email", values: ["a", 1] }] },
      "profileFilters[0].values[1]",
    ],
    [
      "too many filters",
      COHORT,
      { profileFilters: Array(51).fill({ attribute: "email" }) },
      "profileFilters",
    ],
    ["deprecated fields of a wrong type", COHORT, { selectedEntitlements: "all" }, "selectedEntitlements"],
  ])("%s", async (_name, path, body, field) => {
    const answer = await ask(service, "POST", path, { body });
    expect(answer).toMatchObject({ status: 400, body: { code: 3 } });
    expect(fieldsOf(answer.body)).toEqual([field]);
  });

  it.each([
    [`${OWNERS}?page_size=abc`, "page_size"],
    [`${OWNERS}?page_size=`, "page_size"],
    [`${OWNERS}?page_size=1e1`, "page_size"],
    [`${OWNERS}?page_size=0x10`, "page_size"],
    [`${OWNERS}?page_size=${"9".repeat(400)}`, "page_size"],
    [`${OWNERS}?pageSize=ten`, "pageSize"],
    [`${OWNERS}?page_size=10&page_size=20`, "page_size"],
    [`${OWNERS}?page_token=nonsense`, "pageToken"],
    [`${OWNERS}?page_token=a.b.c`, "pageToken"],
    [`${OWNERS}?roleSlug=${"x".repeat(1025)}`, "roleSlug"],
    [`${CREDENTIALS}?pageToken=nonsense`, "pageToken"],
    ["/api/v1/auth-configs/%00", "id"],
    ["/api/v1/auth-configs/a%20b", "id"],
    [`/api/v1/auth-configs/${"x".repeat(129)}`, "id"],
    [
      `/api/v2/apps/app-1/owners/entitlements/owner/app-1/${encodeURIComponent("' OR 1=1")}`,
      "app_entitlement_ref_id",
    ],
  ])("GET %s", async (path, field) => {
    const answer = await ask(service, "GET", path);
    expect(answer).toMatchObject({ status: 400, body: { code: 3 } });
    expect(fieldsOf(answer.body)).toEqual([field]);
  });

  it("a path that cannot be decoded", async () => {
    const { status, body, headers } = await ask(service, "GET", "/api/v1/auth-configs/%ff");
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: 3, message: "The path cannot be decoded." },
    });
    // No field is to blame, so the request's id is the only detail.
    expect(body.details).toEqual([
      {
        "@type": "type.googleapis.com/google.rpc.RequestInfo",
        requestId: headers.get("x-request-id"),
      },
    ]);
  });

  it("says what is wrong with the field", async () => {
    const { body: broken } = await ask(service, "POST", UPDATE, { body: '{"appResourceType":' });
    expect(violationsOf(broken)).toEqual([{ field: "body", description: "is not valid JSON" }]);
    const filters = [{ attribute: "email" }, {}];
    const { body: missing } = await ask(service, "POST", COHORT, { body: { profileFilters: filters } });
    const field = "profileFilters[1].attribute";
    expect(violationsOf(missing)).toEqual([{ field, description: "is missing" }]);
    expect(missing.message).toBe(`${field} is missing`);
    const { body: wrong } = await ask(service, "POST", AUTOMATIONS, { body: { trigger: 5 } });
    expect(violationsOf(wrong)).toEqual([{ field: "trigger", description: "must be object" }]);
    const { body: whole } = await ask(service, "POST", AUTOMATIONS, { body: "5" });
    expect(violationsOf(whole)).toEqual([{ field: "body", description: "must be object" }]);
  });

  it("a query in two spellings that disagree, and in two that agree none", async () => {
    const both = await ask(service, "GET", `${OWNERS}?page_size=10&pageSize=20`);
    expect(violationsOf(both.body)).toEqual([
      { field: "pageSize", description: "stands in two spellings that disagree" },
    ]);
    expect((await ask(service, "GET", `${OWNERS}?page_size=10&pageSize=10`)).status).toBe(200);
  });

  it("a body's field in two spellings, wherever it stands", async () => {
    const two = { pageSize: 10, page_size: 10 };
    const outer = await ask(service, "POST", COHORT, { body: two });
    expect(violationsOf(outer.body)).toEqual([
      { field: "pageSize", description: "stands in two spellings, pageSize and page_size" },
    ]);
    const type = { display_name: "a", displayName: "b" };
    const inner = await ask(service, "POST", UPDATE, { body: { appResourceType: type } });
    expect(fieldsOf(inner.body)).toEqual(["appResourceType.displayName"]);
  });
});

describe("other answers", () => {
  it.each([
    ["GET", "/api/v1/auth-configs/none"],
    ["DELETE", "/api/v1/auth-configs/none"],
    ["POST", "/api/v1/apps/app-1/resource_types/none"],
    ["POST", "/api/v1/apps/none/resource_types/rt-manual"],
    ["POST", "/api/v1/role-mining/suggestions/none/users"],
    ["GET", "/api/v2/apps/app-1/owners/entitlements/owner/app-1/none"],
    ["GET", "/api/v2/apps/app-1/owners/entitlements/none/app-1/ent-1"],
    ["GET", "/api/v1/iam/tunnel/bridges/none/credentials"],
    ["GET", "/api/v3/apps"],
    ["GET", `${OWNERS}/`],
  ])("404 where there is nothing: %s %s", async (method, path) => {
    const body = method === "POST" ? {} : undefined;
    expect(await ask(service, method, path, { body })).toMatchObject({ status: 404, body: { code: 5 } });
  });

  it.each([
    ["PUT", "/api/v1/auth-configs/ac-oidc", "GET, DELETE, HEAD"],
    ["GET", UPDATE, "POST"],
    ["DELETE", COHORT, "POST"],
    ["POST", OWNERS, "GET, HEAD"],
    ["OPTIONS", CREDENTIALS, "GET, HEAD"],
  ])("405 with Allow: %s %s", async (method, path, allow) => {
    const answer = await ask(service, method, path);
    expect(answer).toMatchObject({ status: 405, body: { code: 12 } });
    expect(answer.headers.get("allow")).toBe(allow);
  });

  it("413 for a body over 1 MiB, and 200 for one just below", async () => {
    const filled = (length: number) => JSON.stringify({ unknown: "x".repeat(length) });
    expect(await ask(service, "POST", COHORT, { body: filled(1_048_577) })).toMatchObject({
      status: 413,
      body: { code: 8 },
    });
    const lenient = await startService({ unknownFields: "ignore" });
    expect((await ask(lenient, "POST", COHORT, { body: filled(1_048_000) })).status).toBe(200);
  });

  it("413 for an endless body, before its end", async () => {
    const token = await service.token();
    const { port } = new URL(service.url);
    const socket = connect(Number(port), "127.0.0.1");
    const head = `POST ${COHORT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    socket.write(head + chunk.repeat(20));
    const answer = await new Promise<string>((resolve, reject) => {
      socket.once("data", (data) => resolve(data.toString())).once("error", reject);
    });
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  });

  it("415 for another media type, encoding or character set", async () => {
    for (const headers of [
      { "Content-Type": "text/plain" },
      { "Content-Encoding": "compress" },
      { "Content-Type": "application/json; charset=latin2" },
      { "Content-Type": 'application/json;charset="utf-16"' },
      { "Content-Type": "application/json;   charset=latin1" },
    ] as Record<string, string>[]) {
      const answer = await ask(service, "POST", COHORT, { body: "{}", headers });
      expect(answer).toMatchObject({ status: 415, body: { code: 3 } });
    }
  });

  it("200 for no body, an empty one, and fields nobody knows where they are ignored", async () => {
    const service = await startService({ unknownFields: "ignore" });
    expect((await ask(service, "POST", COHORT)).status).toBe(200);
    expect((await ask(service, "POST", COHORT, { body: "" })).status).toBe(200);
    expect((await ask(service, "POST", COHORT, { body: { colour: "blue", __proto__: null } })).status).toBe(
      200,
    );
    const deep = (levels: number) => `{"unknown":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect((await ask(service, "POST", COHORT, { body: deep(499) })).status).toBe(200);
    expect((await ask(service, "POST", COHORT, { body: deep(500) })).status).toBe(400);
  });

  it("every error has the id of its request", async () => {
    const answer = await ask(service, "GET", "/nowhere", { headers: { "X-Request-Id": "mine-1" } });
    expect(answer.headers.get("x-request-id")).toBe("mine-1");
    expect(answer.body.details).toContainEqual({
      "@type": "type.googleapis.com/google.rpc.RequestInfo",
      requestId: "mine-1",
    });
    const other = await ask(service, "GET", "/nowhere", { headers: { "X-Request-Id": "<script>" } });
    expect(other.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("SQL in a filter or a role is text like any other", async () => {
    for (const text of [
      "' OR '1'='1",
      "'; DROP TABLE users; --",
      '$."',
      "$[0]",
      "%",
      "\u0000",
      "profile.'",
    ]) {
      const filters = [
        { attribute: text, values: [text] },
        { attribute: `profile.${text}`, values: [text] },
      ];
      for (const filter of filters) {
        const answer = await ask(service, "POST", COHORT, { body: { profileFilters: [filter] } });
        expect(answer).toMatchObject({ status: 200, body: { list: [] } });
      }
      const answer = await ask(service, "GET", `${OWNERS}?roleSlug=${encodeURIComponent(text)}`);
      expect(answer).toMatchObject({ status: 200, body: { list: [] } });
    }
    expect((await ask(service, "POST", COHORT)).body.list).toHaveLength(3);
  });
});
