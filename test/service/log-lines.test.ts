import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { createEvent, hmacSigner, signRequest } from "hookproof";
import type { Service, ServiceLog } from "hookproof-service";
import { describe, expect, it } from "vitest";
import { loggedError, ServiceFault, serviceLog } from "../../service/src/server/log.js";
import { openStorage } from "../../service/src/storage/storage.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { endedRuns, ownAutomation } from "./own-automation.js";
import { ask, startService } from "./running-service.js";

/** What must be in no line, each under a text of its own. */
const PLANTED = {
  clientSecret: "planted-client-secret",
  otherSecret: "planted-other-secret",
  guess: "planted-guess",
  password: "planted-password",
  text: "planted-paper-text",
  recipient: "planted-recipient",
  body: "planted-body",
  query: "planted-query",
  header: "planted-header",
  stored: "planted-stored",
  providerSecret: "planted-provider-secret",
  bucketSecret: "planted-bucket-secret",
};

const READER = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg";
const JSON_TYPE = { "Content-Type": "application/json" };

/** Everything a service logs, as pino writes it and as a logger of one's own is given it. */
async function recordedLog(): Promise<{ log: ServiceLog; lines: string[]; messages: Set<string> }> {
  const lines: string[] = [];
  const messages = new Set<string>();
  const pino = await serviceLog("info", { write: (line) => void lines.push(line) });
  const both = (level: "info" | "warn" | "error") => (fields: object, message: string) => {
    messages.add(message);
    lines.push(inspect(fields, { depth: 20, showHidden: true, maxStringLength: null }) + message);
    pino[level](fields, message);
  };
  return { log: { info: both("info"), warn: both("warn"), error: both("error") }, lines, messages };
}

describe("no secret, token, body or password is in any log line", () => {
  it("whatever goes wrong", async () => {
    const db = join(temporaryFolder("log-lines"), "service.db");
    const { log, lines, messages } = await recordedLog();
    const service = await startService({
      db,
      log,
      validateAnswers: false,
      client: { id: "admin", secret: PLANTED.clientSecret },
      attemptLimits: { failures: 3 },
      onRun: ({ body }) => {
        throw new Error(`no place for ${body}`, { cause: new SyntaxError(`at ${body}\n    at ${body}`) });
      },
      s3: {
        endpoint: `http://127.0.0.1:1/${PLANTED.query}`,
        bucket: "paper",
        accessKeyId: "AKIATEST",
        secretAccessKey: PLANTED.bucketSecret,
      },
      fixture: {
        users: [{ id: "ada" }],
        clients: [{ id: "robot", secret: PLANTED.otherSecret }],
        authConfigs: [
          { id: "ac", okta: { domain: "d", oidcClientId: "c", oidcClientSecret: PLANTED.providerSecret } },
        ],
        secrets: [{ id: "note", creatorUserId: "ada", text: PLANTED.text }],
      },
    });
    const statuses = new Set<number>();
    const send = async (
      method: string,
      path: string,
      given: { body?: unknown; headers?: Record<string, string> } = {},
    ) => {
      const { status } = await ask(service, method, path, given);
      statuses.add(status);
      return status;
    };
    const tokens = [await service.token(), await service.token({ role: "member" })];
    const [good = "", member = ""] = tokens;

    // Tokens and clients: right, wrong, malformed, too many.
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const asked = (id: string, secret: string) =>
      `grant_type=client_credentials&client_id=${id}&client_secret=${secret}`;
    const token = "/auth/v1/token";
    await send("POST", token, {
      headers: { ...form, Authorization: `Basic ${btoa(`robot:${PLANTED.password}`)}` },
    });
    for (let n = 0; n < 5; n++) await formPost(service, asked("robot", PLANTED.guess), statuses);
    await formPost(service, asked("admin", PLANTED.clientSecret), statuses);
    await formPost(
      service,
      `${asked("admin", PLANTED.clientSecret)}&client_secret=${PLANTED.guess}`,
      statuses,
    );
    await formPost(service, `client_assertion=${good}&grant_type=client_credentials`, statuses);
    for (const wrong of [
      `Bearer ${good}${PLANTED.header}`,
      `Bearer ${PLANTED.header}`,
      PLANTED.header,
      `Basic ${PLANTED.password}`,
    ])
      await send("GET", "/api/v1/auth-configs/ac", { headers: { Authorization: wrong } });
    await send("DELETE", "/api/v1/auth-configs/ac", { headers: { Authorization: `Bearer ${member}` } });

    // Paths, queries, bodies.
    await send("GET", `/api/v1/auth-configs/ac?secret=${PLANTED.query}`);
    await send("GET", `/nowhere?token=${PLANTED.query}`);
    await send("PUT", `/api/v1/auth-configs/ac?token=${PLANTED.query}`, { body: PLANTED.body });
    await send("GET", `/api/v1/iam/tunnel/bridges/none/credentials?page_token=${PLANTED.query}`);
    for (const body of [
      `{"text":"${PLANTED.body}`,
      PLANTED.body,
      `["${PLANTED.body}"]`,
      { [PLANTED.body]: 1, text: 5 },
    ])
      await send("POST", "/local/v1/secrets", { body, headers: JSON_TYPE });
    await send("POST", "/local/v1/secrets", {
      body: PLANTED.body,
      headers: { "Content-Type": "text/plain" },
    });
    await send("POST", "/local/v1/secrets", { body: PLANTED.body.repeat(100_000), headers: JSON_TYPE });
    await send("POST", "/api/v1/secrets/note/view", { body: { readerRecipient: PLANTED.recipient } });
    await send("POST", "/api/v1/secrets/note/view", { body: { readerRecipient: READER } });
    await send("POST", "/api/v1/search/secrets-admin/audit_events", { body: { actorEmail: PLANTED.body } });

    // Events: accepted, whose callback throws, duplicate, wrong, and where the automation cannot be read.
    const own = await ownAutomation(service, {
      steps: [{ name: "a", templates: { x: "{{ ctx.trigger.text + 1 }}" } }],
    });
    let event = createEvent({ text: PLANTED.body });
    const post = async (secret: string, change: Record<string, string> = {}) => {
      const signed = await signRequest({ url: own.listenerUrl, signer: hmacSigner({ secret }), event });
      const answer = await fetch(own.listenerUrl, {
        method: "POST",
        headers: { ...signed.headers, ...change },
        body: signed.body,
      });
      statuses.add(answer.status);
    };
    await post(own.signingSecret);
    await endedRuns(service, own.id);
    await post(own.signingSecret);
    await post(`${PLANTED.guess}-and-some-more-of-it`);
    await post(own.signingSecret, { "Content-Type": "text/plain", Cookie: PLANTED.header });

    // A connection that is cut in the middle of a body.
    const socket = connect(service.port, "127.0.0.1");
    socket.write(
      `POST /local/v1/secrets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${good}\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"text":"${PLANTED.body}`,
    );
    await once(socket, "connect");
    await new Promise<void>((resolve) => socket.end(() => resolve()));

    // What nobody foresaw: the bucket is away, rows are broken, tables are gone.
    const file = { filename: "a", contentBase64: btoa(PLANTED.text) };
    await send("POST", "/local/v1/secrets", { body: { creatorUserId: "ada", file } });
    const beside = await openStorage(db, { now: () => 0 });
    const broken = (column: string, table: string) =>
      beside.db.exec(`UPDATE ${table} SET ${column} = '{"d":"${PLANTED.stored}'`);
    beside.db.exec(
      `CREATE TRIGGER broken BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, '${PLANTED.stored}'); END`,
    );
    event = createEvent({ text: PLANTED.body });
    await post(own.signingSecret);
    broken("steps", "automations");
    await send("GET", `/local/v1/automations/${own.id}`);
    await post(own.signingSecret);
    broken("document", "auth_configs");
    await send("GET", "/api/v1/auth-configs/ac");
    beside.db.exec("DROP TABLE paper_secrets");
    await send("POST", "/local/v1/secrets", { body: { creatorUserId: "ada", text: PLANTED.text } });
    beside.db.close();
    await service.stop();

    expect([...statuses].sort()).toEqual(
      expect.arrayContaining([200, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503]),
    );
    expect([...messages].sort()).toEqual([
      "a client was refused",
      "a request failed",
      "a run ended",
      "a webhook was accepted",
      "a webhook was refused",
      "answered",
      "onRun failed",
      "the connection was cut",
    ]);
    const signatures = tokens.map((one) => one.split(".")[2] ?? "");
    for (const secret of [...Object.values(PLANTED), "planted", own.signingSecret, ...tokens, ...signatures])
      for (const shown of [secret, btoa(secret), encodeURIComponent(secret)])
        expect(lines.filter((line) => line.includes(shown))).toEqual([]);
    // What went wrong can still be found: its kind, its code, and where.
    const failures = lines
      .filter((line) => line.includes('"a request failed"'))
      .map((line) => JSON.parse(line));
    expect(failures.map(({ error }) => error.type)).toEqual(
      expect.arrayContaining(["SyntaxError", "TypeError"]),
    );
    for (const { error, requestId } of failures) {
      expect(error.at.join("\n")).toMatch(/service\/src\/.+:\d+:\d+/);
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  async function formPost(service: Service, body: string, statuses: Set<number>): Promise<void> {
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await fetch(`${service.url}/auth/v1/token`, { method: "POST", headers, body });
    await answer.arrayBuffer();
    statuses.add(answer.status);
  }
});

describe("an error in a log line", () => {
  it("has its kind, its code and its places, and not its words", () => {
    const error = Object.assign(new RangeError("the word\n    at the place of the word"), {
      code: "SQLITE_BUSY",
      body: "the word",
    });
    const logged = loggedError(error);
    expect(logged).toEqual({ type: "RangeError", code: "SQLITE_BUSY", at: expect.any(Array) });
    expect(logged.at[0]).toContain("log-lines.test.ts");
    expect(JSON.stringify(logged)).not.toContain("the word");
  });

  it("of the service's own says what it is, and what it came from says its kind", () => {
    const error = new ServiceFault("the store answered 500", { cause: new TypeError("the word") });
    expect(loggedError(error)).toMatchObject({
      type: "ServiceFault",
      message: "the store answered 500",
      cause: { type: "TypeError", at: expect.any(Array) },
    });
    expect(loggedError(error).cause).not.toHaveProperty("message");
  });

  it.each<[what: string, thrown: unknown]>([
    ["a text", "the word"],
    ["an object", { message: "the word" }],
    ["a name that is none", Object.assign(new Error("x"), { name: "the word" })],
    ["a code that is none", Object.assign(new Error("x"), { code: "the word!" })],
    ["a stack of somebody else's", Object.assign(new Error("x"), { stack: "    at the word" })],
    ["a stack that is none", Object.assign(new Error("x"), { stack: 5 })],
    ["a message that is none", Object.assign(new Error("x"), { message: { the: "word" } })],
  ])("gives nothing away where %s was thrown", (_what, thrown) => {
    expect(JSON.stringify(loggedError(thrown))).not.toContain("word");
  });

  it("ends, also where its causes do not", () => {
    const error = new Error("x");
    error.cause = error;
    expect(JSON.stringify(loggedError(error)).match(/"cause"/g)).toHaveLength(5);
    const deep = (levels: number): number[] => (levels === 0 ? [] : [...deep(levels - 1), JSON.parse("[")]);
    try {
      deep(100);
      expect.fail();
    } catch (thrown) {
      expect(loggedError(thrown).at.length).toBeLessThanOrEqual(20);
    }
  });
});

it("pino leaves out what has the name of a secret, where a line should ever have one", async () => {
  const lines: string[] = [];
  const log = await serviceLog("warn", { write: (line) => void lines.push(line) });
  const fields = {
    secret: "word",
    request: { headers: { a: "word" }, body: "word" },
    a: { b: { token: "word" } },
  };
  log.error({ ...fields, status: 500 }, "failed");
  log.warn({ client_secret: "word", clientSecret: "word" }, "warned");
  log.info({}, "not written");
  expect(lines).toHaveLength(2);
  expect(lines.join("")).not.toContain("word");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: 50,
    msg: "failed",
    status: 500,
    secret: "[Redacted]",
  });
  expect(await serviceLog("silent")).toBe((await import("../../service/src/server/log.js")).silentLog);
});
