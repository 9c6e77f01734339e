// What is wrong with a value is said with the option, the variable or the member of a configuration that it came from.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

const NOBODY = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";
const SECRET = "a-secret-of-more-than-thirty-two-characters";

/** Runs a command in this process; its exit code, the first line that it says and what it prints, without the folder. */
async function said(folder: string, argv: readonly string[], env: Record<string, string> = {}) {
  const written = { out: "", said: "" };
  const sink = (name: "out" | "said") =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    });
  const place = (word: string) => word.replaceAll("{}", folder);
  const code = await run(argv.map(place), {
    stdin: Readable.from([]),
    stdout: sink("out"),
    stderr: sink("said"),
    env: {
      HOOKPROOF_HOME: join(folder, "home"),
      NO_COLOR: "1",
      ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, place(value)])),
    },
    stopSignal: AbortSignal.abort(),
  });
  const [lines, out] = [written.said, written.out].map((text) => text.replaceAll(folder, "{}").split("\n"));
  return { code, line: lines?.[0], out: out ?? [] };
}

/** A folder with a file of each kind that is none of what is asked for. */
function stage(): string {
  const folder = temporaryFolder("named-options--db");
  mkdirSync(join(folder, "folder"), { mode: 0o700 });
  writeFileSync(join(folder, "text"), "a text that is longer than the header of SQLite\n".repeat(20), {
    mode: 0o600,
  });
  writeFileSync(join(folder, "secret"), SECRET, { mode: 0o600 });
  writeFileSync(join(folder, "config.json"), '{"ca":"gone.pem"}', { mode: 0o600 });
  return folder;
}

const UNREAD = "cannot be read: there is no such file or folder.";
const SIGNED = ["send", NOBODY, "--data", "1", "--retries", "0", "--secret-file"];

it.each<[argv: string[], env: Record<string, string>, line: string]>([
  [[...SIGNED, "@gone"], {}, `error[FILE_UNREADABLE]  --secret-file: @gone ${UNREAD}`],
  [
    [...SIGNED, "{}/secret"],
    { HOOKPROOF_CA: "{}/gone" },
    `error[FILE_UNREADABLE]  HOOKPROOF_CA: {}/gone ${UNREAD}`,
  ],
  [
    [...SIGNED, "{}/secret", "--config", "{}/config.json"],
    {},
    `error[FILE_UNREADABLE]  {}/config.json: ca: {}/gone.pem ${UNREAD}`,
  ],
  [["keys", "list", "--config", "{}/gone"], {}, `error[CONFIG_UNREADABLE]  --config: {}/gone ${UNREAD}`],
  [
    ["keys", "list"],
    { HOOKPROOF_CONFIG: "{}/folder" },
    "error[CONFIG_UNREADABLE]  HOOKPROOF_CONFIG: {}/folder cannot be read: it is a folder.",
  ],
  [
    ["keys", "list", "--store", "{}/text"],
    {},
    "error[KEY_STORE_UNREADABLE]  --store: {}/text/keys.json cannot be used: a part of the path is no folder. Nothing was changed.",
  ],
  [
    ["keys", "generate"],
    { HOOKPROOF_STORE: "{}/text" },
    "error[KEY_STORE_UNREADABLE]  HOOKPROOF_STORE: {}/text cannot be used: something else is there already. Nothing was changed.",
  ],
  [
    ["listen", "--port", "0", "--no-ui", "--allow-cidr", "home"],
    {},
    'error[CIDR_INVALID]  --allow-cidr: Not an address range: "home". Write it as 10.0.0.0/8 or 2001:db8::/32.',
  ],
  [
    ["listen", "--port", "0", "--no-ui", "--behave-as", "{}/text"],
    {},
    "error[BEHAVIOUR_INVALID]  --behave-as: The behaviour profile is not JSON.",
  ],
  // An argument names itself, and a value that two have could be either's.
  [["inspect", "{}/gone"], {}, `error[FILE_UNREADABLE]  {}/gone ${UNREAD}`],
  [["inspect", "{}/gone", "--jwks", "{}/gone"], {}, `error[FILE_UNREADABLE]  {}/gone ${UNREAD}`],
])("%j with %j", async (argv, env, line) => {
  expect((await said(stage(), argv, env)).line).toBe(line);
});

describe("a database that cannot be opened", () => {
  const as = "cannot be opened as the service's database:";
  it.each([
    ["{}/folder", `${as} it is a folder.`],
    ["{}/gone/service.db", `${as} there is no such folder.`],
    ["{}/text/service.db", `${as} a part of the path is no folder.`],
    ["{}/text", `${as} file is not a database.`],
  ])("service start --db %s", async (db, reason) => {
    const { code, line } = await said(stage(), ["service", "start", "--port", "0", "--no-ui", "--db", db]);
    expect([code, line]).toEqual([3, `error[DATABASE_UNUSABLE]  --db: ${db} ${reason}`]);
  });

  it("outbox create --outbox in a folder that is not there", async () => {
    const { code, line } = await said(stage(), ["outbox", "create", "--outbox", "{}/gone/app.db"]);
    expect([code, line]).toEqual([
      3,
      "error[OUTBOX_NOT_FOUND]  --outbox {}/gone/app.db cannot be opened: there is no such file or folder.",
    ]);
  });
});

/** What PostgreSQL says before it ends a connection. */
function refusal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

it.each([
  ["28P01", 'password authentication failed for user "u"', "the server refuses the role or its password"],
  ["28000", "no pg_hba.conf entry for host", "the server does not let this role in"],
  ["3D000", 'database "shop" does not exist', "the server has no such database"],
  ["53300", "sorry, too many clients already", "the server has no connection left"],
  ["57P03", "the database system is starting up", "the server is starting or stopping"],
  ["XX000", "something of its own", ""],
  ["constructor", "something of its own", ""],
])("PostgreSQL's %s is said in words of ours, and its own are quoted", async (code, message, words) => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(refusal(code, message)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const url = `postgres://u@127.0.0.1:${port}/shop`;
  const seen = await said(stage(), ["outbox", "status"], { HOOKPROOF_OUTBOX: url });
  server.close();
  const quoted = JSON.stringify(message);
  const reason = words === "" ? `the driver says ${quoted}` : `${words} (the driver: ${quoted})`;
  expect(seen).toMatchObject({
    code: 3,
    line: `error[OUTBOX_NOT_FOUND]  HOOKPROOF_OUTBOX: The outbox postgres://127.0.0.1:${port}/shop cannot be opened: ${reason}.`,
  });
});

it("no socket, and a file of the URL that is not there", async () => {
  const { line } = await said(stage(), ["outbox", "status", "--outbox", "postgres:///shop?host={}/gone"]);
  expect(line).toMatch(/ cannot be opened: no server has a socket there \(the driver: "connect ENOENT /);
  const rooted = await said(stage(), [
    "outbox",
    "status",
    "--outbox",
    "postgres://u@127.0.0.1:9/x?sslrootcert={}/ca",
  ]);
  expect(rooted.line).toMatch(
    / cannot be opened: \{\}\/ca, which its URL names, cannot be read: there is no such/,
  );
});

it("a fraction of a millisecond is rounded, and is no fault of the library", async () => {
  const words = [
    "jwks",
    "publish",
    "--url",
    "https://127.0.0.1:9/jwks.json",
    "--folder",
    "{}/site",
    "--settle",
  ];
  for (const settle of ["1.005s", "0.0000001ms"]) {
    const { line } = await said(stage(), [...words, settle, "--timeout", "200ms", "--store", "{}/keys"]);
    expect(line, settle).not.toMatch(/UNEXPECTED|settleForMs/);
  }
});

describe("profile show says which secret signs", () => {
  const shown = async (env: Record<string, string>, config: object) => {
    const folder = stage();
    writeFileSync(join(folder, "config.json"), JSON.stringify({ profiles: { one: config } }), {
      mode: 0o600,
    });
    const at = ["--profile", "one", "--config", "{}/config.json"];
    await said(folder, ["secret", "set", "--secret-file", "{}/secret", ...at]);
    return (await said(folder, ["profile", "show", ...at], env)).out.filter((line) =>
      /secret |stored/.test(line),
    );
  };
  const print = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex").slice(0, 8)}…`;
  const other = "another-secret-of-more-than-thirty-two-characters";

  it("the stored one, where there is no other", async () => {
    expect(await shown({}, { retries: 1 })).toEqual([`  secret       ${print(SECRET)}`]);
  });

  it("one of the environment", async () => {
    expect(await shown({ HOOKPROOF_SECRET: other }, { retries: 1 })).toEqual([
      `  secret       ${print(other)}  (HOOKPROOF_SECRET)`,
      `  stored       ${print(SECRET)}  (not used: HOOKPROOF_SECRET comes first)`,
    ]);
  });

  it("those of its files, and that they cannot be read", async () => {
    const from = "{}/config.json: profiles.one.secretFiles";
    for (const [file, prints] of [
      ["secret", print(SECRET)],
      ["gone", "(cannot be read)"],
    ] as const)
      expect((await shown({}, { secretFiles: [file] })).slice(-2)).toEqual([
        `  secret       ${prints}  (${from})`,
        `  stored       ${print(SECRET)}  (not used: ${from} comes first)`,
      ]);
  });
});
