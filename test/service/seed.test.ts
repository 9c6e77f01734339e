import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fixedClock } from "hookproof/testing";
import { createService, exampleRoutes, resetDatabase, type Service, seedDatabase } from "hookproof-service";
import { afterAll, describe, expect, it } from "vitest";
import { type Seed, seedParts } from "../../service/src/state/seed/seed.js";
import { itWith, LONG } from "../kit/needs.js";
import { ask } from "./running-service.js";

const folder = mkdtempSync(join(tmpdir(), "hookproof-seed-"));
afterAll(() => rmSync(folder, { recursive: true }));

function digest(seed: Seed): string {
  const hash = createHash("sha256");
  for (const part of seedParts(seed, { clientId: "admin", signingSecret: "s".repeat(43) }))
    hash.update(JSON.stringify(part));
  return hash.digest("hex");
}

const partsOf = (seed: Seed) => [...seedParts(seed, { clientId: "admin", signingSecret: "s".repeat(43) })];
const usersOf = (seed: Seed) => partsOf(seed).flatMap(({ users = [] }) => users);

describe("a seed", () => {
  it("is the same for the same number, and another for another", () => {
    expect(digest({ seed: 42 })).toBe(digest({}));
    expect(digest({ seed: 42 })).not.toBe(digest({ seed: 43 }));
    // What a seed gives is what people write into their tests; a change of it is a change for them.
    expect(digest({})).toMatchInlineSnapshot(
      `"a2c05a14d73fbb2d3c512a48e476b0c254e77e7e73d816f49656cf2d9df2a0ee"`,
    );
  });

  it("has the same users in any size", () => {
    expect(usersOf({ users: 2_500 }).slice(0, 250)).toEqual(usersOf({ users: 250 }));
    expect(new Set(usersOf({ users: 2_500 }).map(({ id }) => id)).size).toBe(2_500);
    expect(usersOf({ users: 1 })).toHaveLength(1);
  });

  it("has ids of 27 letters and digits", () => {
    for (const { id } of usersOf({})) expect(id).toMatch(/^[A-Za-z0-9]{27}$/);
  });

  it("has what the design promises", () => {
    const parts = partsOf({});
    const last = parts.at(-1);
    expect(parts[0]?.suggestions?.[0]?.userIds).toHaveLength(250);
    const kinds = last?.authConfigs?.map(({ providerType }) =>
      String(providerType).replace("AUTH_CONFIG_PROVIDER_TYPE_", ""),
    );
    expect(kinds?.sort()).toEqual([
      "GOOGLE",
      "JUMPCLOUD",
      "MICROSOFT",
      "OIDC",
      "OKTA",
      "ONELOGIN",
      "PINGONE",
      "SVC_LOCAL",
    ]);
    const states = new Set(last?.bridges?.[0]?.credentials?.map(({ credentialStatus }) => credentialStatus));
    expect(states).toContain("TUNNEL_CREDENTIAL_STATUS_ACTIVE");
    expect(states).toContain("TUNNEL_CREDENTIAL_STATUS_REVOKED");
    expect(last?.secrets?.map(({ views = -1 }) => views)).toEqual([-1, 5]);
    expect(last?.clients?.[0]?.role).toBe("super-admin");
    expect(last?.secrets?.[1]?.allowedUserIds).toEqual([last?.clients?.[0]?.userId]);
  });

  it("has users with managers up to the first one, and where their values come from", () => {
    const users = new Map(usersOf({}).map((one) => [one.id, one]));
    const [first] = users.values();
    const chains = [...users.values()].map((one) => {
      let length = 0;
      for (let at = one; at !== first; length++) {
        expect(at.managerSources).toMatchObject([{ value: at.managerIds?.[0] }]);
        at = users.get(at.managerIds?.[0] ?? "") as typeof one;
      }
      return length;
    });
    expect(Math.max(...chains)).toBeGreaterThan(2);
    for (const { department, departmentSources, directoryIds, jobTitle, jobTitleSources } of users.values()) {
      expect(departmentSources).toMatchObject([{ appId: directoryIds?.[0], value: department }]);
      expect(jobTitleSources).toMatchObject([{ appUserProfileAttributeKey: "jobTitle", value: jobTitle }]);
    }
  });

  it.each([[{ seed: -1 }], [{ seed: 1.5 }], [{ users: 0 }], [{ users: Number.NaN }]])(
    "refuses %j",
    async (options) => {
      await expect(createService(options)).rejects.toThrow(RangeError);
    },
  );

  it("and a fixture exclude each other", async () => {
    await expect(createService({ seed: 1, fixture: {} })).rejects.toThrow(TypeError);
  });

  itWith(...LONG)("of 10^6 users is made in bounded memory", async () => {
    const db = join(folder, "large.db");
    const before = process.memoryUsage.rss();
    let most = 0;
    const startedAt = performance.now();
    await seedDatabase({
      db,
      users: 1_000_000,
      onProgress: () => {
        most = Math.max(most, process.memoryUsage.rss() - before);
      },
    });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(
      `10^6 users: ${seconds} s, ${Math.round(most / 2 ** 20)} MiB more memory, ${Math.round(statSync(db).size / 2 ** 20)} MiB`,
    );
    expect(most).toBeLessThan(256 * 2 ** 20);
  });
});

describe("a seeded database", () => {
  it("survives a restart, and goes back to the seed on request, while the service runs", async () => {
    const db = join(folder, "restart.db");
    const client = { id: "local-admin", secret: "a secret of the test, long enough" };
    const clock = fixedClock("2026-02-01T00:00:00Z");
    const start = () => createService({ db, seed: 7, users: 10, client, clock });
    const tokenOf = async ({ url }: Service) => {
      const form = { grant_type: "client_credentials", client_id: client.id, client_secret: client.secret };
      const answer = await fetch(`${url}/auth/v1/token`, { method: "POST", body: new URLSearchParams(form) });
      return ((await answer.json()) as { access_token?: string }).access_token;
    };
    let service = await start();
    const route = (await exampleRoutes({ db, baseUrl: "" })).find(({ section }) => section === "4.2");
    const read = async () => (await ask(service, "GET", route?.url ?? "")).status;
    expect(await read()).toBe(200);
    expect((await ask(service, "DELETE", route?.url ?? "")).status).toBe(200);
    expect(await read()).toBe(404);
    await service.stop();

    service = await start();
    expect(await read()).toBe(404);
    await resetDatabase({ db });
    expect(await read()).toBe(200);
    expect(await tokenOf(service)).toBeTypeOf("string");
    expect((await ask(service, "DELETE", route?.url ?? "")).status).toBe(200);
    await service.reset();
    expect(await read()).toBe(200);
    expect(await tokenOf(service)).toBeTypeOf("string");
    await service.stop();
  });

  it("is loaded again where loading it was cut off", async () => {
    const db = join(folder, "cut.db");
    const program = `import { seedDatabase } from "hookproof-service";
      const onProgress = (done) => done === 2_000 && process.kill(process.pid, "SIGKILL");
      await seedDatabase({ db: ${JSON.stringify(db)}, users: 3_000, onProgress });`;
    const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", program]);
    expect(signal).toBe("SIGKILL");
    const service = await createService({ db, seed: 42, users: 3_000 });
    const routes = await exampleRoutes({ db, baseUrl: "" });
    expect(routes).toHaveLength(10);
    await service.stop();
  });

  it("is not replaced unasked, and a reset makes none", async () => {
    const db = join(folder, "full.db");
    await seedDatabase({ db, users: 1 });
    await expect(seedDatabase({ db, users: 2 })).rejects.toMatchObject({ code: "DATABASE_NOT_EMPTY" });
    await seedDatabase({ db, users: 2, replace: true });
    const missing = join(folder, "missing.db");
    await expect(resetDatabase({ db: missing })).rejects.toMatchObject({ code: "DATABASE_MISSING" });
    await expect(exampleRoutes({ db: missing, baseUrl: "" })).rejects.toMatchObject({
      code: "DATABASE_MISSING",
    });
    expect(statSync(db).mode & 0o777).toBe(0o600);
    expect(statSync(`${db}.identity`).mode & 0o777).toBe(0o600);
  });
});
