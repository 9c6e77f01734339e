import { execFile } from "node:child_process";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SpanStatusCode } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { fixedClock } from "hookproof/testing";
import { createService, type ServiceLog } from "hookproof-service";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { ask, startService } from "./running-service.js";

const PATH = "/api/v1/auth-configs/ac-oidc";

/** Runs a script in a process of its own, with the service as it was built. */
function runScript(script: string): Promise<{ stdout: string; stderr: string }> {
  const text = `import { createService } from "hookproof-service";${script}`;
  const cwd = fileURLToPath(new URL("../../", import.meta.url));
  return promisify(execFile)(process.execPath, ["--input-type=module", "-e", text], {
    cwd,
    timeout: 600_000,
  });
}

describe("createService", () => {
  it("stops at the end of its block, and stopping twice is once", async () => {
    let url: string;
    {
      await using service = await createService();
      url = service.url;
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: "ready" });
      await service.stop();
    }
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it("leaves no handle open: a process that started one ends by itself", async () => {
    const { stdout } = await runScript(`
      const service = await createService();
      await fetch(service.url + "/auth/v1/token", { method: "POST" });
      await service.stop();
      console.log("stopped");`);
    expect(stdout).toBe("stopped\n");
  });

  it("keeps its state in a file that nobody else may read", async () => {
    const folder = temporaryFolder("service");
    const db = join(folder, "service.db");
    const client = { id: "admin", secret: "kept-secret" };
    const before = await startService({ db, client });
    await ask(before, "DELETE", PATH);
    await before.stop();
    expect(statSync(db).mode & 0o777).toBe(0o600);

    // The fixture is for an empty database only: what was deleted stays deleted.
    const after = await startService({ db, client });
    expect((await ask(after, "GET", PATH)).status).toBe(404);
    expect((await ask(after, "GET", "/api/v1/auth-configs/ac-okta")).status).toBe(200);
    const params = { grant_type: "client_credentials", client_id: "admin", client_secret: "kept-secret" };
    const token = await fetch(`${after.url}/auth/v1/token`, {
      method: "POST",
      body: new URLSearchParams(params),
    });
    expect(token.status).toBe(200);
  });

  it("says which file is no database, or of a later version, and leaves it alone", async () => {
    const folder = temporaryFolder("service");
    const noDatabase = join(folder, "notes.txt");
    writeFileSync(noDatabase, "Not a database, but long enough to be taken for one.".repeat(40), {
      mode: 0o600,
    });
    await expect(createService({ db: noDatabase })).rejects.toThrow(`${noDatabase} cannot be opened`);

    const db = join(folder, "service.db");
    await (await startService({ db })).stop();
    const { default: LibSql } = await import("libsql");
    const later = new LibSql(db);
    later.exec("PRAGMA user_version = 99");
    later.close();
    await expect(createService({ db })).rejects.toThrow(/it has version 99/);
    await expect(createService({ db: join(folder, "none", "service.db") })).rejects.toThrow(
      "there is no such folder",
    );
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  it("refuses a fixture that does not fit, and what refers to nothing", async () => {
    const wrong = { authConfigs: [{ id: "a", displayName: 5 as never }] };
    await expect(createService({ fixture: wrong })).rejects.toThrow("displayName must be string");
    const dangling = { suggestions: [{ id: "s", userIds: ["nobody"] }] };
    await expect(createService({ fixture: dangling })).rejects.toThrow("nobody");
  });

  it.each([
    { id: "", secret: "s" },
    { id: "admin", secret: "" },
  ])("refuses a client that anybody could be: %j", async (client) => {
    await expect(createService({ client })).rejects.toThrow(TypeError);
  });

  it("has the time of its clock", async () => {
    const clock = fixedClock("2030-01-01T00:00:00Z");
    const service = await startService({ clock });
    const { body } = await ask(service, "GET", "/api/v1/auth-configs/ac-okta");
    expect(body.authConfig.createdAt).toBe("2030-01-01T00:00:00.000Z");
  });
});

describe("faults", () => {
  it("fail an operation as often as was asked for, and no other", async () => {
    const service = await startService({ faults: { getAuthConfig: { status: 503, times: 2 } } });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await ask(service, "GET", PATH)).status);
    expect(statuses).toEqual([503, 503, 200]);
    service.setFault("getAuthConfig", { status: 429 });
    expect((await ask(service, "GET", PATH)).status).toBe(429);
    expect((await ask(service, "DELETE", "/api/v1/auth-configs/ac-okta")).status).toBe(200);
    service.setFault("getAuthConfig", undefined);
    expect((await ask(service, "GET", PATH)).status).toBe(200);
  });

  it("cut connections, delay answers, and hit the token endpoint too", async () => {
    const service = await startService();
    service.setFault("getAuthConfig", { disconnect: true, times: 1 });
    await expect(ask(service, "GET", PATH)).rejects.toThrow();
    service.setFault("getAuthConfig", { delayMs: 30, times: 1 });
    const start = performance.now();
    expect((await ask(service, "GET", PATH)).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThan(25);
    service.setFault("createToken", { status: 500 });
    expect((await fetch(`${service.url}/auth/v1/token`, { method: "POST" })).status).toBe(500);
  });

  it("do not hold up the end", async () => {
    const service = await startService({ latencyMs: 60_000 });
    const waiting = ask(service, "GET", PATH).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    await service.stop();
    await waiting;
  });

  it.each([
    { status: 199 },
    { status: 600 },
    { status: 1.5 },
    { delayMs: -1 },
    { times: 0 },
    { retryAfterSeconds: -1 },
  ])("are refused: %o", async (fault) => {
    const service = await startService();
    expect(() => service.setFault("getAuthConfig", fault)).toThrow(RangeError);
    await expect(createService({ latencyMs: Number.NaN })).rejects.toThrow(RangeError);
  });
});

describe("what is told of requests", () => {
  it("is logged with the request's id, and holds no token and no query", async () => {
    const lines: object[] = [];
    const write = (fields: object, message: string) => void lines.push({ ...fields, message });
    const log: ServiceLog = { info: write, warn: write, error: write };
    const service = await startService({ log });
    const path = "/api/v1/iam/tunnel/bridges/bridge-1/credentials";
    await ask(service, "GET", `${path}?page_token=`, { headers: { "X-Request-Id": "mine-1" } });
    expect(lines).toEqual([
      {
        requestId: "mine-1",
        method: "GET",
        path,
        operation: "listBridgeCredentials",
        status: 200,
        durationMs: expect.any(Number),
        message: "answered",
      },
    ]);
  });

  it("goes to standard error through pino, for a level", async () => {
    const { stdout, stderr } = await runScript(`
      const service = await createService({ log: "info" });
      await fetch(service.url + "/nowhere");
      await service.stop();`);
    expect(stdout).toBe("");
    const line = JSON.parse(stderr);
    expect(line).toMatchObject({ level: 30, path: "/nowhere", status: 404, msg: "answered" });
  });

  it("becomes a span", async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const service = await startService({ tracer: provider.getTracer("test") });
    service.setFault("deleteAuthConfig", { status: 503 });
    await ask(service, "GET", PATH);
    await ask(service, "DELETE", PATH);
    await service.stop();
    const [read, failed] = exporter.getFinishedSpans();
    expect(read).toMatchObject({
      name: "GET",
      kind: 1,
      attributes: {
        "http.request.method": "GET",
        "url.path": PATH,
        "http.route": "/api/v1/auth-configs/{id}",
        "hookproof.operation": "getAuthConfig",
        "http.response.status_code": 200,
      },
    });
    expect(failed?.status.code).toBe(SpanStatusCode.ERROR);
  });
});
