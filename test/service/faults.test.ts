import type { Service } from "hookproof-service";
import { beforeEach, describe, expect, it } from "vitest";
import { ownAutomation } from "./own-automation.js";
import { type Answer, ask, askControl, startService } from "./running-service.js";

const CONFIG = "/api/v1/auth-configs/ac-okta";
const _OWNERS = "/api/v2/apps/app-1/users/au-1/owners/users";
const _COHORT = "/api/v1/role-mining/suggestions/cohort-1/users";

let service: Service;
beforeEach(async () => {
  service = await startService();
});

const control = (method: string, path: string, body?: unknown): Promise<Answer> =>
  askControl(service, method, path, body);
const get = (path = CONFIG) => ask(service, "GET", path);

describe("a fault", () => {
  it("fails three times, and then the operation works", async () => {
    await control("PUT", "faults/getAuthConfig", { status: 503, times: 3 });
    const statuses = [];
    for (let n = 0; n < 5; n++) statuses.push((await get()).status);
    expect(statuses).toEqual([503, 503, 503, 200, 200]);
    expect((await control("GET", "faults")).body.list).toEqual([]);
  });

  it("has the code and the form that belong to its status", async () => {
    const cases: [number, number][] = [
      [400, 3],
      [401, 16],
      [403, 7],
      [404, 5],
      [409, 6],
      [429, 8],
      [500, 13],
      [503, 14],
      [504, 4],
      [418, 2],
      [599, 13],
    ];
    for (const [status, code] of cases) {
      await control("PUT", "faults/getAuthConfig", { status });
      const answer = await get();
      expect(answer).toMatchObject({
        status,
        body: {
          code,
          message: expect.any(String),
          details: [{ requestId: answer.headers.get("x-request-id") }],
        },
      });
      expect(answer.headers.get("retry-after")).toBe(status === 429 || status === 503 ? "1" : null);
      expect(answer.headers.has("www-authenticate")).toBe(status === 401);
    }
  });

  it.each([
    [400, "invalid_request"],
    [401, "invalid_client"],
    [429, "temporarily_unavailable"],
    [500, "server_error"],
    [503, "temporarily_unavailable"],
  ])("of the token endpoint with %i is an OAuth error", async (status, error) => {
    await control("PUT", "faults/createToken", { status });
    const answer = await fetch(`${service.url}/auth/v1/token`, { method: "POST" });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.json()).toEqual({ error, error_description: expect.any(String) });
  });

  it.each([
    [400, "BODY_NOT_JSON"],
    [401, "SIGNATURE_MISMATCH"],
    [409, "EVENT_DUPLICATE"],
    [429, "REFUSED"],
    [500, "RUN_FAILED"],
    [503, "RUN_FAILED"],
  ])("of a webhook with %i is an answer of a listener", async (status, code) => {
    const { listenerId } = await ownAutomation(service);
    await control("PUT", "faults/receiveWebhook", { status });
    const answer = await fetch(`${service.url}/api/v1/webhooks/incoming/${listenerId}`, { method: "POST" });
    expect([answer.status, await answer.json()]).toEqual([status, { code, message: expect.any(String) }]);
  });

  it("may have its own body, its own Retry-After, and a status that is none of an error", async () => {
    await control("PUT", "faults/getAuthConfig", {
      status: 429,
      retryAfterSeconds: 7,
      body: { mine: [1] },
      times: 1,
    });
    const answer = await get();
    expect([answer.status, answer.headers.get("retry-after"), answer.body]).toEqual([
      429,
      "7",
      { mine: [1] },
    ]);
    await control("PUT", "faults/getAuthConfig", { status: 200, body: { authConfig: { id: "other" } } });
    expect((await get()).body).toEqual({ authConfig: { id: "other" } });
    await control("PUT", "faults/getAuthConfig", { status: 204 });
    expect((await get()).body).toBeUndefined();
  });

  it("may be a connection that is cut, JSON that is not whole, and a wait", async () => {
    await control("PUT", "faults/getAuthConfig", { disconnect: true });
    await expect(get()).rejects.toThrow();
    await control("PUT", "faults/getAuthConfig", { malformed: true });
    await expect(get()).rejects.toThrow(SyntaxError);
    await control("PUT", "faults/getAuthConfig", { delayMs: 30 });
    const start = performance.now();
    expect((await get()).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThan(25);
  });

  it("may be several, one after another", async () => {
    const sequence = [{ status: 503 }, {}, { status: 429, times: 2 }, { malformed: true, status: 500 }];
    await control("PUT", "faults/getAuthConfig", { sequence });
    const statuses = [];
    for (let n = 0; n < 6; n++)
      statuses.push(
        await get().then(
          ({ status }) => status,
          () => "malformed",
        ),
      );
    expect(statuses).toEqual([503, 200, 429, 429, "malformed", 200]);
  });

  it("may be a rate limit, by the clock of the service", async () => {
    await control("POST", "clock", { to: "2030-01-01T00:00:00Z", frozen: true });
    await control("PUT", "faults/getAuthConfig", { rateLimit: { requests: 2, windowMs: 60_000 } });
    const statuses = async () => [(await get()).status, (await get()).status, (await get()).status];
    expect(await statuses()).toEqual([200, 200, 429]);
    await control("POST", "clock", { advanceMs: 59_500 });
    expect((await get()).headers.get("retry-after")).toBe("1");
    await control("POST", "clock", { advanceMs: 500 });
    expect(await statuses()).toEqual([200, 200, 429]);
  });

  it.each<[operation: string, body: unknown, status: number]>([
    ["getClock", { status: 503 }, 404],
    ["nothing", { status: 503 }, 404],
    ["getAuthConfig", { status: 199 }, 400],
    ["getAuthConfig", { status: "503" }, 400],
    ["getAuthConfig", { times: 0 }, 400],
    ["getAuthConfig", { sequence: [] }, 400],
    ["getAuthConfig", { sequence: [{ status: 503 }], status: 503 }, 400],
    ["getAuthConfig", { rateLimit: { requests: 1 } }, 400],
    ["getAuthConfig", { staus: 503 }, 400],
  ])("is refused for %s: %j", async (name, body, status) => {
    expect((await control("PUT", `faults/${name}`, body)).status).toBe(status);
    expect((await get()).status).toBe(200);
  });
});
