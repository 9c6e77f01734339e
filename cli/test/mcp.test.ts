import { createHmac } from "node:crypto";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { heldPort } from "../../test/kit/held-port.mjs";
import { documentedTypes, isAsDocumented } from "../../test/kit/json-output.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { BIN, documentsOf, type Home, openHome } from "./kit/mcp-process.js";
import { ATTEMPT, IDS, LISTENER } from "./kit/other-program.js";

/** `hookproof mcp` as an assistant's program uses it: by the client of the official SDK. */

const TENANT = "https://tenant.invalid/api/v1/webhooks/incoming/lst_1";

beforeAll(requireBuild);

/** A client, connected to the command, and all that came from it. */
async function connected(home: Home, ...flags: string[]) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, "mcp", ...flags],
    cwd: home.folder,
    env: home.env,
    stderr: "pipe",
  });
  const client = new Client({ name: "test", version: "1" });
  const seen: string[] = [];
  transport.stderr?.on("data", (chunk) => seen.push(String(chunk)));
  await client.connect(transport);
  onTestFinished(() => client.close());
  seen.push(JSON.stringify(client.getInstructions()), JSON.stringify(await client.listTools()));
  return {
    client,
    seen,
    async call(name: string, input: Record<string, unknown> = {}) {
      const result = await client.callTool({ name, arguments: input });
      seen.push(JSON.stringify(result));
      return documentsOf(result as Parameters<typeof documentsOf>[0]);
    },
  };
}

/** A project with an outbox in which an event could not be delivered. */
async function deadLetterIn(home: Home): Promise<void> {
  const store = sqliteStore({ open: () => openSqlite(join(home.folder, "app.db")) });
  const outbox = createOutbox({ store, listeners: { offboarding: LISTENER } });
  await outbox.enqueue({ listener: "offboarding", eventId: IDS[0] ?? "", payload: {} });
  const listeners = new Map([["offboarding", { most: 1, windowMs: 604_800_000 }]]);
  const [claimed] = await store.claim({ limit: 1, leaseMs: 60_000, listeners });
  const lease = claimed?.lease ?? expect.fail("nothing was claimed");
  await store.fail(lease, { reason: "refused", code: "REQUEST_REFUSED", attempt: ATTEMPT, blocksKey: false });
  await store.close();
}

it("listens, sends, explains a refusal and replays; every document is as docs/json-output.md says", async () => {
  const home = openHome();
  home.configure({ tenant: { target: TENANT }, here: { target: ":4400" } });
  home.run("outbox", "create", "--outbox", "app.db");
  const { client, seen, call } = await connected(
    home,
    "--allow",
    "listen",
    "--allow",
    "send",
    "--outbox",
    "app.db",
  );
  const documents: Record<string, unknown>[] = [];
  const one = async (name: string, input?: Record<string, unknown>) => {
    const [document = {}, ...more] = await call(name, input);
    documents.push(document, ...more);
    return document;
  };

  const listening = await one("start_listener", { port: await heldPort() });
  const port = Number(new URL(String(listening.url)).port);
  expect(await one("list_listeners")).toMatchObject({
    listeners: [{ port, answers: true, keepsRequests: true, startedHere: true }],
  });
  const sent = await one("send_event", {
    target: `:${port}`,
    body: { type: "user.offboarded", userId: "u_1" },
  });
  expect(sent).toMatchObject({ type: "send", ok: true, status: 200 });
  expect(await one("replay_event", { eventId: "last", target: `:${port}` })).toMatchObject({
    ok: true,
    status: 409,
  });
  expect(await one("replay_event", { eventId: "last", target: `:${port}`, newId: true })).toMatchObject({
    status: 200,
  });

  // A sender who hashes the decoded secret; the listener's secret is in the session file, as for every sender here.
  const { secret, inspector } = home.session(port);
  const body = '{"a":1}';
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", Buffer.from(secret, "base64url"))
    .update(`${timestamp}.${IDS[1]}.${body}`)
    .digest("base64url");
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": IDS[1] ?? "",
    "Webhook-Signature": signature,
    Cookie: "session=of-somebody",
  };
  expect((await fetch(String(listening.url), { method: "POST", headers, body })).status).toBe(401);
  const { requests } = (await one("list_requests", { port, status: "4xx", limit: 1 })) as {
    requests: { n: number }[];
  };
  expect(requests).toMatchObject([{ status: 401, code: "SIGNATURE_MISMATCH", eventId: IDS[1] }]);
  expect(await one("show_request", { n: requests[0]?.n })).toMatchObject({
    status: 401,
    mistakes: [{ id: "secret-base64url-decoded" }],
    fromOutside: { body },
  });
  expect(await one("show_request")).toMatchObject({ n: requests[0]?.n }); // the newest, of the only listener
  expect(await one("replay_request", { n: 1 })).toMatchObject({ status: 409, kind: "same-id", of: 1 });
  expect(await one("list_requests", { before: 2 })).toMatchObject({ requests: [{ n: 1, status: 200 }] });

  const passing = await call("test_listener", { target: `:${port}`, only: "timestamp-*" });
  documents.push(...passing);
  expect(passing.map(({ type }) => type)).toEqual(["run", "summary"]);
  expect(passing.at(-1)).toMatchObject({ ok: true, fail: 0 });
  documents.push(...(await call("test_listener", { target: `:${port}`, only: "timestamp-*", passed: true })));
  expect(documents.filter(({ type }) => type === "probe").length).toBeGreaterThan(3);

  expect(await one("list_profiles")).toMatchObject({ profiles: [{ name: "here" }, { name: "tenant" }] });
  expect(await one("explain_code", { code: "secret-base64url-decoded" })).toMatchObject({ kind: "mistake" });
  expect(await one("list_events", { failed: true })).toMatchObject({ found: 0 });
  expect(await one("list_events", { text: "user.offboarded", limit: 1 })).toMatchObject({ found: 2 });
  expect(await one("show_outbox")).toMatchObject({ type: "outbox", ok: true });
  expect(await one("list_dead_letters", { reason: "refused", olderThan: "1h" })).toMatchObject({
    letters: [],
  });
  expect(await one("show_attempts", { eventId: IDS[0] })).toMatchObject({
    error: { code: "EVENT_NOT_IN_OUTBOX" },
  });
  expect(await one("verify_request", { headers: "Webhook-Signature: x", body })).toMatchObject({
    error: { code: "SECRET_MISSING" },
  });
  expect(await one("stop_listener", { port })).toMatchObject({ type: "stopped", ok: true });
  expect(await one("list_requests", { port })).toMatchObject({ error: { code: "SESSION_MISSING" } });

  const wrong = documents.filter((document) => document.error === undefined && !isAsDocumented(document));
  expect(wrong).toEqual([]);
  expect(documents.every(({ v, type }) => v === 1 && typeof type === "string")).toBe(true);
  const ownTypes = documentedTypes()
    .filter(({ by }) => /^`mcp`/.test(by))
    .map(({ type }) => type);
  expect(ownTypes.length).toBeGreaterThan(3);
  expect(ownTypes.filter((type) => !documents.some((document) => document.type === type))).toEqual([]);

  const token = new URL(inspector).hash.slice(3);
  expect(token.length).toBeGreaterThan(20);
  const all = seen.join("\n");
  for (const hidden of [secret, Buffer.from(secret).toString("base64url"), token, signature, "of-somebody"])
    expect(all).not.toContain(hidden);
  await client.close();
});

it("shows dead letters of an outbox, and checks a captured request with a profile's secret", async () => {
  const home = openHome();
  home.configure({ tenant: { target: TENANT } });
  await deadLetterIn(home);
  home.run("secret", "generate", "--profile", "tenant");
  const secret = String(
    JSON.parse(home.run("secret", "show", "--reveal", "--profile", "tenant", "--json")).secrets[0],
  );
  const { seen, call } = await connected(home, "--outbox", "app.db");
  expect(await call("list_dead_letters", { code: "REQUEST_REFUSED" })).toMatchObject([
    { letters: [{ eventId: IDS[0], listener: "offboarding" }] },
  ]);
  expect(await call("show_attempts", { eventId: IDS[0] })).toMatchObject([{ type: "attempts", ok: true }]);
  const [body, time] = ['{"userId":"ü"}', "1767225600"];
  const sign = (text: string) =>
    createHmac("sha256", secret).update(`${time}.${IDS[0]}.${text}`).digest("base64url");
  const headers = (signature: string) =>
    `Content-Type: application/json\nWebhook-Timestamp: ${time}\nWebhook-Event-Id: ${IDS[0]}\nWebhook-Signature: ${signature}`;
  const right = sign(body);
  expect(await call("verify_request", { profile: "tenant", headers: headers(right), body })).toMatchObject([
    { type: "verify", ok: true },
  ]);
  expect(
    await call("verify_request", { profile: "tenant", headers: headers(right), body, checkTime: true }),
  ).toMatchObject([{ ok: false, code: "TIMESTAMP_OUT_OF_WINDOW" }]);
  const [refused] = await call("verify_request", {
    profile: "tenant",
    headers: headers(sign('{"userId": "ü"}')),
    body,
  });
  expect(refused).toMatchObject({ ok: false, code: "SIGNATURE_MISMATCH", mistakes: [{}] });
  // The right signature for a text of one's choice would be a way to sign.
  for (const hidden of [secret, right]) expect(seen.join("\n")).not.toContain(hidden);
});

it("offers what is allowed and nothing else, and says of each tool what it does", async () => {
  const home = openHome();
  const offered = async (...flags: string[]) =>
    (await (await connected(home, ...flags)).client.listTools()).tools;
  const reading = await offered();
  expect(reading.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
  const listening = await offered("--allow", "listen");
  const all = await offered("--allow", "listen", "--allow", "send");
  const names = (tools: typeof all) => tools.map(({ name }) => name);
  expect(names(listening).filter((name) => !names(reading).includes(name))).toEqual([
    "start_listener",
    "stop_listener",
  ]);
  expect(names(all).filter((name) => !names(listening).includes(name))).toEqual([
    "replay_request",
    "send_event",
    "replay_event",
    "test_listener",
  ]);
  for (const { name, description, inputSchema, annotations } of all) {
    expect(name).toMatch(/^[a-z]+_[a-z]+(?:_[a-z]+)?$/);
    expect(description?.length, name).toBeGreaterThan(30);
    expect(Object.keys(annotations ?? {}).sort(), name).toEqual([
      "destructiveHint",
      "idempotentHint",
      "openWorldHint",
      "readOnlyHint",
      "title",
    ]);
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(
      Object.keys(inputSchema.properties ?? {}).filter((member) =>
        /secret|key|token|path|^file/i.test(member),
      ),
    ).toEqual([]);
  }
  const sends = all.filter(({ annotations }) => annotations?.openWorldHint).map(({ name }) => name);
  expect(sends).toEqual(["send_event", "replay_event", "test_listener"]);
});
