import { createService, type Service } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ownAutomation } from "./own-automation.js";
import { ask, clientOf, startService } from "./running-service.js";

const AUTOMATIONS = "/local/v1/automations";
const STEPS = [
  { name: "find", condition: "ctx.trigger.active", templates: { email: "{{ ctx.trigger.email }}", n: [1] } },
];

let service: Service;
beforeAll(async () => {
  service = await createService({ validateAnswers: true });
});
afterAll(() => service.stop());

describe("an automation", () => {
  it("gets a listener when it is made, and for HMAC a secret that is shown once", async () => {
    const made = await ask(service, "POST", AUTOMATIONS, {
      body: { displayName: "Offboarding", trigger: { hmac: {} }, steps: STEPS },
    });
    expect(made.status).toBe(200);
    const { automation, signingSecret } = made.body;
    expect(signingSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(automation).toEqual({
      id: expect.stringMatching(/^[a-zA-Z0-9]{27}$/),
      displayName: "Offboarding",
      trigger: { hmac: {} },
      allowedCidrs: [],
      published: true,
      enabled: true,
      steps: STEPS,
      listenerId: expect.stringMatching(/^[a-zA-Z0-9]{27}$/),
      listenerUrl: `${service.url}/api/v1/webhooks/incoming/${automation.listenerId}`,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: automation.createdAt,
    });
    const again = await ask(service, "GET", `${AUTOMATIONS}/${automation.id}`);
    expect(again.body).toEqual({ automation });
    expect(JSON.stringify([again.body, (await ask(service, "GET", AUTOMATIONS)).body])).not.toContain(
      signingSecret,
    );
  });

  it("keeps its listener and its secret when it is replaced, and gets a secret when it becomes HMAC", async () => {
    const client = await clientOf(service);
    const { signingSecret, ...made } = await ownAutomation(service, { steps: STEPS });
    const params = { path: { automation_id: made.id } };
    const put = async (body: object) =>
      (await client.PUT("/local/v1/automations/{automation_id}", { params, body: body as never })).data;

    const replaced = await put({ trigger: { hmac: {} }, displayName: "New" });
    expect(replaced?.signingSecret).toBe("");
    expect(replaced?.automation).toMatchObject({
      displayName: "New",
      steps: [],
      listenerId: made.listenerId,
      createdAt: made.createdAt,
    });
    const jwt = { jwt: { jwksUrl: "https://keys.example.com/jwks.json" } };
    expect(await put({ trigger: jwt })).toMatchObject({ automation: { trigger: jwt }, signingSecret: "" });
    const back = await put({ trigger: { hmac: {} } });
    expect(back?.signingSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(back?.signingSecret).not.toBe(signingSecret);
  });

  it("gets a new secret on demand, which a JWT trigger has not", async () => {
    const { id, signingSecret } = await ownAutomation(service);
    const rotated = await ask(service, "POST", `${AUTOMATIONS}/${id}/rotate_secret`);
    expect(rotated.body.signingSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(rotated.body.signingSecret).not.toBe(signingSecret);
    const jwt = await ownAutomation(service, { trigger: { jwt: { jwksUrl: "https://keys.example.com/" } } });
    const refused = await ask(service, "POST", `${AUTOMATIONS}/${jwt.id}/rotate_secret`);
    expect(refused).toMatchObject({ status: 400, body: { code: 3 } });
  });

  it("is gone with its runs when it is deleted", async () => {
    const { id } = await ownAutomation(service);
    expect(await ask(service, "DELETE", `${AUTOMATIONS}/${id}`)).toMatchObject({ status: 200, body: {} });
    for (const [method, path] of [
      ["DELETE", id],
      ["GET", id],
      ["POST", `${id}/rotate_secret`],
      ["GET", `${id}/runs`],
      ["GET", `${id}/runs/x`],
    ])
      expect(await ask(service, method as string, `${AUTOMATIONS}/${path}`)).toMatchObject({
        status: 404,
        body: { code: 5 },
      });
    const body = { trigger: { hmac: {} } };
    expect(await ask(service, "PUT", `${AUTOMATIONS}/${id}`, { body })).toMatchObject({ status: 404 });
  });

  it("is found page by page, in the order they were made", async () => {
    const service = await startService();
    const made = [];
    for (let i = 0; i < 12; i++) made.push((await ownAutomation(service, { displayName: `${i}` })).id);
    const first = await ask(service, "GET", `${AUTOMATIONS}?page_size=10`);
    const second = await ask(
      service,
      "GET",
      `${AUTOMATIONS}?pageSize=10&pageToken=${first.body.nextPageToken}`,
    );
    const ids = [...first.body.list, ...second.body.list].map(({ id }) => id);
    expect(ids).toHaveLength(12);
    expect(new Set(ids)).toEqual(new Set(made));
    expect(second.body.nextPageToken).toBe("");
  });
});

describe("the administration", () => {
  it("is the Super Admin's", async () => {
    const client = await clientOf(service, { role: "member" });
    const made = await client.POST("/local/v1/automations", { body: { trigger: { hmac: {} } } });
    expect(made.response.status).toBe(403);
    expect((await client.GET("/local/v1/automations")).response.status).toBe(403);
    const headers = { Authorization: "Bearer x" };
    expect((await ask(service, "GET", AUTOMATIONS, { headers })).status).toBe(401);
  });

  it.each<[what: string, body: unknown, field: string]>([
    ["no trigger", {}, "trigger"],
    ["no method", { trigger: {} }, "trigger"],
    ["two methods", { trigger: { hmac: {}, jwt: { jwksUrl: "https://keys.example.com/" } } }, "trigger"],
    ["no key set", { trigger: { jwt: {} } }, "trigger.jwt.jwksUrl"],
    ["a key set here", { trigger: { jwt: { jwksUrl: "http://127.0.0.1/" } } }, "trigger.jwt.jwksUrl"],
    ["a range", { trigger: { hmac: {} }, allowedCidrs: ["10.0.0.0/8", "10.0.0.1/8"] }, "allowedCidrs[1]"],
    ["published", { trigger: { hmac: {} }, published: "yes" }, "published"],
    ["a step without a name", { trigger: { hmac: {} }, steps: [{}] }, "steps[0].name"],
    ["a name", { trigger: { hmac: {} }, steps: [{ name: "a" }, { name: "a" }] }, "steps[1].name"],
    [
      "a condition",
      { trigger: { hmac: {} }, steps: [{ name: "a", condition: "ctx.x ==" }] },
      "steps[0].condition",
    ],
    [
      "a template",
      { trigger: { hmac: {} }, steps: [{ name: "a", templates: { to: { all: ["{{ 1 + }}"] } } }] },
      "steps[0].templates.to.all[0]",
    ],
  ])("refuses %s with the path of the field", async (_what, body, field) => {
    const answer = await ask(service, "POST", AUTOMATIONS, { body });
    expect(answer).toMatchObject({ status: 400, body: { code: 3 } });
    expect(answer.body.details[0].fieldViolations[0].field).toBe(field);
  });

  it("takes an automation of a fixture with what it brings, and refuses one with mistakes", async () => {
    const given = {
      id: "auto-1",
      listenerId: "lst_1",
      signingSecret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE",
      trigger: { hmac: {} },
      steps: [{ name: "a" }],
    };
    const own = await startService({ fixture: { automations: [given] } });
    expect((await ask(own, "GET", `${AUTOMATIONS}/auto-1`)).body.automation).toMatchObject({
      listenerUrl: `${own.url}/api/v1/webhooks/incoming/lst_1`,
      steps: [{ name: "a", condition: "", templates: {} }],
    });
    for (const [change, field] of [
      [{ steps: [{ name: "a", condition: "(" }] }, "automations[0].steps[0].condition"],
      [{ listenerId: "no such id/" }, "automations[0].listenerId"],
      [{ signingSecret: "" }, "automations[0].signingSecret"],
    ] as const)
      await expect(
        startService({ fixture: { automations: [{ ...given, ...change }] } } as never),
      ).rejects.toThrow(field);
  });
});
