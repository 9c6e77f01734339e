import { join } from "node:path";
import type { ServiceLog } from "hookproof-service";
import { describe, expect, it } from "vitest";
import { openStorage } from "../../service/src/storage/storage.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { ask, startService } from "./running-service.js";

const CONFIG = "/api/v1/auth-configs/ac-oidc";

describe("an answer that does not fit the document", () => {
  /** A service whose stored state was changed from outside. */
  async function withWrongState(validateAnswers: boolean) {
    const failures: object[] = [];
    const error = (fields: object, message: string) => void failures.push({ ...fields, message });
    const log: ServiceLog = { info() {}, warn() {}, error };
    const db = join(temporaryFolder("answers"), "service.db");
    const service = await startService({ db, log, validateAnswers });
    const beside = await openStorage(db, { now: () => 0 });
    beside.db.exec("UPDATE auth_configs SET document = json_set(document, '$.displayName', 5)");
    beside.db.close();
    return { service, failures };
  }

  it("is a 500 with validateAnswers, and the log says which field", async () => {
    const { service, failures } = await withWrongState(true);
    const answer = await ask(service, "GET", CONFIG);
    expect(answer).toMatchObject({ status: 500, body: { code: 13, message: "Something went wrong here." } });
    const [{ error, ...logged } = { error: undefined }] = failures as { error?: object }[];
    expect(failures).toHaveLength(1);
    expect(logged).toMatchObject({
      message: "a request failed",
      requestId: answer.headers.get("x-request-id"),
    });
    expect(error).toMatchObject({
      message: "getAuthConfig would answer with authConfig.displayName, which must be string",
    });
  });

  it("is sent without", async () => {
    const { service, failures } = await withWrongState(false);
    expect(await ask(service, "GET", CONFIG)).toMatchObject({
      status: 200,
      body: { authConfig: { displayName: 5 } },
    });
    expect(failures).toEqual([]);
  });
});

it("what a caller does wrong is no failure in the log", async () => {
  const failures: string[] = [];
  const error = (_fields: object, message: string) => void failures.push(message);
  const service = await startService({ log: { info() {}, warn() {}, error } });
  const headers = { Authorization: "Bearer nonsense" };
  expect((await ask(service, "GET", CONFIG, { headers })).status).toBe(401);
  expect((await ask(service, "GET", "/nowhere")).status).toBe(404);
  expect((await ask(service, "PUT", CONFIG)).status).toBe(405);
  expect((await ask(service, "GET", "/api/v1/auth-configs/%ff")).status).toBe(400);
  expect(failures).toEqual([]);
});
