// No command sends an event, a token or a secret in plain text to another machine.
import { AsyncLocalStorage } from "node:async_hooks";
import { writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { COMMANDS } from "../src/command-line/registry.js";
import { run } from "../src/main.js";

const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const PATH = "/api/v1/webhooks/incoming/lst_1";
const SIGNED = '--secret-file {token} --retries 0 --data {"type":"a"}';
const BUCKET = "HOOKPROOF_S3_ENDPOINT={url} HOOKPROOF_S3_BUCKET=files";

const CREDENTIALS = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };

/** What sends to a URL, with where the URL stands; what is in braces is the test's, and variables come first. */
const SENDING: Readonly<Record<string, readonly string[]>> = {
  "send <target>": [
    `send {url}${PATH} ${SIGNED}`,
    `send {url}${PATH} ${SIGNED} --dry-run`,
    `send {url}${PATH} --batch --data @{lines} --secret-file {token} --retries 0`,
    `HOOKPROOF_TARGET={url}${PATH} send ${SIGNED}`,
  ],
  "replay --target": [`replay {event} --yes --target {url}${PATH} --secret-file {token} --retries 0`],
  replay: [
    "replay {event} --yes --to-recorded-url --secret-file {token} --retries 0",
    "replay {event} --yes --exact",
  ],
  "test <target>": [`test {url}${PATH} --secret-file {token} --only correct-request --allow-trigger`],
  "sign <target>": [`sign {url}${PATH} --secret-file {token} --data {}`],
  "doctor <target>": [`doctor {url}${PATH} --header X-Key:abc`],
  "listen --forward-to": [`listen --port 0 --no-ui --forward-to {url}${PATH}`],
  "outbox work": [
    "HOOKPROOF_SECRET_FILE={token} outbox work --outbox {outbox} --config {config} --drain --allow-origin {url}",
  ],
  "jwks publish --s3-endpoint": [
    "jwks publish --url https://localhost:1/jwks.json --store {keys} --settle 1ms --s3 s3://keys/jwks.json --s3-endpoint {url}",
  ],
  "service start": [`${BUCKET} service start --port 0 --no-ui --db {db}`],
  "service seed": [`${BUCKET} service seed --users 1 --db {db}`],
  "service reset --base-url": [
    "service reset --yes --all --control-token-file {token} --base-url {url}",
    `${BUCKET} service reset --yes --db {db}`,
  ],
  "service export --base-url": [
    "service export --control-token-file {token} --base-url {url}",
    `${BUCKET} service export --with-secrets --db {db}`,
  ],
  "service token --base-url": [
    "service token --client-secret-file {token} --base-url {url}",
    "service token --role member --control-token-file {token} --base-url {url}",
    "service token --sdk --control-token-file {token} --base-url {url}",
  ],
  "service diff <before>": ["service diff {url} {state} --control-token-file {token}"],
  "service diff <after>": ["service diff {state} {url} --control-token-file {token}"],
  "service fault --base-url": ["service fault --clear --control-token-file {token} --base-url {url}"],
  "service clock --base-url": ["service clock --control-token-file {token} --base-url {url}"],
  "service snapshot --base-url": ["service snapshot list --control-token-file {token} --base-url {url}"],
  "service journal --base-url": ["service journal --control-token-file {token} --base-url {url}"],
  "service automation --base-url": ["service automation list --control-token-file {token} --base-url {url}"],
};

/** Options whose URL is a name, is stored or printed, is a database's, or gives a key set, which anyone may read. */
const TELLING =
  /^(?:.* --(?:allow-origin|origin|jwks|outbox)|(?!service (?!routes)).* --base-url|jwks check <url>|jwks publish --url|(?:init|profile add) --target|verify --url|events list <text>)$/;

/** What is refused or goes on before anything is sent. */
const NO_CONNECTION = /^(?:HOOKPROOF_S3|listen|sign|.*outbox work)|--dry-run/;

/** Every option and argument of the registry that takes a URL of HTTP. */
async function urlOptions(): Promise<string[]> {
  const found: string[] = [];
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const { flags, positionals = [] } = await load();
    for (const [flag, { value = "" }] of Object.entries(flags))
      if (/url/i.test(value)) found.push(`${name} --${flag}`);
    for (const one of positionals)
      if (one.completes === "target" || /\bURL\b/.test(one.describe)) found.push(`${name} <${one.name}>`);
  }
  return found;
}

/** Hosts that a command was about to connect to. Nothing is, so that no name is asked for. */
const connected: unknown[] = [];
/** Of what a command does: files share a process, and what another one has left in it connects as well. */
const commands = new AsyncLocalStorage<typeof connected>();
beforeEach(() => {
  connected.length = 0;
  vi.spyOn(net.Socket.prototype, "connect").mockImplementation(function (this: net.Socket, ...given) {
    const [options] = given.flat() as { host?: string }[];
    commands.getStore()?.push(options?.host);
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    setImmediate(() => this.destroy(refused));
    return this;
  });
});
afterEach(() => vi.restoreAllMocks());

async function answered(command: string, url: string, ...words: string[]) {
  const folder = temporaryFolder("cli-plain");
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const event = {
    type: "event",
    at: 1,
    eventId: ID,
    url: `${url}${PATH}`,
    method: "hmac",
    bodyBase64: "e30=",
  };
  const headers = { "Content-Type": "application/json" };
  const made: Record<string, string> = {
    url,
    token: file("token", "t".repeat(43)),
    state: file("state.yaml", "automations: []\n"),
    lines: file("lines.jsonl", "{}\n"),
    event: file("event.json", JSON.stringify({ ...event, headers, outcome: "failed" })),
    config: file("config.json", JSON.stringify({ profiles: { a: { target: `${url}${PATH}` } } })),
    ...Object.fromEntries(["outbox", "db", "keys"].map((name) => [name, join(folder, name)])),
  };
  const filled = command.replace(/\{([a-z]+)\}/g, (_, name: string) => String(made[name])).split(" ");
  const first = filled.findIndex((word) => !/^[A-Z]/.test(word));
  const env = Object.fromEntries(filled.slice(0, first).map((word) => word.split(/=(.*)/)));
  let printed = "";
  const write = () =>
    new Writable({
      write(chunk, _encoding, done) {
        printed += String(chunk);
        done();
      },
    });
  const line = [...filled.slice(first), ...words, "--timeout", "500ms", "--no-input"];
  const io = {
    stdin: Readable.from([]),
    stdout: write(),
    stderr: write(),
    env: { ...CREDENTIALS, ...env, HOOKPROOF_HOME: join(folder, "home"), NO_COLOR: "1" },
    stopSignal: /listen|start/.test(command) ? AbortSignal.abort() : new AbortController().signal,
  };
  const exit = await commands.run(connected, () => run(line, io));
  return { exit, printed };
}

it("knows every option that takes a URL", async () => {
  const known = Object.keys(SENDING).filter((name) => /[<-]/.test(name));
  const found = await urlOptions();
  expect(found.filter((name) => !TELLING.test(name)).sort()).toEqual(known.sort());
});

describe.each(Object.values(SENDING).flat())("%s", (command) => {
  it.each(["http://203.0.113.1:4420", "http://service.example.com", "http://127.0.0.1.example.com"])(
    "sends nothing to %s",
    async (url) => {
      const { exit, printed } = await answered(command, url);
      expect(printed).toContain("TLS_REQUIRED");
      expect(printed).toContain("--plain-http");
      expect(exit).toBe(2);
      expect(connected).toEqual([]);
    },
  );

  it("goes to a container whose name is allowed, also as the second of two", async () => {
    const allowed = ["--plain-http", "other", "--plain-http", "app"];
    const { printed } = await answered(command, "http://app:8080", ...allowed);
    expect(printed).not.toContain("TLS_REQUIRED");
    if (NO_CONNECTION.test(command)) expect(printed).not.toContain("error[USAGE]");
    else expect(connected).toContain("app");
  });

  it("opens no name of the Internet", async () => {
    const { exit, printed } = await answered(
      command,
      "http://a.example.com",
      "--plain-http",
      "a.example.com",
    );
    expect(printed).toContain("--plain-http cannot be");
    expect(exit).toBe(2);
    expect(connected).toEqual([]);
  });
});

it.each([
  "service token --client-secret-file missing --base-url {url}",
  "service token --role member --control-token-file missing --base-url {url}",
  "service journal --control-token-file missing --base-url {url}",
  "service start --port 0 --no-ui --db missing/db",
  "jwks publish --url https://localhost:1/jwks.json --store {keys} --s3 s3://keys/jwks.json --s3-endpoint {url}",
])("an address is refused before any credential is looked for: %s", async (command) => {
  const variables = command.startsWith("service start")
    ? `${BUCKET} AWS_ACCESS_KEY_ID= `
    : "AWS_ACCESS_KEY_ID= ";
  const { printed } = await answered(`${variables}${command}`, "http://service.example.com");
  expect(printed).toContain("TLS_REQUIRED");
});
