import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEvent, createSender, hmacSigner, signRequest } from "hookproof";
import { nodeTransport } from "hookproof/node";
import { fixedClock } from "hookproof/testing";
import { createService, parseFixture, readFixture, resetDatabase, seedDatabase } from "hookproof-service";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { ownAutomation } from "./own-automation.js";
import { ask, startService } from "./running-service.js";

/** How a service starts, and how it fails to. */

const HMAC = { hmac: {} };
const INSECURE = `
automations:
  - trigger: { jwt: { jwksUrl: "http://127.0.0.1:4590/j" } }
`;

describe("a start that fails", () => {
  const failures: [what: string, start: (db: string) => Promise<unknown>][] = [
    ["for a mistake in the fixture", (db) => createService({ db, fixture: { users: [{ id: "a b" }] } })],
    [
      "for an automation that cannot run",
      (db) =>
        createService({ db, fixture: { automations: [{ trigger: HMAC, allowedCidrs: ["10.0.0.1/8"] }] } }),
    ],
    ["for a port in use", async (db) => createService({ db, port: (await startService()).port })],
    ["for a seed that fails", (db) => seedDatabase({ db, fixture: { users: [{ id: "a b" }] } })],
  ];

  it.each(failures)("leaves nothing that it made: %s", async (_what, start) => {
    const folder = temporaryFolder("start");
    await expect(start(join(folder, "service.db"))).rejects.toThrow();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(failures)("leaves what was there: %s", async (_what, start) => {
    const folder = temporaryFolder("start");
    const db = join(folder, "service.db");
    await (await startService({ db })).stop();
    const before = readdirSync(folder);
    await start(db).then(
      (started) => (started as { stop(): Promise<void> }).stop(),
      () => {},
    );
    expect(readdirSync(folder)).toEqual(before);
    const after = await startService({ db, fixture: {} });
    expect(after.isStateNew).toBe(false);
    expect((await ask(after, "GET", "/api/v1/auth-configs/ac-okta")).status).toBe(200);
  });

  it("says so for a folder in the place of the database", async () => {
    const folder = temporaryFolder("start");
    await expect(createService({ db: folder })).rejects.toThrow(
      `${folder} cannot be opened as the service's database: it is a folder`,
    );
  });
});

describe("the identity of a database", () => {
  it.each<[what: string, change: (file: string) => void, code: string]>([
    ["missing", (file) => rmSync(file), "IDENTITY_MISSING"],
    [
      "another's",
      (file) => writeFileSync(file, "AGE-SECRET-KEY-1OTHER\n", { mode: 0o600 }),
      "IDENTITY_WRONG",
    ],
  ])(
    "that is %s is refused by every start, and nothing is made in its place",
    async (_what, change, code) => {
      const folder = temporaryFolder("start");
      const db = join(folder, "service.db");
      await (await startService({ db })).stop();
      renameSync(`${db}.identity`, `${db}.kept`);
      writeFileSync(`${db}.identity`, "", { mode: 0o600 });
      change(`${db}.identity`);
      const files = readdirSync(folder);
      await expect(createService({ db })).rejects.toMatchObject({ code });
      await expect(resetDatabase({ db })).rejects.toMatchObject({ code });
      expect(readdirSync(folder)).toEqual(files);
      renameSync(`${db}.kept`, `${db}.identity`);
      await (await createService({ db })).stop();
    },
  );
});

describe("a key set at a private address", () => {
  it("can be in a fixture, a seed and a reset that allow it, and in none that does not", async () => {
    const folder = temporaryFolder("start");
    const db = join(folder, "service.db");
    const fixture = await parseFixture(INSECURE, "team.yaml");
    const wrong = "team.yaml:3: automations[0].trigger.jwt.jwksUrl";
    await expect(createService({ db, fixture })).rejects.toThrow(wrong);
    await expect(seedDatabase({ db, fixture })).rejects.toThrow(wrong);
    await seedDatabase({ db, fixture, allowInsecure: true });
    await (await createService({ db, allowInsecure: true })).stop();
    await resetDatabase({ db, allowInsecure: true });
    await expect(resetDatabase({ db })).rejects.toThrow("automations[0].trigger.jwt.jwksUrl");
  });
});

describe("a mistake in a fixture", () => {
  it.each<[yaml: string, message: string]>([
    [
      "automations:\n  - trigger: { hmac: {} }\n    steps:\n      - name: a\n        condition: '1 +'",
      "team.yaml:5: automations[0].steps[0].condition",
    ],
    [
      "automations:\n  - trigger: { hmac: {} }\n    allowedCidrs:\n      - 10.0.0.0/8\n      - 10.0.0.1/8",
      "team.yaml:5: automations[0].allowedCidrs[1]",
    ],
    ["automations:\n  - displayName: x\n    trigger: {}", "team.yaml:3: automations[0].trigger"],
    [
      "automations:\n  - trigger:\n      jwt:\n        jwksUrl: ftp://example.com/j",
      "team.yaml:4: automations[0].trigger.jwt.jwksUrl",
    ],
    [
      "automations:\n  - trigger: { hmac: {} }\n    signingSecret: ''",
      "team.yaml:3: automations[0].signingSecret",
    ],
    [
      "users: [{ id: ada }]\nsecrets:\n  - id: s\n    creatorUserId: ada",
      "team.yaml:3: secrets[0].text is missing, and so is file",
    ],
    [
      "users: [{ id: ada }]\nsecrets:\n  - { id: s, creatorUserId: ada, text: t, file: { filename: f, contentBase64: '' } }",
      "team.yaml:3: secrets[0] has text and file, and at most one of them may be set",
    ],
    [
      "users: [{ id: ada }]\nsecrets:\n  - { id: 'http:10.0.0.5:9200', creatorUserId: ada, file: { filename: f, contentBase64: '' } }",
      "team.yaml:3: secrets[0].id is of a file, and must be 1 to 64 letters, digits, - and _",
    ],
    [
      "authConfigs:\n  - id: x\n    okta: { domain: a }\n    oidc: { issuerId: b }",
      "team.yaml:2: authConfigs[0] has okta and oidc, and at most one of them may be set",
    ],
    [
      "apps:\n  - id: a\n    entitlements:\n      - id: e\n        provisionerPolicy: { unconfigured: {}, webhook: {} }",
      "team.yaml:5: apps[0].entitlements[0].provisionerPolicy has unconfigured and webhook",
    ],
    [
      'users:\n  - { id: ada, displayName: "a\\uD800" }',
      "team.yaml:2: users[0].displayName has half of a surrogate pair",
    ],
  ])("is named with file, line and path: %s", async (yaml, message) => {
    const file = join(temporaryFolder("start"), "team.yaml");
    writeFileSync(file, yaml);
    const start = async () => createService({ fixture: await readFixture(file) });
    await expect(start()).rejects.toThrow(message);
    await expect(start()).rejects.toMatchObject({ code: "FIXTURE_INVALID", name: "FixtureError" });
  });
});

it("a fixture's file in another encoding is refused, and one with a byte order mark is read", async () => {
  const file = join(temporaryFolder("start"), "team.yaml");
  const yaml = "users:\n  - { id: u_1, email: m\u00fc@example.com }\n";
  for (const bytes of [Buffer.from(yaml, "latin1"), Buffer.from(`\uFEFF${yaml}`, "utf16le")]) {
    writeFileSync(file, bytes);
    await expect(readFixture(file)).rejects.toMatchObject({
      code: "FIXTURE_INVALID",
      message: expect.stringContaining("is not UTF-8"),
    });
  }
  writeFileSync(file, `\uFEFF${yaml}`);
  expect(await readFixture(file)).toEqual(await parseFixture(yaml));
});

describe("the type of an auth config", () => {
  it.each([
    ["okta", { okta: { domain: "a" } }, "AUTH_CONFIG_PROVIDER_TYPE_OKTA"],
    ["svcLocal", { svcLocal: {} }, "AUTH_CONFIG_PROVIDER_TYPE_SVC_LOCAL"],
    ["google", { google: {} }, "AUTH_CONFIG_PROVIDER_TYPE_GOOGLE"],
    ["google next to oidc", { google: {}, oidc: {} }, "AUTH_CONFIG_PROVIDER_TYPE_OIDC"],
    ["nothing", {}, "AUTH_CONFIG_PROVIDER_TYPE_UNSPECIFIED"],
    ["its own word", { okta: {}, providerType: "OF_TOMORROW" }, "OF_TOMORROW"],
  ])("is that of its provider: %s", async (_name, member, type) => {
    const service = await startService({ fixture: { authConfigs: [{ id: "x", ...member } as never] } });
    expect((await ask(service, "GET", "/api/v1/auth-configs/x")).body.authConfig.providerType).toBe(type);
  });
});

describe("an option that there is not", () => {
  it.each<[options: object, message: string]>([
    [{ nope: 1 }, "createService has no option nope"],
    [{ fixtur: {} }, "createService has no option fixtur; did you mean fixture?"],
    [{ tokenLifeTimeSeconds: 5 }, "did you mean tokenLifetimeSeconds?"],
    [{ attemptLimits: { failure: 1 } }, "attemptLimits has no option failure; did you mean failures?"],
    [{ limits: { headerMs: 1 } }, "limits has no option headerMs; did you mean headersMs?"],
    [
      { faults: { getAuthConfg: { status: 503 } } },
      "faults has no option getAuthConfg; did you mean getAuthConfig?",
    ],
    [{ client: { id: "a", secert: "b" } }, "client has no option secert; did you mean secret?"],
  ])("is refused: %j", async (options, message) => {
    const start = createService(options as never);
    await expect(start).rejects.toThrow(TypeError);
    await expect(start).rejects.toThrow(message);
  });

  it("is refused by seedDatabase, resetDatabase, token and setFault too", async () => {
    const db = join(temporaryFolder("start"), "service.db");
    await expect(seedDatabase({ db, sed: 1 } as never)).rejects.toThrow("did you mean seed?");
    await expect(resetDatabase({ db, allow: true } as never)).rejects.toThrow(
      "resetDatabase has no option allow",
    );
    const service = await startService();
    await expect(service.token({ rol: "member" } as never)).rejects.toThrow("did you mean role?");
    expect(() => service.setFault("getAuthConfig", { staus: 503 } as never)).toThrow("did you mean status?");
    expect(() => service.setFault("getAuthConfg" as never, { status: 503 })).toThrow(
      "did you mean getAuthConfig?",
    );
  });
});

describe("the clock of a service", () => {
  it("is the clock of every answer's Date", async () => {
    const clock = fixedClock("2030-01-01T00:00:00Z");
    const service = await startService({ clock });
    const { listenerId } = await ownAutomation(service);
    const paths = [
      "/healthz",
      "/reference",
      "/auth/v1/token",
      "/nowhere",
      "/api/v1/auth-configs/ac-okta",
      `/api/v1/webhooks/incoming/${listenerId}`,
    ];
    for (const path of paths) {
      const answer = await fetch(service.url + path, { method: path.includes("incoming") ? "POST" : "GET" });
      expect(answer.headers.get("date"), path).toBe("Tue, 01 Jan 2030 00:00:00 GMT");
    }
    clock.advance(1_000);
    expect((await fetch(`${service.url}/healthz`)).headers.get("date")).toBe("Tue, 01 Jan 2030 00:00:01 GMT");
  });

  it("lets a sender correct its own by it", async () => {
    // Within what a sender believes, which is a day.
    const service = await startService({ clock: fixedClock(Date.now() + 7_200_000) });
    const { listenerId, signingSecret } = await ownAutomation(service);
    const sender = createSender({
      url: `${service.url}/api/v1/webhooks/incoming/${listenerId}`,
      signer: hmacSigner({ secret: signingSecret }),
      transport: nodeTransport(),
    });
    const delivery = await sender.send(createEvent({ n: 1 }));
    expect(delivery).toMatchObject({ outcome: "accepted" });
    // Without a correction the same signer is refused.
    const url = `${service.url}/api/v1/webhooks/incoming/${listenerId}`;
    const signed = await signRequest({
      url,
      signer: hmacSigner({ secret: signingSecret }),
      event: createEvent({ n: 2 }),
    });
    const answer = await fetch(url, { ...signed, body: Buffer.from(signed.body) });
    expect(await answer.json()).toMatchObject({ code: "TIMESTAMP_OUT_OF_WINDOW" });
  });
});

it("a log line has the whole path of a webhook", async () => {
  const lines: Record<string, unknown>[] = [];
  const write = (fields: object, message: string) => void lines.push({ ...fields, message });
  const service = await startService({ log: { info: write, warn: write, error: write } });
  await fetch(`${service.url}/api/v1/webhooks/incoming/lst_none`, { method: "POST" });
  await expect
    .poll(() => lines.find(({ status }) => status === 404)?.path)
    .toBe("/api/v1/webhooks/incoming/lst_none");
});
