import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CommandHost, commandHost } from "../../test/kit/command-host.js";
import type { Command, Flag } from "../src/command.js";
import { COMMANDS } from "../src/command-line/registry.js";
import { EXITS } from "../src/explain/command-line.js";
import { BAD_VALUES, makeBadFiles } from "./kit/bad-values.js";
import { CODES, RAW } from "./kit/raw-words.js";

const URL_OF_NOBODY = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";
const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
/** What is left to say of a value that the command table itself checks. */
const BAD_NUMBERS = [
  "",
  "-1",
  "NaN",
  "0",
  "1e3",
  "0s",
  "99999999999999999999",
  "99999999d",
  "1e9d",
  "0.0000001ms",
  "1.005s",
  "folder",
  "\u0000",
];

const SIGNED = ["--secret-file", "secret.txt", "--retries", "0", "--timeout", "300ms"];
const DATA = ["--data", '{"type":"user.offboarded"}'];

/** Command lines that would do something, so that a bad value is what stops them; other commands have their positionals alone. */
const LINES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  send: [
    [URL_OF_NOBODY, ...SIGNED, ...DATA],
    [URL_OF_NOBODY, "--key", "key.pem", "--kid", "k", "--retries", "0", ...DATA, "--dry-run"],
    [
      URL_OF_NOBODY,
      "--scheme",
      "set",
      "--key",
      "key.json",
      ...DATA,
      "--dry-run",
      "--issuer",
      "i",
      "--audience",
      "a",
    ],
    [URL_OF_NOBODY, "--scheme", "http-signature", "--key-id", "k", ...SIGNED, ...DATA, "--dry-run"],
    [URL_OF_NOBODY, "--scheme", "standard-webhooks", ...SIGNED, ...DATA, "--dry-run"],
    [URL_OF_NOBODY, "--batch", "--data", "@lines.jsonl", ...SIGNED],
  ],
  sign: [
    ["--secret-file", "secret.txt", ...DATA],
    [URL_OF_NOBODY, "--key", "key.json", ...DATA, "--curl"],
  ],
  replay: [
    ["event.json", "--to-recorded-url", ...SIGNED],
    ["event.json", "--exact", "--to-recorded-url", "--timeout", "300ms"],
  ],
  test: [[URL_OF_NOBODY, "--secret-file", "secret.txt", "--timeout", "200ms", "--only", "no-*"], ["--list"]],
  listen: [
    ["--port", "0", "--no-ui"],
    ["--port", "0", "--no-ui", "--tls-cert", "broken.pem", "--tls-key", "broken.pem"],
    ["--port", "0", "--no-ui", "--tls-cert", "key.pem", "--tls-key", "key.pem"],
    ["--port", "0", "--ui-port", "0", "--jwks", "jwks.json"],
  ],
  demo: [["--exit", "--port", "0", "--no-ui"]],
  verify: [
    ["request.http", "--secret-file", "secret.txt"],
    ["--headers", "headers.txt", "--body", "event.json", "--secret-file", "secret.txt"],
  ],
  init: [["--yes", "--force", "--target", ":4400"]],
  "keys import": [["key.pem", "--store", "made", "--kid", "k2"]],
  "keys generate": [["--store", "made", "--kid", "k3"]],
  "keys export": [["k1", "--store", "keys", "--private", "--yes"]],
  "keys show": [["k1", "--store", "keys"]],
  "keys rotate": [
    ["--store", "keys", "--now", "--yes"],
    ["--store", "keys"],
  ],
  "keys retire": [["k1", "--store", "keys", "--force"]],
  "keys remove": [["k1", "--store", "keys", "--force"]],
  "jwks serve": [["--port", "0", "--store", "keys"]],
  "jwks publish": [
    [
      "--store",
      "keys",
      "--url",
      "http://127.0.0.1:9/jwks.json",
      "--folder",
      "made-site",
      "--settle",
      "1ms",
      "--timeout",
      "200ms",
    ],
    [
      "--store",
      "keys",
      "--url",
      "http://127.0.0.1:9/jwks.json",
      "--command",
      "/bin/false",
      "--arg",
      "x",
      "--settle",
      "1ms",
      "--timeout",
      "200ms",
    ],
    [
      "--store",
      "keys",
      "--url",
      "http://127.0.0.1:9/jwks.json",
      "--s3",
      "s3://bucket/jwks.json",
      "--s3-endpoint",
      "http://127.0.0.1:9",
      "--settle",
      "1ms",
      "--timeout",
      "200ms",
    ],
  ],
  "jwks export": [["--store", "keys"]],
  "jwks check": [["http://127.0.0.1:9/jwks.json", "--timeout", "200ms"]],
  inspect: [["token.txt"], ["set-token.txt"]],
  "secret set": [["--secret-file", "secret.txt"]],
  "secret generate": [["--yes"]],
  "service start": [["--port", "0", "--db", "service.db", "--users", "1", "--no-ui"]],
  "service seed": [["--db", "seed.db", "--users", "1", "--replace"]],
  "service reset": [["--db", "service.db", "--yes"]],
  "service routes": [["--db", "service.db"]],
  "service token": [["--db", "service.db", "--base-url", "http://127.0.0.1:9"]],
  "service fault": [
    ["getAuthConfig", "--status", "503", "--db", "service.db", "--base-url", "http://127.0.0.1:9"],
  ],
  "service clock": [["--db", "service.db", "--base-url", "http://127.0.0.1:9"]],
  "service snapshot": [["save", "one", "--db", "service.db", "--base-url", "http://127.0.0.1:9"]],
  "service journal": [["--db", "service.db", "--base-url", "http://127.0.0.1:9"]],
  "service automation": [
    ["run", "one", "--event", "{}", "--db", "service.db", "--base-url", "http://127.0.0.1:9"],
  ],
  "outbox cancel": [[ID, "--outbox", "outbox.db", "--yes"]],
  "outbox redrive": [[ID, "--outbox", "outbox.db", "--yes"]],
  "outbox drop": [[ID, "--outbox", "outbox.db", "--yes"]],
  "outbox attempts": [[ID, "--outbox", "outbox.db"]],
  "outbox ui": [["--outbox", "outbox.db", "--port", "0"]],
  "outbox work": [["--outbox", "outbox.db", "--config", "profiles.json"]],
  "outbox create": [["--outbox", "outbox.db"]],
  "profile add": [["made", "--target", ":4400"]],
  "events diff": [["event.json", "event.json"]],
  doctor: [[URL_OF_NOBODY, "--timeout", "200ms"]],
  completion: [["bash"]],
  explain: [["SIGNATURE_MISMATCH"]],
};

let folder: string;
let host: CommandHost;
const path = (name: string) => join(folder, "work", name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-bad-"));
  mkdirSync(join(folder, "work"));
  makeBadFiles(join(folder, "work"));
  mkdirSync(join(folder, "home"), { mode: 0o700 });
  const { PATH } = process.env;
  const s3 = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "none" };
  const home = join(folder, "home");
  const env = { PATH, HOME: home, HOOKPROOF_HOME: home, NO_COLOR: "1", ...s3 };
  host = commandHost(join(folder, "work"), env, 60_000);
  const { generateKeyPairSync } = await import("node:crypto");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  files = {
    "key.pem": privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    "key.json": JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: "k", alg: "ES256" }),
    "jwks.json": '{"keys":[]}',
    "profiles.json": JSON.stringify({
      profiles: { one: { target: URL_OF_NOBODY, secretFiles: ["secret.txt"] } },
    }),
    "secret.txt": "a-secret-of-more-than-thirty-two-characters-and-a-few",
    "lines.jsonl": '{"a":1}\n',
    "token.txt": "eyJhbGciOiJFUzI1NiJ9.e30.AAAA",
    "set-token.txt": "eyJhbGciOiJFUzI1NiJ9.eyJldmVudHMiOnt9fQ.AAAA",
    "headers.txt": "Webhook-Timestamp: 1\n",
    "request.http": "POST /api/v1/webhooks/incoming/lst_1 HTTP/1.1\r\nHost: x\r\n\r\n{}",
    "event.json": JSON.stringify({
      type: "event",
      at: 1,
      eventId: ID,
      url: URL_OF_NOBODY,
      method: "hmac",
      headers: { "Content-Type": "application/json" },
      bodyBase64: "e30=",
      outcome: "accepted",
    }),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(path(name), content, { mode: 0o600 });
  for (const words of [
    ["outbox", "create", "--outbox", "outbox.db"],
    ["service", "seed", "--db", "service.db", "--users", "1"],
    ["keys", "generate", "--store", "keys", "--kid", "k1"],
  ]) {
    const { code, stderr } = await host.run(words);
    expect(code, stderr).toBe(0);
  }
  cpSync(join(folder, "work"), join(folder, "kept"), { recursive: true, verbatimSymlinks: true });
});
afterAll(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

let files: Record<string, string | Uint8Array>;

/** What a command left in the folder, or wrote over, is gone before the next. */
beforeEach(() => {
  for (const name of readdirSync(join(folder, "work")))
    rmSync(join(folder, "work", name), { recursive: true, force: true });
  cpSync(join(folder, "kept"), join(folder, "work"), { recursive: true, verbatimSymlinks: true, mode: 0 });
});

/** The command lines of one command with a bad value in each place. */
function* linesOf(name: string, command: Command): Generator<{ words: string[] }> {
  const { positionals = [], flags } = command;
  const fallback = [
    ...positionals.filter(({ required }) => required).map(({ choices }) => choices?.[0] ?? "x"),
    ...("outbox" in flags ? ["--outbox", "outbox.db"] : []),
  ];
  for (const line of LINES[name] ?? [fallback]) {
    for (const [flag, { type, choices }] of Object.entries<Flag>(flags)) {
      if (type === "boolean") continue;
      const at = line.indexOf(`--${flag}`);
      const others = at < 0 ? line : line.toSpliced(at, 2);
      const values = type === "string" && !choices ? BAD_VALUES : BAD_NUMBERS;
      for (const value of values) yield { words: [...others, `--${flag}=${value}`] };
    }
    for (const index of positionals.keys()) {
      // Flags come after the positionals in each line.
      const before = line.slice(0, index);
      if (before.some((word) => word.startsWith("--"))) continue;
      const isThere = line[index] !== undefined && !line[index].startsWith("--");
      for (const value of BAD_VALUES)
        yield { words: [...before, ...line.slice(index + (isThere ? 1 : 0)), "--", value] };
    }
  }
}

describe("a bad value ends in a code of the list, whatever the command and the option", () => {
  it.each(Object.keys(COMMANDS).filter((name) => name !== "mcp"))("%s", async (name) => {
    const command = await COMMANDS[name]?.load();
    if (!command) throw new Error("no such command");
    const failures: string[] = [];
    for (const { words } of linesOf(name, command)) {
      const isStopped = !["send", "replay", "test", "sign"].includes(name);
      const end = words.includes("--") ? words.indexOf("--") : words.length;
      const flags = ["--no-input", "--quiet"];
      const argv = [...name.split(" "), ...words.slice(0, end), ...flags, ...words.slice(end)];
      const shown = JSON.stringify(argv.map((word) => (word.length > 200 ? `${word.slice(0, 30)}…` : word)));
      try {
        const { code, stderr } = await host.run(argv, { isStopped });
        const [, found] = /^error\[([^\]]*)\]/m.exec(stderr) ?? [];
        const [, option, value] = /^(--[a-z0-9-]+)=(.{4,})$/s.exec(words.at(-1) ?? "") ?? [];
        const isUnnamed = stderr.includes(` ${value} cannot be `) && !stderr.includes(String(option));
        if (
          !(code in EXITS) ||
          code === 1 ||
          (found !== undefined && !CODES.has(found)) ||
          RAW.test(stderr) ||
          isUnnamed
        )
          failures.push(`${shown} → ${code} ${stderr.slice(0, 300)}`);
      } catch (error) {
        failures.push(`${shown} → ${String(error)}`);
      }
    }
    expect(failures).toEqual([]);
  });
});
