// Where a request goes and what proves it, by what is typed, configured, listening on this machine, or was sent before.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { secretFingerprint } from "hookproof";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import type { Context } from "../src/command.js";
import { loadConfig } from "../src/config/config.js";
import { resolveCredential } from "../src/credentials/target.js";
import type { Io } from "../src/io.js";
import { run } from "../src/main.js";
import { configuredScheme, schemeOf } from "../src/schemes/chosen-scheme.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const OTHER = "another secret of more than thirty-two characters";
const TENANT = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const DATA = ["--data", "{}"];

/** A user's home, with a listener of theirs on port 4400 that has written its session, and files to name. */
function home(user: object = {}, sessions: Readonly<Record<number, object>> = {}) {
  const folder = temporaryFolder("target-rules");
  const data = join(folder, "data");
  mkdirSync(join(data, "sessions"), { recursive: true, mode: 0o700 });
  const write = (path: string, text: string) => {
    writeFileSync(join(folder, path), text, { mode: 0o600 });
    return join(folder, path);
  };
  write("data/config.json", JSON.stringify(user));
  const url = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local";
  const all = { 4400: { url, method: "hmac", secret: SECRET }, ...sessions };
  for (const [port, session] of Object.entries(all))
    write(`data/sessions/${port}.json`, JSON.stringify({ v: 1, ...session }));
  /** What a command says, and its exit code. */
  const said = async (words: readonly string[], env: Record<string, string> = {}) => {
    const chunks: string[] = [];
    const sink = () =>
      new Writable({
        write(chunk, _encoding, done) {
          chunks.push(String(chunk));
          done();
        },
      });
    const code = await run([...words], {
      ...{ stdin: Readable.from([]), stdout: sink(), stderr: sink() },
      env: { HOME: folder, HOOKPROOF_HOME: data, ...env },
      stopSignal: new AbortController().signal,
    });
    return { code, text: chunks.join("") };
  };
  /** What would be sent. */
  const planned = async (words: readonly string[], env?: Record<string, string>) => {
    const { text } = await said(["send", ...words, ...DATA, "--dry-run", "--json"], env);
    return JSON.parse(text) as { url: string; proof: string; headers: Record<string, string> };
  };
  return { folder, write, said, planned, secretFile: () => write("secret.txt", OTHER) };
}

/** The claims and the header of the token of a planned request. */
function tokenOf({ headers }: { headers: Record<string, string> }) {
  const [head = "", claims = ""] = (headers.Authorization ?? "").replace("Bearer ", "").split(".");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  return { head: read(head), claims: read(claims) };
}

const shown = (secret: string) => `${secretFingerprint(secret)}…`;

describe("a target", () => {
  it("is a URL, the listener on a port, or a profile's", async () => {
    const { planned } = home({
      target: TENANT,
      profiles: { local: { target: ":4400" }, "a.example": { target: ":4400" } },
    });
    const env = { HOOKPROOF_SECRET: OTHER, HOOKPROOF_SECRET_ORIGIN: "https://tenant.example.com" };
    const local = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local";
    expect((await planned([TENANT], env)).url).toBe(TENANT);
    expect((await planned([], env)).url).toBe(TENANT);
    expect((await planned([":4400"])).url).toBe(local);
    expect((await planned(["4400"])).url).toBe(local);
    expect((await planned(["local"])).url).toBe(local);
    expect((await planned(["a.example"])).url).toBe(local);
    expect((await planned(["--profile", "local"])).url).toBe(local);
    expect((await planned(["local", "--profile", "local"])).url).toBe(local);
    expect((await planned([], { HOOKPROOF_TARGET: local, HOOKPROOF_SECRET: OTHER })).url).toBe(local);
  });

  it.each([
    [["local", "--profile", "other"], /"local" and --profile name two profiles/],
    [["unknown-name"], /unknown-name/],
    [[], /The target is missing\.\n.*:4400 for the local listener/],
    [["http://localhost:81/x"], /must end in \/api\/v1\/webhooks\/incoming\/\{listener_id\}\.\n {2}Use :81 /],
    [["http://[::1]:82"], /must end in .*\n {2}Use :82 for a listener/],
    [["https://a.example:81/x"], /must end in [^\n]*\n$/],
    [[":4401"], /4401/],
  ])("is refused: %j", async (words, says) => {
    const { said } = home({ profiles: { local: { target: ":4400" }, other: {} } });
    const { code, text } = await said(["send", ...words, ...DATA, "--dry-run"], { HOOKPROOF_SECRET: OTHER });
    expect(text).toMatch(says);
    expect(text).not.toContain(OTHER);
    expect(code).toBeGreaterThan(1);
  });
});

describe("a local listener", () => {
  it("is signed for with its own secret, and says nothing of where that came from", async () => {
    const { planned } = home();
    expect((await planned([":4400"])).proof).toBe(`HMAC-SHA256, secret ${shown(SECRET)}`);
  });

  it("is signed for with the secret that is named, which says where it came from", async () => {
    const { planned, secretFile, write } = home();
    const [one, two] = [secretFile(), write("second.txt", SECRET)];
    const both = await planned([":4400", "--secret-file", one, "--secret-file", two]);
    expect(both.proof).toBe(`HMAC-SHA256, secret ${shown(OTHER)}, ${shown(SECRET)}`);
    const ofVariable = await planned([TENANT], { HOOKPROOF_SECRET: OTHER });
    expect(ofVariable.proof).toBe(`HMAC-SHA256, secret ${shown(OTHER)}  (HOOKPROOF_SECRET)`);
  });

  it("of another scheme refuses the service's own, unless a secret or a key is named for it", async () => {
    const url = "http://127.0.0.1:4402/in";
    const scheme = { name: "standard-webhooks" };
    const { said, planned, secretFile } = home(
      {},
      { 4402: { url, method: "hmac", secret: `whsec_${Buffer.from(SECRET).toString("base64")}`, scheme } },
    );
    expect(await planned([":4402"])).toMatchObject({ url, headers: { "webhook-id": expect.any(String) } });
    expect(await planned([":4402", "--scheme", "standard-webhooks"])).toMatchObject({ url });
    const refused = await said(["send", ":4402", "--scheme", "http-signature", ...DATA]);
    expect(refused.text).toMatch(
      /port 4402 verifies --scheme standard-webhooks, not --scheme http-signature\.\n.*--port 4402 --scheme http-signature\.\n$/,
    );
    const own = await said(["send", ":4400", "--scheme", "set", ...DATA]);
    expect(own.text).toMatch(
      /verifies the service's own scheme, not --scheme set\.\n.*--jwks <url\|file>\.\n/,
    );
    const other = await planned([
      ":4400",
      "--scheme",
      "http-signature",
      "--key-id",
      "k",
      "--secret-file",
      secretFile(),
    ]);
    expect(other.headers).toHaveProperty("Signature-Input");
  });
});

describe("what proves a request", () => {
  const KEYS = ["k1", "k2"];
  async function withKeys(user: object = {}, sessions: Readonly<Record<number, object>> = {}) {
    const made = home(user, sessions);
    for (const kid of KEYS) await made.said(["keys", "generate", "--kid", kid]);
    const exported = await made.said(["keys", "export", "k1", "--private", "--yes"]);
    const [file = ""] = /\{[\s\S]*\}/.exec(exported.text) ?? [];
    return { ...made, keyFile: made.write("own-key.json", file) };
  }

  it.each([
    [["--method", "hmac", "--key", "k1"], "--key is for --method jwt"],
    [["--method", "hmac", "--kid", "k1"], "--key is for --method jwt"],
    [["--base-url", "https://a.example"], "--base-url is for --method jwt without --scheme"],
    [["--scheme", "set", "--key", "k1", "--base-url", "https://a.example"], "--base-url is for --method jwt"],
    [
      ["--method", "jwt", "--base-url", "a.example"],
      '--base-url must be an http or https URL, not "a.example"',
    ],
    [["--method", "jwt", "--secret-file", "x"], "--secret-file is for --method hmac"],
  ])("is refused: %j", async (words, says) => {
    const { said } = home();
    const { code, text } = await said(["send", TENANT, ...words, ...DATA, "--dry-run"]);
    expect(text).toContain(`error[USAGE]  ${says}`);
    expect(code).toBe(2);
  });

  it("is a key where one is named, configured, or what the local listener takes", async () => {
    const tokens = { 4403: { url: "http://127.0.0.1:4403/api/v1/webhooks/incoming/l", method: "jwt" } };
    const { planned, keyFile } = await withKeys({}, tokens);
    const env = { HOOKPROOF_SECRET: OTHER };
    const isToken = async (words: readonly string[], more = {}) =>
      "Authorization" in (await planned(words, { ...env, ...more })).headers;
    expect(await isToken([TENANT])).toBe(false);
    expect(await isToken([TENANT, "--method", "jwt"])).toBe(true);
    expect(await isToken([TENANT, "--key", "k1"])).toBe(true);
    expect(await isToken([TENANT, "--key", keyFile, "--kid", "mine"])).toBe(true);
    expect(await isToken([":4403"])).toBe(true);
    expect(await isToken([":4403", "--method", "hmac"])).toBe(false);
    expect(await isToken([":4403", "--secret-file", keyFile])).toBe(false);
    expect(await isToken([TENANT], { HOOKPROOF_KEY: "k1" })).toBe(true);
    expect(await isToken([TENANT], { HOOKPROOF_KEY: "k1", HOOKPROOF_METHOD: "hmac" })).toBe(false);
    expect(await isToken([TENANT], { HOOKPROOF_METHOD: "jwt" })).toBe(true);
    expect(await isToken([":4400"], { HOOKPROOF_METHOD: "jwt" })).toBe(false);
  });

  it("is by a key the active one, or the one that is named, for the URL that is given as sub", async () => {
    const { said, planned, keyFile } = await withKeys();
    expect((await planned([TENANT, "--method", "jwt"])).proof).toBe("JWT ES256, key k1");
    const named = await planned([TENANT, "--key", "k2", "--base-url", "https://tenant.example.com"]);
    expect(named.proof).toBe("JWT ES256, key k2");
    const own = { sub: "https://tenant.example.com", aud: TENANT };
    expect(tokenOf(named)).toMatchObject({ head: { kid: "k2" }, claims: own });
    expect(tokenOf(await planned([TENANT, "--key", keyFile]))).toMatchObject({
      head: { kid: "k1" },
      claims: own,
    });
    const other = ["send", TENANT, "--key", "k1", ...DATA, "--dry-run"];
    for (const [words, env] of [
      [["--base-url", "https://other.example"], {}],
      [[], { HOOKPROOF_BASE_URL: "https://other.example" }],
    ] as const)
      expect((await said([...other, ...words], env)).text).toContain("error[BASE_URL_MISMATCH]");
  });

  it("is by a key in another scheme too", async () => {
    const { said } = await withKeys();
    const words = [
      "--scheme",
      "set",
      "--key",
      "k2",
      "--issuer",
      "https://i.example",
      "--audience",
      "https://a.example",
    ];
    const events = JSON.stringify({ events: { "https://events.example/a": {} } });
    const { text } = await said([
      "send",
      "https://a.example/in",
      ...words,
      "--data",
      events,
      "--dry-run",
      "--json",
    ]);
    const { proof, bodyBase64 } = JSON.parse(text);
    expect(proof).toMatch(/ ES256, key k2$/);
    const { head, claims } = tokenOf({
      headers: { Authorization: Buffer.from(bodyBase64, "base64").toString() },
    });
    expect([head.kid, claims.iss, claims.aud]).toEqual(["k2", "https://i.example", "https://a.example"]);
  });

  it("is, where a profile names a file and its kid, that key, and no other one under that kid", async () => {
    const made = await withKeys();
    const pem = await made.said(["keys", "export", "k1", "--private", "--format", "pem", "--yes"]);
    const [text = ""] = /-----BEGIN[\s\S]*END[^\n]*-----/.exec(pem.text) ?? [];
    const key = made.write("key.pem", `${text}\n`);
    const config = { profiles: { p: { target: TENANT, method: "jwt", key, kid: "of-profile" } } };
    made.write("data/config.json", JSON.stringify(config));
    expect((await made.planned(["p"])).proof).toBe("JWT ES256, key of-profile");
    expect((await made.planned(["p", "--kid", "typed"])).proof).toBe("JWT ES256, key typed");
    // The kid of the profile is none of another key's.
    for (const [words, env] of [
      [["p", "--key", key], {}],
      [["p"], { HOOKPROOF_KEY: key }],
    ] as const) {
      const { text, code } = await made.said(["send", ...words, ...DATA, "--dry-run"], env);
      expect(text).not.toContain("of-profile");
      expect(code).toBe(3);
    }
  });
});

describe("an event that was sent before", () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers["webhook-signature"] ?? request.headers.authorization));
    request.resume().on("end", () => response.writeHead(409).end());
  });
  let url = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/webhooks/incoming/lst_1`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("is proved by the same files again, wherever they would not be chosen", async () => {
    const { said, secretFile } = home();
    await said(["send", url, "--secret-file", secretFile(), ...DATA]);
    const again = await said(["replay", "last"], { HOOKPROOF_SECRET: SECRET });
    expect(again.code).toBe(0);
    const { text } = await said(["events", "show", "last"]);
    expect(text).toContain("secret.txt");
  });

  it("is proved by the same secret of the environment, and by no other one of it", async () => {
    const { said } = home();
    await said(["send", url, ...DATA], { HOOKPROOF_SECRET: OTHER });
    expect((await said(["replay", "last"], { HOOKPROOF_SECRET: OTHER })).code).toBe(0);
    const other = await said(["replay", "last"], { HOOKPROOF_SECRET: SECRET });
    expect(other.text).toContain("error[SECRET_OTHER_ORIGIN]");
    expect((await said(["replay", "last", "--target", url], { HOOKPROOF_SECRET: SECRET })).code).toBe(0);
    // One that is for another origin does not sign, whatever it has signed before.
    const bound = { HOOKPROOF_SECRET: OTHER, HOOKPROOF_SECRET_ORIGIN: "https://tenant.example.com" };
    expect((await said(["replay", "last"], bound)).text).toContain("error[SECRET_OTHER_ORIGIN]");
    const none = await said(["replay", "last"]);
    expect(none.text).toMatch(/error\[SECRET_MISSING\][\s\S]*hookproof secret set/);
  });

  it("is proved by the secret that a profile keeps", async () => {
    const { said, secretFile } = home();
    const kept = await said(["secret", "set", "--profile", "p", "--secret-file", secretFile()]);
    expect(kept.code, kept.text).toBe(0);
    const first = await said(["send", url, "--profile", "p", "--allow-origin", url, ...DATA]);
    expect(first.code, first.text).toBe(0);
    // Stored for no target, so it has to be allowed again.
    const again = await said(["replay", "last", "--profile", "p"]);
    expect(again.text).toMatch(/error\[SECRET_OTHER_ORIGIN\].*was stored without a target/);
    expect((await said(["replay", "last", "--allow-origin", url])).code).toBe(0);
    expect((await said(["replay", "last"])).text).toMatch(/SECRET_OTHER_ORIGIN.*was stored without a target/);
  });

  it("is proved by the secret that a profile keeps for its target, without a word", async () => {
    const { said, secretFile } = home({ profiles: { p: { target: url } } });
    await said(["secret", "set", "--profile", "p", "--secret-file", secretFile()]);
    await said(["send", "p", ...DATA]);
    const again = await said(["replay", "last"]);
    expect(again.code, again.text).toBe(0);
  });

  it("is proved by the same key and sub, unless a secret or another key is named", async () => {
    const { said, secretFile, write } = home();
    for (const kid of ["k1", "k2"]) await said(["keys", "generate", "--kid", kid]);
    await said(["send", url, "--key", "k1", "--base-url", new URL(url).origin, ...DATA]);
    const claims = () => tokenOf({ headers: { Authorization: seen.at(-1) ?? "" } });
    expect((await said(["replay", "last"], { HOOKPROOF_SECRET: SECRET })).code).toBe(0);
    expect(claims()).toMatchObject({ head: { kid: "k1" }, claims: { sub: new URL(url).origin } });
    write("data/config.json", JSON.stringify({ kid: "of-a-file" }));
    expect((await said(["replay", "last"])).code).toBe(0);
    expect(claims().head.kid).toBe("k1");
    write("data/config.json", "{}");
    expect((await said(["replay", "last", "--key", "k2"])).code).toBe(0);
    expect(claims()).toMatchObject({ head: { kid: "k2" }, claims: { sub: new URL(url).origin } });
    expect((await said(["replay", "last", "--secret-file", secretFile()])).code).toBe(0);
    expect(seen.at(-1)).toMatch(/^[\w-]{43}$/);
  });

  it("to another target is proved by what is for that one", async () => {
    const { said, secretFile } = home();
    await said(["send", url, "--secret-file", secretFile(), ...DATA]);
    const { text, code } = await said(["replay", "last", "--target", `${url}/other`]);
    expect(text).toContain("error[SECRET_MISSING]");
    expect(code).toBeGreaterThan(1);
  });

  it("to a local listener is proved by that one's secret of today", async () => {
    const made = home();
    const port = Number(new URL(url).port);
    const session = (secret: string) =>
      made.write(`data/sessions/${port}.json`, JSON.stringify({ v: 1, url, method: "hmac", secret }));
    session(SECRET);
    await made.said(["send", `:${port}`, ...DATA]);
    const kept = readFileSync(session(OTHER), "utf8");
    expect(kept).toContain(OTHER);
    expect((await made.said(["replay", "last"])).code).toBe(0);
    const { text } = await made.said(["events", "show", "last", "--json"]);
    expect(text).not.toContain(OTHER);
    expect(new Set(seen.slice(-2)).size).toBe(2);
  });
});

describe("a file that was found in the current folder", () => {
  const TARGET = "https://other.example/in";
  /** Has a token made as such a file says, by the user's own key, unless flags say more. */
  async function made(project: object, flags: Readonly<Record<string, string>> = {}) {
    const { folder, said, write } = home();
    await said(["keys", "generate", "--kid", "k1"]);
    const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
    const io: Io = {
      ...{ stdin: Readable.from([]), stdout: sink(), stderr: sink() },
      env: { HOME: folder, HOOKPROOF_HOME: join(folder, "data") },
      stopSignal: new AbortController().signal,
    };
    const file = { scheme: "set", issuer: "https://i.example", target: TARGET, ...project };
    const given = (flag: string) => (flag in flags ? [flags[flag] as string] : []);
    const named = loadConfig(io, { config: write("hookproof.config.json", JSON.stringify(file)), given });
    const config = { ...named, isProjectNamed: false };
    const args = {
      ...{ number: () => undefined, flag: () => false, durationMs: () => undefined },
      text: (name: string) => given(name)[0],
      texts: given,
      isGiven: (name: string) => name in flags,
    };
    const scheme = schemeOf(args, configuredScheme(config));
    const target = { url: TARGET, source: "file" as const };
    return resolveCredential({ args, io, out: {} as Context["out"], config }, { target, scheme });
  }

  it("has no token of the user's key made for one and sent to another", async () => {
    await expect(made({ audience: TENANT })).rejects.toMatchObject({
      code: "SECRET_OTHER_ORIGIN",
      message: expect.stringMatching(
        /target https:\/\/other\.example\/in, and "https:\/\/tenant.* as whom your key's token is for\.$/,
      ),
      hint: expect.stringMatching(/--config .*hookproof\.config\.json, or --audience https:\/\/tenant/),
    });
    await expect(made({ audience: TENANT, key: "k1" })).rejects.toMatchObject({
      code: "SECRET_OTHER_ORIGIN",
    });
  });

  it("names no key and no store outside of its folder", async () => {
    for (const setting of [{ key: "../key.pem" }, { store: "/keys" }])
      await expect(made({ audience: TARGET, ...setting })).rejects.toMatchObject({
        code: "SECRET_FILE_OUTSIDE",
      });
  });

  it.each([
    ["is sent to whom it is for", { audience: "https://other.example/more" }, {}],
    ["has an audience that is typed", { audience: TARGET }, { audience: TENANT }],
    ["is by a key that is typed", { audience: TENANT }, { key: "k1" }],
  ])("has a token made that %s", async (_, project, flags) => {
    expect((await made(project, flags)).proof).toMatch(/ES256, key k1$/);
  });
});
