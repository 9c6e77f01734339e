// Bad values of variables and of configuration files end in a code of the list, in every command that reads them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SETTINGS, type SettingRule } from "../src/config/settings.js";
import { EXITS } from "../src/explain/command-line.js";
import { run } from "../src/main.js";
import { badValuesOf, makeBadFiles } from "./kit/bad-values.js";
import { CODES, RAW } from "./kit/raw-words.js";

const folder = mkdtempSync(join(tmpdir(), "hookproof-settings-"));
const at = (name: string) => join(folder, name);
// A home that is a bad name is a folder of that name, which a listener makes where it stands.
const stood = process.cwd();
beforeAll(() => process.chdir(at("stand")));
afterAll(() => {
  process.chdir(stood);
  rmSync(folder, { recursive: true, force: true });
});
mkdirSync(at("stand"));
mkdirSync(at("home"), { mode: 0o700 });
makeBadFiles(folder);
for (const [name, content] of Object.entries({
  "secret.txt": "a-secret-of-more-than-thirty-two-characters",
  "request.http": "POST /api/v1/webhooks/incoming/lst_1 HTTP/1.1\r\nHost: x\r\n\r\n{}",
}))
  writeFileSync(at(name), content, { mode: 0o600 });

const BAD = [...badValuesOf(folder), at("secret.txt")];

/** Commands that read what is set, each so that nothing is sent to anybody. */
const COMMANDS: readonly (readonly string[])[] = [
  ["send", "--data", "{}", "--dry-run"],
  ["verify", at("request.http")],
  ["outbox", "work", "--drain"],
  ["profile", "show"],
  ["listen", "--port", "0", "--no-ui", "--exit-after", "1ms"],
  ["test", "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1", "--only", "no-*", "--timeout", "200ms"],
  ["doctor", "--timeout", "200ms"],
  ["outbox", "status"],
  ["keys", "list"],
];

async function failureOf(argv: readonly string[], env: Record<string, string>): Promise<string | undefined> {
  let seen = "";
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        seen += String(chunk);
        done();
      },
    });
  const code = await run([...argv, "--no-input"], {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: at("home"), HOME: at("home"), NO_COLOR: "1", ...env },
    stopSignal: AbortSignal.timeout(5_000),
  });
  const [, found] = /^error\[([^\]]*)\]/m.exec(seen) ?? [];
  const isRight =
    code in EXITS && code !== 1 && (found === undefined || CODES.has(found)) && !RAW.test(shownOf(seen));
  return isRight
    ? undefined
    : `${argv.join(" ")} ${JSON.stringify(env).slice(0, 200)} → ${code} ${seen.slice(0, 300)}`;
}

/** What a command shows of what it was given may be anything. */
function shownOf(seen: string): string {
  return seen.replace(/"[^"]*"/g, '""');
}

const RULES: readonly (readonly [name: string, rule: SettingRule])[] = Object.entries(SETTINGS);
const OTHERS = [
  ...[
    "HOOKPROOF_SECRET",
    "HOOKPROOF_CONFIG",
    "HOOKPROOF_PROFILE",
    "HOOKPROOF_HOME",
    "HOOKPROOF_SECRET_ORIGIN",
  ],
  ...["HTTPS_PROXY", "NO_PROXY", "COLUMNS", "AWS_REGION"],
];

it.each([...RULES.flatMap(([, { env, envFile = [] }]) => [env, envFile].flat()), ...OTHERS])(
  "the variable %s",
  async (name) => {
    const failures: (string | undefined)[] = [];
    for (const value of BAD)
      for (const argv of COMMANDS) failures.push(await failureOf(argv, { [name]: value }));
    expect(failures.filter((one) => one !== undefined)).toEqual([]);
  },
);

it.each(RULES)("the setting %s of a configuration", async (name, { kind }) => {
  const failures: (string | undefined)[] = [];
  const isList = kind === "paths" || kind === "texts";
  const values = [...BAD.map((value) => (isList ? [value] : value)), 5, null, [], [5], {}, true, [[]]];
  for (const value of values) {
    writeFileSync(at("c.json"), JSON.stringify({ [name]: value }));
    for (const argv of COMMANDS) failures.push(await failureOf([...argv, "--config", at("c.json")], {}));
  }
  expect(failures.filter((one) => one !== undefined)).toEqual([]);
});
