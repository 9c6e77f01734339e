import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import fc from "fast-check";
import { openSqlite } from "hookproof/node";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { parseRawRequest } from "../src/capture/raw-request.js";
import { run } from "../src/main.js";

let folder: string;
const path = (name: string) => join(folder, name);
const BIN = resolve(import.meta.dirname, "../bin/hookproof.cjs");
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-odd-"));
  mkdirSync(path("data"), { mode: 0o700 });
  writeFileSync(path("secret.txt"), "a-secret-of-more-than-thirty-two-characters", { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command in this process; gives its exit code and what it wrote. */
async function outcome(argv: readonly string[], env: Record<string, string> = {}): Promise<[number, string]> {
  const written: Buffer[] = [];
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        written.push(Buffer.from(chunk));
        done();
      },
    });
  const exit = await run(argv, {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: path("data"), NO_COLOR: "1", ...env },
    stopSignal: new AbortController().signal,
  });
  return [exit, Buffer.concat(written).toString("utf8")];
}

const event = {
  type: "event",
  at: 1,
  eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
  url: "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1",
  method: "hmac",
  headers: { "Content-Type": "application/json" },
  bodyBase64: "e30=",
  outcome: "accepted",
};
const ODD = ["", "x", "\n", "a\u2028", "€", " ", "a b", "%", "\u0000", "constructor", "__proto__"];
const URLS = [
  "http://127.0.0.1:99999/api/v1/webhooks/incoming/x",
  "nothing/api/v1/webhooks/incoming/x",
  "http:///api/v1/webhooks/incoming/x y",
  "ftp://127.0.0.1/api/v1/webhooks/incoming/x",
  "http://u:p@127.0.0.1:9/api/v1/webhooks/incoming/x",
  ...ODD.map((odd) => `http://127.0.0.1:9/api/v1/webhooks/incoming/${odd}`),
  ...ODD.map((odd) => `http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1?${odd}`),
];
const HEADERS = [
  ...ODD.map((odd) => ({ [odd]: "x" })),
  ...ODD.map((odd) => ({ "X-Odd": odd })),
  { Trailer: "x" },
  { "Transfer-Encoding": "gzip" },
  { Expect: "100-continue" },
  { "Content-Length": "-1" },
  { Host: "a\nb" },
];

async function expectNamed(content: string | Uint8Array): Promise<void> {
  writeFileSync(path("odd"), content);
  const signed = ["--secret-file", path("secret.txt")];
  for (const [command, ...flags] of [
    ["verify", ...signed],
    ["replay", "--exact"],
    ["replay", "--to-recorded-url", "--retries", "0", ...signed],
  ] as [string, ...string[]][]) {
    const [exit, seen] = await outcome([command, path("odd"), ...flags, "--timeout", "2s"]);
    const what = `${command} ${flags.join(" ")}\n${String(content)}\n${seen}`;
    expect([0, 2, 3, 6, 7], what).toContain(exit);
    expect(seen, what).not.toMatch(/error\[(?:UNEXPECTED|ERR_[A-Z_]+)\]/);
  }
}

describe("a file that somebody else wrote ends in a code of its own, whatever is in it", () => {
  it.each(URLS)("with the URL %j", (url) => expectNamed(JSON.stringify({ ...event, url })));

  it.each(HEADERS)("with the headers %j", (headers) => expectNamed(JSON.stringify({ ...event, headers })));

  it("a raw request with any target or header", async () => {
    for (const odd of [...ODD, "?", "#", "http://"])
      for (const text of [
        `POST /api/v1/webhooks/incoming/${odd} HTTP/1.1\r\nHost: x\r\n\r\n{}`,
        `POST ${odd}/api/v1/webhooks/incoming/x HTTP/1.1\r\nHost: x\r\n\r\n{}`,
        `POST /api/v1/webhooks/incoming/x HTTP/1.1\r\n${odd}: x\r\n\r\n{}`,
        `POST /api/v1/webhooks/incoming/x HTTP/1.1\r\nWebhook-Timestamp: ${odd}\r\n\r\n{}`,
      ])
        await expectNamed(text);
  });

  it("any JSON in the place of any member", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(event)), fc.jsonValue(), async (member, value) => {
        await expectNamed(JSON.stringify({ ...event, [member]: value }));
      }),
      { numRuns: 60 },
    );
  });

  it("any JSON, and any bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.uint8Array({ maxLength: 200 })), async (content) => {
        await expectNamed(content);
      }),
      { numRuns: 60 },
    );
  });

  it("checks a listener's request with a query as the service does, without it", async () => {
    writeFileSync(path("odd"), JSON.stringify({ ...event, url: `${event.url}?a=1` }));
    const [exit, seen] = await outcome(["verify", path("odd"), "--secret-file", path("secret.txt")]);
    expect(seen).toContain("error[TIMESTAMP_MISSING]");
    expect(exit).toBe(7);
  });
});

it("doctor looks at a URL where there is no home folder, and says so", async () => {
  const [exit, seen] = await outcome(["doctor", "http://127.0.0.1:9/"], { HOME: "", HOOKPROOF_HOME: "" });
  expect(seen).toContain("! data     There is no home folder");
  expect(seen).toMatch(/✖ \w+ .*127\.0\.0\.1:9|ECONNREFUSED/);
  expect(exit).toBe(7);
});

it("the hint for a client secret that others can read names the file", async () => {
  const [, made] = await outcome(["service", "seed", "--db", path("s.db"), "--users", "1"]);
  expect(made).not.toContain("error[");
  writeFileSync(path("s.db.client-secret"), "x\n", { mode: 0o644 });
  const [exit, seen] = await outcome(["service", "start", "--db", path("s.db"), "--port", "0"]);
  expect(seen).toContain(`error[FILE_MODE_TOO_WIDE]`);
  expect(seen).toContain(`chmod 600 ${path("s.db.client-secret")}`);
  expect(exit).toBe(3);
});

describe("a captured request", () => {
  it("may have folded header lines, and each is one", () => {
    const head = "POST / HTTP/1.1\r\nX-Long: one,\r\n  two\r\n\tthree \r\nHost: a\r\n\r\n";
    expect(parseRawRequest(Buffer.from(`${head}{}`)).headers).toEqual([
      ["X-Long", "one, two three"],
      ["Host", "a"],
    ]);
    expect(() => parseRawRequest(Buffer.from("POST / HTTP/1.1\n folded: onto nothing\n\n"))).toThrow(
      /Not a header line/,
    );
  });
});

it("two events with bodies as deep as they are long are compared as bytes", async () => {
  const names = ["a", "b"].map((inside) => {
    const body = `${"[".repeat(30_000)}${inside === "a" ? "" : "1"}${"]".repeat(30_000)}`;
    writeFileSync(
      path(`deep-${inside}.json`),
      JSON.stringify({ ...event, bodyBase64: Buffer.from(body).toString("base64") }),
    );
    return path(`deep-${inside}.json`);
  });
  const [exit, said] = await outcome(["events", "diff", ...names]);
  expect(said).toContain("body, from byte 30000");
  expect(exit).toBe(0);
});

it("an outbox in which another program wrote times that are none is shown all the same", async () => {
  const file = path("times.db");
  sqliteStore({ open: () => openSqlite(file) }).close();
  const db = openSqlite(file);
  const history = [null, { number: 1, startedAt: 9e15, durationMs: 5 }];
  db.exec(`INSERT INTO hookproof_outbox (listener, id, digest, enqueued_at, ready_at, state, due_at, visible_at, ended_at,
      first_attempt_at, reason, code, history)
    VALUES ('lst_1', '${event.eventId}', 'x', 9000000000000000, 1, 2, 1, 1, -9000000000000000, 'x', 'refused',
      'REQUEST_REFUSED', '${JSON.stringify(history)}')`);
  db.close();
  for (const command of [["dead"], ["attempts", event.eventId]])
    for (const flags of [[], ["--json"]]) {
      const [exit, seen] = await outcome(["outbox", ...command, "--outbox", file, ...flags]);
      expect([exit, seen]).toEqual([0, expect.stringContaining("lst_1")]);
    }
  const [, seen] = await outcome(["outbox", "attempts", event.eventId, "--outbox", file]);
  expect(seen).toMatch(/enqueued +-\n/);
  expect(seen).toMatch(/attempt 1 +- {2}5 ms {2}no answer/);
});

it("the id of an event of another program's is one word of the command that is suggested", async () => {
  const file = path("ids.db");
  sqliteStore({ open: () => openSqlite(file) }).close();
  const db = openSqlite(file);
  db.exec(`INSERT INTO hookproof_outbox (listener, id, digest, enqueued_at, ready_at, state, due_at, visible_at, ended_at,
      first_attempt_at, reason, code, history)
    VALUES ('lst_1', 'x; touch pwned', 'x', 1, 1, 2, 1, 1, 1, 1, 'refused', 'REQUEST_REFUSED', '[]')`);
  db.close();
  const [exit, seen] = await outcome(["outbox", "dead", "--outbox", file]);
  expect([exit, seen]).toEqual([
    0,
    expect.stringContaining("hookproof outbox attempts 'x; touch pwned' --outbox "),
  ]);
});

/** Opens a pipe when somebody reads it, and writes to it in parts. */
async function writeSlowly(pipe: string, parts: readonly string[]): Promise<void> {
  const child = spawn("sh", [
    "-c",
    `exec >"$0"; for part in "$@"; do sleep 0.2; printf %s "$part"; done`,
    pipe,
    ...parts,
  ]);
  await once(child, "exit");
}

describe("a folder's configuration", () => {
  // Whoever made the folder chose where the link leads, and a cloned repository may have one.
  it("that never ends, or is larger than any, is refused before it is read", async () => {
    const [endless, large] = [path("endless.json"), path("large.json")];
    symlinkSync("/dev/zero", endless);
    writeFileSync(large, "");
    truncateSync(large, 8 * 1024 ** 3);
    for (const [file, reason] of [
      [endless, "it is no file"],
      [large, "it is too large"],
    ] as const) {
      const [exit, seen] = await outcome(["profile", "show", "--config", file]);
      expect([exit, seen]).toEqual([3, expect.stringContaining(`cannot be read: ${reason}.`)]);
      expect(seen).toContain("CONFIG_UNREADABLE");
    }
  });
});

it("a device that never ends is refused after a part of what a file may have", async () => {
  const listener = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";
  for (const words of [
    ["--secret-file", "/dev/zero", "--data", "{}"],
    ["--secret-file", path("secret.txt"), "--data", "@/dev/zero"],
  ])
    expect(await outcome(["send", listener, ...words])).toEqual([
      3,
      expect.stringContaining("/dev/zero cannot be read: it is a device that gives more than 1 MiB."),
    ]);
});

describe("a named pipe", () => {
  const MKFIFO = hasTool("mkfifo", "--version");
  itWith("mkfifo", MKFIFO)(
    "that nobody writes to is refused by whatever reads a file, and ends nothing",
    async () => {
      const pipe = path("nobody");
      execFileSync("mkfifo", ["-m", "600", pipe]);
      const listener = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";
      const commands = [
        ["replay", pipe],
        ["verify", pipe],
        ["inspect", pipe],
        ["events", "diff", pipe, pipe],
        ["keys", "import", pipe, "--store", path("keys")],
        ["send", listener, "--secret-file", path("secret.txt"), "--data", `@${pipe}`],
        ["send", listener, "--secret-file", pipe, "--data", "{}"],
        ["profile", "show", "--config", pipe],
      ];
      const unheard = outcome(["outbox", "status"], { HOOKPROOF_OUTBOX_FILE: pipe });
      const ends = await Promise.all(commands.map((command) => outcome(command)));
      for (const [index, [exit, seen]] of ends.entries())
        expect([commands[index]?.slice(0, 2), exit, seen]).toEqual([
          commands[index]?.slice(0, 2),
          3,
          expect.stringMatching(
            /_UNREADABLE.* cannot be read: it is (a pipe, and nobody writes to it|no file)\./,
          ),
        ]);
      expect(await unheard).toEqual([3, expect.stringContaining(`HOOKPROOF_OUTBOX_FILE: ${pipe} cannot be`)]);
    },
  );

  itWith("bash", hasTool("bash", "--version"))(
    "may be the file of a setting, which is read once and kept",
    () => {
      requireBuild();
      const [config, name] = [path("piped.json"), path("piped.txt")];
      const target = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_piped";
      writeFileSync(config, JSON.stringify({ profiles: { one: { target } } }), { mode: 0o600 });
      writeFileSync(name, `${path("piped.db")}\n`, { mode: 0o600 });
      const sh = (script: string) => {
        const env = { ...process.env, HOME: path("home"), BIN, CONFIG: config, NAME: name, NO_COLOR: "1" };
        const { status, stdout, stderr } = spawnSync("bash", ["-c", script], { env, encoding: "utf8" });
        return [status, `${stdout}${stderr}`];
      };
      const target1 = [0, expect.stringContaining("lst_piped")];
      expect(sh('node "$BIN" profile list --config <(cat "$CONFIG")')).toEqual(target1);
      expect(sh('HOOKPROOF_CONFIG=<(cat "$CONFIG") node "$BIN" profile list')).toEqual(target1);
      // The writer takes its time, and writes in parts.
      const slow = '<(head -c 9 "$CONFIG"; sleep 0.3; tail -c +10 "$CONFIG")';
      expect(sh(`node "$BIN" profile list --config ${slow}`)).toEqual(target1);
      expect(sh('node "$BIN" outbox create --outbox "$(cat "$NAME")"')[0]).toBe(0);
      for (const words of ["outbox status", "outbox list", "doctor"]) {
        const [exit, seen] = sh(`HOOKPROOF_OUTBOX_FILE=<(cat "$NAME") node "$BIN" ${words} --no-input`);
        expect([words, seen]).toEqual([words, expect.not.stringContaining("cannot be read")]);
        if (words !== "doctor") expect([words, exit, seen]).toEqual([words, 0, seen]);
      }
    },
  );

  itWith("mkfifo", MKFIFO)("of a setting that a command does not use is left alone", async () => {
    const pipe = path("unused");
    execFileSync("mkfifo", ["-m", "600", pipe]);
    // Open for both, so that what nobody reads stays in it; a command that reads it would wait for the end.
    const held = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(held));
    const env = { HOOKPROOF_OUTBOX_FILE: pipe };
    for (const [words, wanted] of [
      [["sign", "--secret-file", path("secret.txt"), "--data", "{}"], 0],
      [["profile", "list"], 0],
      [["keys", "list", "--store", path("none")], 0],
      [["explain", "401"], 0],
      [["outbox", "status", "--outbox", path("none.db")], 3],
    ] as const) {
      writeSync(held, "app.db");
      const [exit, seen] = await outcome(words, env);
      expect([words, exit, seen]).toEqual([words, wanted, seen]);
      const left = Buffer.alloc(100);
      expect([words, left.toString("utf8", 0, readSync(held, left))]).toEqual([words, "app.db"]);
    }
  });

  itWith("mkfifo", MKFIFO)("is read from whoever writes to it, also later and in parts", async () => {
    const pipe = path("later");
    execFileSync("mkfifo", ["-m", "600", pipe]);
    const [read] = await Promise.all([
      outcome(["events", "diff", pipe, path("secret.txt")]),
      writeSlowly(pipe, ["POST /x HTTP/1.1\r\nHost: a\r\n", "\r\n{}"]),
    ]);
    expect(read[1]).not.toContain("cannot be read");
    const [slow] = await Promise.all([
      outcome(["inspect", pipe]),
      writeSlowly(pipe, ["eyJhbGciOiJIUzI1NiJ9.", "e30.e30"]),
    ]);
    expect(slow[1]).toContain("HS256");
  });
});
