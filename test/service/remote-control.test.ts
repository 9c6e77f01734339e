import { join } from "node:path";
import { createEvent, hmacSigner, signRequest } from "hookproof";
import { fixedClock } from "hookproof/testing";
import { createService, diffStates, OPERATION_IDS, type Service } from "hookproof-service";
import { beforeEach, describe, expect, it } from "vitest";
import { operation } from "../../service/src/api/operations.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { FIXTURE } from "./fixture.js";
import { endedRuns, ownAutomation } from "./own-automation.js";
import { type Answer, ask, askControl, startService } from "./running-service.js";

/** The remote control as a test suite in any language uses it: over HTTP, with the control token. */

const CONFIG = "/api/v1/auth-configs/ac-okta";
const OWNERS = "/api/v2/apps/app-1/users/au-1/owners/users";
const COHORT = "/api/v1/role-mining/suggestions/cohort-1/users";

let service: Service;
beforeEach(async () => {
  service = await startService();
});

const control = (method: string, path: string, body?: unknown): Promise<Answer> =>
  askControl(service, method, path, body);
const get = (path = CONFIG) => ask(service, "GET", path);

describe("the control token", () => {
  const controls = OPERATION_IDS.map(operation).filter(({ isLocal }) => isLocal);

  it("keeps others out of every operation under /local/v1", async () => {
    expect(controls.length).toBeGreaterThan(20);
    const member = await service.token({ role: "member" });
    for (const { method, path } of controls) {
      const filled = path.replace(/\{[a-z_]+\}/g, "one");
      const status = async (Authorization: string) =>
        (await ask(service, method.toUpperCase(), filled, { headers: { Authorization } })).status;
      expect(await status("Bearer x"), path).toBe(401);
      expect(await status(`Bearer ${service.controlToken}x`), path).toBe(401);
      expect(await status(`Bearer ${member}`), path).toBe(403);
      expect([401, 403], path).not.toContain(await status(`Bearer ${service.controlToken}`));
    }
  });

  it("is good for nothing else, and may be chosen", async () => {
    const headers = { Authorization: `Bearer ${service.controlToken}` };
    expect((await ask(service, "GET", CONFIG, { headers })).status).toBe(401);
    const own = await startService({ controlToken: "a-token-of-ones-own" });
    expect(own.controlToken).toBe("a-token-of-ones-own");
    await expect(createService({ controlToken: "short" })).rejects.toThrow(TypeError);
  });

  it("works while the token endpoint fails and the clock is anywhere", async () => {
    service.setFault("createToken", { status: 500 });
    await control("POST", "clock", { to: "2100-01-01T00:00:00Z" });
    expect((await control("DELETE", "faults")).status).toBe(200);
    expect((await control("GET", "faults")).body).toEqual({ list: [] });
  });
});

describe("the clock", () => {
  const now = async () => (await control("GET", "clock")).body;

  it("is set, advanced, frozen and let go, and Date follows", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    service = await startService({ clock });
    expect(await now()).toEqual({ now: "2026-01-01T00:00:00.000Z", frozen: false });
    const moved = await control("POST", "clock", { to: "2030-01-01T00:00:00Z", advanceMs: 1_000 });
    expect(moved.body).toEqual({ now: "2030-01-01T00:00:01.000Z", frozen: false });
    clock.advance(1_000);
    expect((await get()).headers.get("date")).toBe("Tue, 01 Jan 2030 00:00:02 GMT");
    await control("POST", "clock", { frozen: true });
    clock.advance(1_000);
    expect(await now()).toEqual({ now: "2030-01-01T00:00:02.000Z", frozen: true });
    await control("POST", "clock", { advanceMs: -1_000 });
    expect(await now()).toEqual({ now: "2030-01-01T00:00:01.000Z", frozen: true });
    await control("POST", "clock", { frozen: false });
    clock.advance(1_000);
    expect(await now()).toEqual({ now: "2030-01-01T00:00:02.000Z", frozen: false });
  });

  it("ends access tokens, and the client gets new ones", async () => {
    const token = await service.token();
    const headers = { Authorization: `Bearer ${token}` };
    service.moveClock({ advanceMs: 3_599_000 });
    expect((await ask(service, "GET", CONFIG, { headers })).status).toBe(200);
    service.moveClock({ advanceMs: 2_000 });
    expect((await ask(service, "GET", CONFIG, { headers })).status).toBe(401);
    expect((await get()).status).toBe(200);
  });

  it.each([{ to: "yesterday" }, { to: 5 }, { advanceMs: "1h" }, { advanceMs: 9e15 }])(
    "cannot be moved by %j",
    async (body) => {
      expect((await control("POST", "clock", body)).status).toBe(400);
      expect(() => service.moveClock({ to: "yesterday" })).toThrow(RangeError);
    },
  );
});

describe("a reset", () => {
  it("goes back to the start: state, faults, clock and journal, and tokens stay good", async () => {
    service = await startService({
      faults: { searchUserOwners: { status: 503 } },
      clock: fixedClock("2026-01-01T00:00:00Z"),
    });
    const headers = { Authorization: `Bearer ${await service.token({ userId: "" })}` };
    await ask(service, "DELETE", CONFIG, { headers });
    service.moveClock({ advanceMs: 60_000 });
    await control("DELETE", "faults");
    await control("PUT", "faults/listBridgeCredentials", { status: 503 });
    expect((await control("POST", "reset")).status).toBe(200);
    expect((await ask(service, "GET", CONFIG, { headers })).status).toBe(200);
    expect((await get(OWNERS)).status).toBe(503);
    expect((await get("/api/v1/iam/tunnel/bridges/bridge-1/credentials")).status).toBe(200);
    expect((await control("GET", "clock")).body.now).toBe("2026-01-01T00:00:00.000Z");
    expect((await control("POST", "journal/search", {})).body.count).toBe(3);
  });

  it("may be asked for many times at once", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => control("POST", "reset")));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await get()).status).toBe(200);
  });
});

describe("a snapshot", () => {
  const rename = (displayName: string) =>
    ask(service, "POST", "/api/v1/apps/app-1/resource_types/rt-manual", {
      body: { appResourceType: { displayName } },
    });

  it("keeps the state under a name, and restores all of it", async () => {
    const { automation } = (
      await ask(service, "POST", "/local/v1/automations", { body: { trigger: { hmac: {} } } })
    ).body;
    const { id: vault } = (
      await control("POST", "secrets", { text: "kept", creatorUserId: "user-ada", views: 1 })
    ).body;
    await control("PUT", "snapshots/before");
    await ask(service, "DELETE", CONFIG);
    await ask(service, "DELETE", `/local/v1/automations/${automation.id}`);
    await control("POST", `secrets/${vault}/revoke`);
    await rename("Changed");
    await control("PUT", "snapshots/after");
    await control("POST", "reset");
    expect((await get()).status).toBe(200);

    expect((await control("POST", "snapshots/before/restore")).status).toBe(200);
    expect((await get()).status).toBe(200);
    expect((await get(`/local/v1/automations/${automation.id}`)).body.automation.listenerId).toBe(
      automation.listenerId,
    );
    const events = await ask(service, "POST", "/api/v1/search/secrets-admin/audit_events", {
      body: { vaultId: vault },
    });
    expect(events.body.list.map((one: { activity_name: string }) => one.activity_name)).toEqual([
      "paper_secret_created",
    ]);

    expect((await control("POST", "snapshots/after/restore")).status).toBe(200);
    expect((await get()).status).toBe(404);
    expect((await get(`/local/v1/automations/${automation.id}`)).status).toBe(404);
    expect((await control("GET", "snapshots")).body.list.map((one: { name: string }) => one.name)).toEqual([
      "after",
      "before",
    ]);
  });

  it("has every row that hangs on another one: members, grants, results of runs", async () => {
    const [app] = FIXTURE.apps ?? [];
    if (!app) throw new Error("no app");
    const grants = [{ entitlementId: "ent-1", userId: "user-bob" }];
    service = await startService({ fixture: { ...FIXTURE, apps: [{ ...app, grants }] } });
    const automation = await ownAutomation(service, {
      steps: [{ name: "one", condition: "", templates: { n: "{{ 1 }}" } }],
    });
    const signer = hmacSigner({ secret: automation.signingSecret });
    const event = createEvent({});
    const { url, ...init } = await signRequest({ url: automation.listenerUrl, signer, event });
    expect((await fetch(url, init)).status).toBe(200);
    const [ran] = await endedRuns(service, automation.id);
    expect(ran?.steps).toHaveLength(1);
    const before = await service.exportState();
    expect(before.apps?.[0]?.grants).toHaveLength(1);
    expect(before.suggestions?.[0]?.userIds?.length).toBeGreaterThan(0);
    await control("PUT", "snapshots/one");
    await control("POST", "reset");
    expect((await control("POST", "snapshots/one/restore")).status).toBe(200);
    expect(diffStates(before, await service.exportState())).toEqual([]);
    expect(await endedRuns(service, automation.id)).toEqual([ran]);
  });

  it("is replaced by one of its name, and can be deleted", async () => {
    await control("PUT", "snapshots/one");
    await ask(service, "DELETE", CONFIG);
    await control("PUT", "snapshots/one");
    await control("POST", "reset");
    await control("POST", "snapshots/one/restore");
    expect((await get()).status).toBe(404);
    expect((await control("DELETE", "snapshots/one")).status).toBe(200);
    expect((await control("POST", "snapshots/one/restore")).status).toBe(404);
    expect((await control("DELETE", "snapshots/one")).status).toBe(404);
    expect((await control("GET", "snapshots")).body.list).toEqual([]);
  });

  it("leaves clients and their tokens as they are, and stays over a restart", async () => {
    const db = join(temporaryFolder("snapshots"), "service.db");
    const client = { id: "admin", secret: "first-secret" };
    service = await startService({ db, client });
    await control("PUT", "snapshots/one");
    await service.stop();
    service = await startService({ db, client: { ...client, secret: "second-secret" } });
    await control("POST", "clients", { id: "later", secret: "later-secret", role: "super-admin" });
    const headers = { Authorization: `Bearer ${await service.token()}` };
    await ask(service, "DELETE", CONFIG, { headers });
    expect((await control("POST", "snapshots/one/restore")).status).toBe(200);
    expect((await ask(service, "GET", CONFIG, { headers })).status).toBe(200);
    for (const [client_id, client_secret] of [
      ["admin", "second-secret"],
      ["later", "later-secret"],
    ] as const) {
      const form = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
      expect((await fetch(`${service.url}/auth/v1/token`, { method: "POST", body: form })).status).toBe(200);
    }
  });
});

describe("the journal", () => {
  const search = async (filter: object) => (await control("POST", "journal/search", filter)).body;

  it("says how often an operation was asked, with which query", async () => {
    await get(`${OWNERS}?page_size=10&role_slug=owner`);
    await get(`${OWNERS}?pageSize=10&page_token=none`);
    await get(`${OWNERS}?pageSize=11`);
    expect((await search({ operation: "searchUserOwners" })).count).toBe(3);
    expect((await search({ query: { page_size: "10" } })).count).toBe(2);
    expect((await search({ query: { pageSize: 10, roleSlug: "owner" } })).count).toBe(1);
    const { count, list } = await search({ query: { page_token: "none" }, status: 400 });
    expect(count).toBe(1);
    expect(list[0]).toMatchObject({
      operation: "searchUserOwners",
      method: "GET",
      path: OWNERS,
      query: { pageSize: "10", page_token: "none" },
      fault: false,
    });
  });

  it.each([
    [{ operation: "getAuthConfg" }, "getAuthConfg", "did you mean getAuthConfig?"],
    [{ operation: "searchJournal" }, "searchJournal", "."],
    [{ method: "PSOT" }, "PSOT", "did you mean POST?"],
    [{ method: "get" }, "get", "did you mean GET?"],
    [{ path: "/api/v1/nowhere" }, "/api/v1/nowhere", "."],
    [{ operation: "searchUserOwners", query: { pagesize: "1" } }, "pagesize", "?"],
    [{ operation: "searchCohortUsers", body: { pagesize: 1 } }, "pagesize", "did you mean pageSize?"],
    [
      { operation: "searchCohortUsers", body: { profileFilters: [{ atribute: "a" }] } },
      "atribute",
      "did you mean attribute?",
    ],
  ])("refuses what no request can match: %j", async (filter, name, end) => {
    const { status, body } = await control("POST", "journal/search", filter);
    expect([status, body.message]).toEqual([400, expect.stringContaining(name)]);
    expect(body.message.endsWith(end)).toBe(true);
  });

  it("finds bodies by a part of them, in either spelling", async () => {
    const filters = [{ attribute: "department", values: ["Sales"] }];
    await ask(service, "POST", COHORT, { body: { page_size: 10, profileFilters: filters } });
    await ask(service, "POST", COHORT, { body: { pageSize: 11 } });
    expect((await search({ body: { pageSize: 10 } })).count).toBe(1);
    expect((await search({ body: { page_size: 10, profile_filters: filters } })).count).toBe(1);
    expect((await search({ body: { profileFilters: filters } })).count).toBe(1);
    expect((await search({ body: { profileFilters: null } })).count).toBe(1);
    expect((await search({ body: { page_size: null } })).count).toBe(0);
    expect((await search({ body: { profileFilters: [] } })).count).toBe(0);
    expect((await search({ path: COHORT, method: "POST" })).count).toBe(2);
  });

  it("has what failed on purpose, and not the remote control", async () => {
    await control("PUT", "faults/getAuthConfig", { sequence: [{ status: 503 }, { disconnect: true }] });
    await get();
    await get().catch(() => {});
    await get();
    await expect.poll(async () => (await search({})).count).toBe(3);
    const { list } = await search({});
    expect(list.map((one: { status: number; fault: boolean }) => [one.status, one.fault])).toEqual([
      [503, true],
      [0, true],
      [200, false],
    ]);
    await control("DELETE", "journal");
    expect((await search({})).count).toBe(0);
  });

  it("holds no secret, and no body that is large", async () => {
    const form = {
      grant_type: "client_credentials",
      client_id: service.clientId,
      client_secret: service.clientSecret,
    };
    await fetch(`${service.url}/auth/v1/token`, { method: "POST", body: new URLSearchParams(form) });
    await control("POST", "secrets", { text: "hunter2", creatorUserId: "user-ada" });
    await ask(service, "POST", COHORT, { body: { more: "x".repeat(20_000) } });
    const { list } = await search({});
    expect(list.map((one: { operation: string }) => one.operation)).toEqual([
      "createToken",
      "createSecret",
      "searchCohortUsers",
    ]);
    expect(list[0].body).toEqual({ ...form, client_secret: "[hidden]" });
    expect(list[2]).not.toHaveProperty("body");
    expect(JSON.stringify(list)).not.toMatch(new RegExp(`hunter2|${service.clientSecret}`));
  });

  it("keeps the latest thousand", async () => {
    for (let n = 0; n < 1_010; n += 10)
      await Promise.all(Array.from({ length: 10 }, (_, k) => fetch(`${service.url}${CONFIG}?n=${n + k}`)));
    const { count, list } = await search({});
    expect(count).toBe(1_000);
    expect(Number(list[0].query.n)).toBeGreaterThanOrEqual(10);
  });
});

it("a fixture's own state is not changed by what the remote control does", async () => {
  const other = await startService();
  service.setFault("getAuthConfig", { status: 503 });
  service.moveClock({ advanceMs: 86_400_000 });
  expect((await ask(other, "GET", CONFIG)).status).toBe(200);
  expect(FIXTURE.authConfigs).toHaveLength(7);
});
