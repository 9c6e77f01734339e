import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { createEvent, generateSecret, hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../src/command-line/registry.js";
import { run } from "../src/main.js";

/**
 * A title for the terminal, a clean screen, C1, bidi, an invisible mark, a tag, a line that goes over another one,
 * and one that begins below as if this program had written it.
 */
const H =
  "e\u001b]0;owned\u0007\u001b[2J\u009b31m\u0085\u202ev\u2066i\u200bl\ufeff\u{e0041}\r✔ 200\nFORGED ✔ 200 accepted";
/** What others wrote at the beginning of a line; a body's lines are indented. */
const FORGED = /^FORGED/m;
const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

let folder: string;
let server: Server;
let url: string;
const EVENT_ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const path = (name: string) => join(folder, name);
const file = (name: string, content: string, mode = 0o600) => {
  writeFileSync(path(name), content, { mode });
  return path(name);
};
const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-hostile-"));
  server = createServer((request, response) => {
    request.resume();
    if (request.url?.includes("/auth/"))
      response
        .writeHead(request.url.includes("given") ? 200 : 400, { "Content-Type": "application/json" })
        .end(JSON.stringify({ error: H, error_description: H, access_token: H, expires_in: H }));
    else if (request.url?.includes("jwks"))
      response
        .writeHead(200, { "Content-Type": "application/json", "Cache-Control": "max-age=\u0085\u009b" })
        .end(JSON.stringify({ keys: [{ kid: H, kty: H, alg: H, use: H, [H]: H }] }));
    else
      response
        .writeHead(400, `\u009b no`, { "X-\u007e": "\u009b31m", "Content-Type": "application/json" })
        .end(JSON.stringify({ code: H, message: H }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = `${url}/api/v1/webhooks/incoming/lst_1`;

  mkdirSync(path("data"), { mode: 0o700 });
  file("secret.txt", generateSecret());
  const record = {
    v: 1,
    type: "event",
    at: Date.now(),
    eventId: H,
    url: `${target}?${H}`,
    method: "hmac",
    headers: { [H]: H, "Webhook-Timestamp": H },
    bodyBase64: Buffer.from(`{"${H}":"${H}"}`).toString("base64"),
    outcome: H,
    credential: { kind: "profile", profile: H },
  };
  const second = { ...record, eventId: EVENT_ID, url: target, credential: { kind: "key", key: H, store: H } };
  file("data/history.jsonl", `${JSON.stringify(record)}\n${JSON.stringify(second)}\n`);
  file("event.json", JSON.stringify(record));
  const body = Buffer.from(JSON.stringify({ [H]: H })).toString("base64");
  file("other.json", JSON.stringify({ ...record, headers: { "X-Odd": "1" }, bodyBase64: body }));
  file("captured.http", `POST /${H} HTTP/1.1\nHost: ${H}\nWebhook-Event-Id: ${H}\n${H}: ${H}\n\n{"${H}":1}`);
  file(
    "set-token.txt",
    `${b64({ alg: H, typ: "secevent+jwt", [H]: H })}.${b64({ iss: H, [H]: H, events: { [H]: { [H]: H } } })}.${b64(H)}`,
  );
  file("token.txt", `${b64({ alg: H, [H]: H })}.${b64({ [H]: H, exp: H, aud: H })}.${b64(H)}`);
  file("hostile.config.json", JSON.stringify({ [H]: H }));
  file(
    "profile.config.json",
    JSON.stringify({
      profile: "a",
      profiles: { a: { target: `${target}/${H}`, baseUrl: H, key: H, ca: H } },
    }),
  );
  file("names.config.json", JSON.stringify({ profiles: { [H]: { target: H } } }));
  file("fixture.yaml", `users:\n  - "${JSON.stringify(H).slice(1, -1)}": 1\n`);
  file("batch.jsonl", `{"a":1}\n${H}\n`);
  file("by-listener.jsonl", `${JSON.stringify({ listener: H, payload: { a: H } })}\n${H}\n`);

  // A dead letter whose receiver and name say what they like.
  const store = sqliteStore({ open: () => openSqlite(path("app.db"), { from: import.meta.url }) });
  const outbox = createOutbox({
    store,
    listeners: { prod: { url: target, signer: hmacSigner({ secret: generateSecret() }) } },
  });
  const { id } = createEvent({ a: 1 });
  await outbox.enqueue({ listener: "prod", payload: { a: H }, eventId: id } as never);
  await outbox.drain();
  await outbox.stop();
  // One that waits, at a listener that is paused for a reason of the same kind.
  const attempt = { number: 1, startedAt: 0, durationMs: 1, answer: "" };
  await outbox.enqueue({ listener: "prod", payload: { a: H } });
  const listeners = new Map([["prod", { most: 1, windowMs: 604_800_000 }]]);
  for (const { lease, now } of await store.claim({ limit: 1, leaseMs: 60_000, listeners }))
    await store.reschedule(lease, now + 3_600_000, attempt);
  await outbox.enqueue({ listener: "prod", payload: { a: H } });
  await store.pause("prod", "moving");
  await store.close();
  outboxId = id;

  // The same of a stranger's file: what the tables hold is whatever he likes.
  const db = openSqlite(path("app.db"), { from: import.meta.url });
  const columns = (table: string) =>
    (db.prepare(`PRAGMA table_info(${table})`).all() as { name: string; type: string }[]).filter(
      ({ name, type }) => type === "TEXT" && !["id", "digest", "state"].includes(name),
    );
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as {
    name: string;
  }[];
  for (const { name } of tables)
    for (const column of columns(name)) {
      const isJson = `substr(${column.name}, 1, 2) = '[{'`;
      db.prepare(`UPDATE ${name} SET ${column.name} = ? WHERE ${column.name} IS NULL OR NOT ${isJson}`).run(
        H,
      );
      const list = JSON.stringify([
        { number: 1, startedAt: 0, durationMs: 1, status: H, code: H, answer: H },
      ]);
      db.prepare(`UPDATE ${name} SET ${column.name} = ? WHERE ${isJson}`).run(list);
    }
  db.close();
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

let outboxId = "";

/** What serves until it is stopped, and has nothing more to say once it has said where. */
const SERVING = /^(?:listen|jwks serve|outbox ui|service start) /;

/** Runs a command as on a terminal and gives what it wrote. */
async function output(
  argv: readonly string[],
  { isTTY = false, stdin = "", columns = 80, colour = false } = {},
): Promise<string> {
  const written: Buffer[] = [];
  const stop = new AbortController();
  const isServing = SERVING.test(argv.join(" "));
  const sink = () =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          written.push(Buffer.from(chunk));
          if (isServing && String(chunk).includes("http://127.0.0.1:")) stop.abort();
          done();
        },
      }),
      { isTTY, columns },
    );
  await run(argv, {
    stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: false }),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: path("data"), HOME: folder, ...(colour ? {} : { NO_COLOR: "1" }) },
    stopSignal: AbortSignal.any([stop.signal, AbortSignal.timeout(1_500)]),
  });
  return Buffer.concat(written).toString("utf8");
}

const target = () => `${url}/api/v1/webhooks/incoming/lst_1`;
const signed = () => ["--secret-file", path("secret.txt")];
const outbox = () => ["--outbox", path("app.db")];
const control = () => ["--base-url", url, "--control-token-file", path("secret.txt")];

/** What each command is fed, beside what all of them are. A command without an entry here fails. */
const CASES: Readonly<Record<string, () => readonly (readonly string[])[]>> = {
  demo: () => [],
  init: () => [
    ["--yes", "--target", H],
    ["--yes", "--config", path(`${H}.json`), "--profile", "x"],
  ],
  send: () => [
    [target(), "--data", "{}", ...signed(), "--retries", "0", "-vv"],
    [target(), "--data", `{"${H}":1}`, ...signed(), "--retries", "0"],
    [target(), "--data", `"${H}"`, ...signed(), "--dry-run"],
    [target(), "--data", `@${path("batch.jsonl")}`, "--batch", ...signed(), "--retries", "0"],
    ["--data", `@${path("by-listener.jsonl")}`, "--batch", "--by-listener", "--retries", "0"],
    [`${target()}/${H}`, "--data", "{}", ...signed()],
    [target(), "--data", `@${H}`, ...signed()],
    ["--data", "{}", "--config", path("profile.config.json"), ...signed()],
    [target(), "--data", "{}", "--key", H],
  ],
  replay: () => [
    ["last", "--retries", "0"],
    [path("event.json"), "--to-recorded-url", ...signed()],
    [path("event.json"), "--new-id", "--yes", "--target", target(), ...signed()],
    [path("event.json"), "--exact"],
    [path("event.json")],
    [path("other.json")],
    [path("other.json"), "--exact"],
    [path("other.json"), "--to-recorded-url", ...signed()],
    ["--failed", ...signed(), "--retries", "0"],
  ],
  test: () => [
    [target(), ...signed(), "--only", "missing-*"],
    [target(), ...signed(), "--only", H],
  ],
  listen: () => [
    ["--port", "0", "--no-ui", "--exit-after", "1ms", "--forward-to", H],
    ["--jwks", H],
    ["--history", path(H)],
  ],
  sign: () => [
    [target(), "--data", `{"${H}":"${H}"}`, ...signed()],
    [target(), "--data", H, ...signed()],
  ],
  verify: () => [
    [path("captured.http"), ...signed()],
    [path("event.json"), ...signed()],
    [path(H), ...signed()],
    [path("captured.http"), "--jwks", `${url}/jwks.json`, "--url", target()],
    ["--sent", path("captured.http"), "--received", path("event.json")],
    ["--sent", path("event.json"), "--received", path("other.json")],
    ["--sent", path("captured.http"), "--received", path(H)],
  ],
  "keys list": () => [["--store", path(H)]],
  "keys generate": () => [["--alg", "ES256", "--kid", H, "--store", path("keys")]],
  "keys import": () => [[path("captured.http")], [path("token.txt"), "--store", path("keys")]],
  "keys show": () => [[H, "--store", path("keys")]],
  "keys export": () => [[H, "--store", path("keys")]],
  "keys rotate": () => [["--alg", H]],
  "keys retire": () => [[H, "--yes"]],
  "keys remove": () => [[H, "--yes"]],
  snippet: () => [
    ["--lang", H],
    ["--lang", "go", "--do", H],
  ],
  "jwks publish": () => [
    ["--url", `${url}/jwks/${H}`, "--folder", path("www"), "--settle", "0ms"],
    ["--url", `${url}/jwks.json`, "--command", path(H)],
  ],
  "jwks export": () => [["--out", path(`missing/${H}`)]],
  "jwks check": () => [[`${url}/jwks.json`], [`${url}/jwks/${H}`]],
  "jwks serve": () => [["--port", "0", "--store", path(H)]],
  inspect: () => [
    [path("token.txt")],
    [`@${path("token.txt")}`],
    ["-"],
    [H],
    [path("set-token.txt")],
    [path("set-token.txt"), "--issuer", H],
  ],
  "secret set": () => [
    ["--secret-file", path(H)],
    ["--origin", H, ...signed()],
  ],
  "secret generate": () => [["--origin", H]],
  "secret show": () => [["--profile", "none"]],
  "secret env": () => [
    ["--profile", "none"],
    ["--shell", H],
  ],
  "secret remove": () => [["--profile", "none"]],
  "outbox create": () => [
    ["--outbox", path(H)],
    ["--outbox", `postgres://${H}@/x`],
  ],
  "outbox status": () => [outbox(), ["--outbox", path(H)], ["--outbox", `postgres://${H}@/x`]],
  "outbox ui": () => [
    [...outbox(), "--port", "0"],
    ["--outbox", path(H), "--port", "0"],
    [...outbox(), "--allow", H],
  ],
  "outbox work": () => [[...outbox(), "--drain", "--config", path("profile.config.json")]],
  "outbox list": () => [outbox(), [...outbox(), "--listener", H]],
  "outbox pause": () => [
    [H, ...outbox(), "--reason", H],
    [`${H}2`, ...outbox()],
    [H, ...outbox(), "--reason", H.repeat(9)],
  ],
  "outbox resume": () => [[H, ...outbox()]],
  "outbox cancel": () => [
    [outboxId, ...outbox(), "--yes"],
    [H, ...outbox()],
    [...outbox(), "--listener", H],
    [...outbox(), "--listener", H, "--yes"],
  ],
  "outbox dead": () => [outbox(), [...outbox(), "--code", H]],
  "outbox redrive": () => [
    [H, ...outbox(), "--yes"],
    [...outbox(), "--listener", H, "--yes"],
  ],
  "outbox drop": () => [
    [H, ...outbox(), "--yes"],
    [...outbox(), "--listener", H, "--yes"],
  ],
  "outbox attempts": () => [
    [outboxId, ...outbox()],
    [H, ...outbox()],
  ],
  "service start": () => [
    ["--port", "0", "--db", path(`missing/${H}`)],
    ["--fixture", path("fixture.yaml"), "--db", path("s.db")],
  ],
  "service seed": () => [
    ["--db", path(`missing/${H}`)],
    ["--fixture", path("fixture.yaml"), "--db", path("s.db")],
  ],
  "service reset": () => [["--db", path(H)]],
  "service routes": () => [["--db", path(H)]],
  "service fault": () => [
    [H, "--status", "503", ...control()],
    ["--body", H, ...control()],
  ],
  "service clock": () => [
    ["--advance", "1m", ...control()],
    [H, ...control()],
  ],
  "service snapshot": () => [
    ["list", ...control()],
    ["save", H, ...control()],
  ],
  "service journal": () => [control(), ["--query", H, ...control()]],
  "service automation": () => [
    ["list", ...control()],
    ["run", H, "--event", "{}", ...control()],
  ],
  "service export": () => [control(), ["--base-url", H], ["--db", path(H)]],
  "service diff": () => [
    [path("fixture.yaml"), path(H)],
    [path("fixture.yaml"), path("fixture.yaml")],
    [url, path("fixture.yaml"), "--control-token-file", path("secret.txt")],
  ],
  "service token": () => [
    ["--base-url", url, "--client-secret-file", path("secret.txt")],
    ["--base-url", `${url}/given`, "--client-secret-file", path("secret.txt")],
    ["--db", path(H)],
  ],
  "events list": () => [[], ["--failed"]],
  "events show": () => [["last"], [H]],
  "events export": () => [["last"], ["last", "--as", "http"], ["last", "--as", "curl"], [H]],
  "events diff": () => [
    ["last", path("event.json")],
    ["last", path("other.json")],
    [path("event.json"), EVENT_ID],
    [H, H],
  ],
  "events clear": () => [["--yes", "--since", H]],
  "profile list": () => [["--config", path("profile.config.json")]],
  "profile show": () => [
    ["--config", path("profile.config.json")],
    ["--config", path("names.config.json")],
    [H],
  ],
  "profile add": () => [
    [H, "--target", ":4400"],
    ["x", "--target", H],
    ["x", "--ca", H, "--config", path("x.json")],
  ],
  "profile use": () => [[H]],
  "profile remove": () => [[H]],
  "profile path": () => [["--config", path("profile.config.json")]],
  "profile explain": () => [["--config", path("profile.config.json")], [H]],
  doctor: () => [[`${url}/${H}`], [target()], [H]],
  explain: () => [[H]],
  mcp: () => [
    ["--allow", H],
    ["--allow", "send", "--to", H],
  ],
  completion: () => [[H]],
};

/** What every command is fed: as an argument, a flag, a profile and in a configuration. */
const everywhere = (): readonly (readonly string[])[] => [
  [H, H, H],
  [`--${H}`],
  ["--profile", H],
  ["--timeout", H],
  ["--config", path("hostile.config.json")],
  ["--config", path("names.config.json")],
  ["--config", path(`${H}.json`)],
];

describe("what others wrote reaches no terminal raw", () => {
  it("by any command: each has its case here", () => {
    expect(Object.keys(CASES).sort()).toEqual(Object.keys(COMMANDS).sort());
  });

  describe.each(Object.keys(COMMANDS))("%s", (name) => {
    it.each([
      ["as text", {}, []],
      ["on a terminal", { isTTY: true }, []],
      ["in JSON", {}, ["--json"]],
    ] as const)("%s", async (_, how, flags) => {
      let escaped = 0;
      for (const args of [...everywhere(), ...(CASES[name]?.() ?? [])]) {
        // What is written for another program is raw where it is no terminal.
        const isForPrograms = args.includes("--as") || args.includes("--curl");
        if (isForPrograms && !("isTTY" in how) && flags.length === 0) continue;
        const seen = await output([...name.split(" "), ...args, ...flags], how);
        expect(JSON.stringify(STEERING.exec(seen)), `${JSON.stringify(args)}\n${JSON.stringify(seen)}`).toBe(
          "null",
        );
        expect(FORGED.test(seen), `${JSON.stringify(args)}\n${seen}`).toBe(false);
        if (/\\u(?:001b|009b|202e)/.test(seen)) escaped += 1;
        if (flags.length > 0) for (const line of seen.split("\n")) if (line.startsWith("{")) JSON.parse(line);
      }
      // It was shown: otherwise nothing was tested.
      expect(escaped).toBeGreaterThan(0);
    });
  });

  describe.each([20, 60, 200])("laid out and coloured, in %i columns", (columns) => {
    it.each([
      ["an event's id", () => ["events", "list"]],
      ["an event's headers and body", () => ["events", "show", EVENT_ID]],
      ["a listener's answer", () => ["send", target(), "--data", "{}", "--retries", "0", "-v", ...signed()]],
      ["a file's name", () => ["verify", path(`${H}-not-there`), ...signed()]],
      ["a token's claims", () => ["inspect", path("token.txt")]],
    ] as const)("%s", async (_, argv) => {
      const seen = await output([...argv(), "--color"], { isTTY: true, columns, colour: true });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours, and the bar's way back
      const others = seen.replace(/\u001b\[\d{1,2}m|\r\u001b\[K/g, "");
      expect(JSON.stringify(STEERING.exec(others)), JSON.stringify(seen)).toBe("null");
      expect(FORGED.test(others), seen).toBe(false);
      expect(others).toMatch(/\\u(?:001b|009b|202e)/);
    });
  });

  it("nor when a shell asks for completions", async () => {
    for (const words of [
      ["send", "--key", ""],
      ["events", "show", ""],
      ["send", "-p", ""],
    ])
      expect(STEERING.test(await output(["complete-words", ...words]))).toBe(false);
  });

  it("and is the same value for who reads the JSON", async () => {
    const seen = await output(["events", "show", EVENT_ID, "--json"]);
    expect(JSON.parse(seen).body).toContain("\u009b31m");
  });
});
