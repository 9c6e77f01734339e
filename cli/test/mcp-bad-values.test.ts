// Every tool of `hookproof mcp` with bad values in each of its arguments: what fails has a code of ours, and nothing raw.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { heldPort } from "../../test/kit/held-port.mjs";
import { requireBuild } from "../../test/kit/transcript.js";
import { documentsOf, INITIALIZE, type McpProcess, openHome, startMcp } from "./kit/mcp-process.js";
import { CODES, RAW } from "./kit/raw-words.js";

beforeAll(requireBuild);

const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";

/** Wrong in kind, in length, in letters, or by what they name; the files are in the folder where the server runs. */
const BAD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  65_536,
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\u001b[2J",
  "\ud800",
  "\r\n",
  "é".repeat(50),
  "a".repeat(300_000),
  "constructor",
  "__proto__",
  "--help",
  "-",
  "@folder",
  "@missing",
  "folder",
  "missing/file",
  "broken.json",
  ":0",
  ":99999",
  "nobody",
  "dead",
  "folder-secret",
  "http://[bad",
  "http://127.0.0.1:9/x",
  ID,
  "99999999d",
  "999999d",
  "0ms",
  "last",
  "999",
  "9xx",
  [],
  ["a"],
  {},
  { a: { b: [null] } },
  JSON.parse('{"__proto__":{"a":1},"constructor":2}'),
  { a: "x".repeat(70_000) },
  // What people hand in: marks, encodings, keys in the place of something else, URLs that programs read in two ways.
  '\uFEFF{"a":1}',
  '{\u0000"\u0000a\u0000"\u0000:\u00001\u0000}\u0000',
  "\u201C{}\u201D",
  JSON.parse('{"then":1,"catch":null}'),
  [[[["\u200B"]]]],
  "-----BEGIN PRIVATE KEY-----\\nMC4CAQAwBQYDK2VwBCIEIA\\n-----END PRIVATE KEY-----",
  { kty: "oct", k: "c2VjcmV0", kid: "k", alg: "Ed25519" },
  "-----BEGIN OPENSSH PRIVATE KEY-----",
  "@utf16.txt",
  "utf16.txt",
  "marked.json",
  "marked-secret",
  "/dev/zero",
  "HOOKPROOF_SECRET",
  "http://user:pass@127.0.0.1:9/x",
  "http://127.0.0.1:9\\x",
  "http://127.0.0.1:9/a/../x?",
  "http:127.0.0.1:9/x",
  " http://127.0.0.1:9/x\t",
  "http://h\u00e9.invalid/x",
  "2030-02-30",
  "1e3",
  "X-A: b\r\n X-B: c\n\n",
];

/** What each tool needs besides, so that it does something. */
const OTHERS: Readonly<Record<string, Record<string, unknown>>> = {
  verify_request: { profile: "dead", headers: "Webhook-Signature: x", body: "{}" },
  explain_code: { code: "SIGNATURE_MISMATCH" },
  show_attempts: { eventId: ID },
  stop_listener: { port: 4400 },
  replay_request: { n: 1 },
  send_event: { target: "dead", body: {} },
  replay_event: { eventId: "last", target: "dead" },
  test_listener: { target: "dead", only: "no-*" },
};

interface Listed {
  readonly name: string;
  readonly inputSchema: { readonly properties: Readonly<Record<string, unknown>> };
}

/** Calls a tool; gives what is wrong about its answer. */
async function faultOf(mcp: McpProcess, name: string, input: unknown): Promise<string | undefined> {
  const { result, error } = await mcp.request("tools/call", { name, arguments: input as object });
  const shown = `${name} ${JSON.stringify(input).slice(0, 120)}`;
  if (error) return `${shown} → protocol error ${error.message.slice(0, 200)}`;
  if (!result?.isError) return undefined;
  const failed = documentsOf(result).find((document) => document.error !== undefined);
  const { code, message = "", hint = "" } = (failed?.error ?? {}) as Record<string, string>;
  const said = `${code} ${message} ${hint}`;
  return CODES.has(code ?? "") && !RAW.test(said) ? undefined : `${shown} → ${said.slice(0, 300)}`;
}

async function home() {
  const made = openHome();
  const dead = `http://127.0.0.1:${await heldPort()}/api/v1/webhooks/incoming/lst_1`;
  made.configure({
    dead: { target: dead },
    "folder-secret": { target: dead, secretFiles: ["folder"] },
    "marked-secret": { target: dead, secretFiles: ["utf16.txt"] },
  });
  mkdirSync(join(made.folder, "folder"));
  writeFileSync(join(made.folder, "broken.json"), '{"a":');
  writeFileSync(
    join(made.folder, "utf16.txt"),
    Buffer.from("\uFEFFa secret of more than 32 characters", "utf16le"),
    {
      mode: 0o600,
    },
  );
  writeFileSync(join(made.folder, "marked.json"), '\uFEFF{"a":1}');
  writeFileSync(join(made.folder, "text.txt"), "no database, and long enough to be looked at");
  return { ...made, env: { ...made.env, HOOKPROOF_SECRET: "a-secret-of-more-than-thirty-two-characters" } };
}

it("every argument of every tool", async () => {
  const user = await home();
  user.run("outbox", "create", "--outbox", "app.db");
  const allowed = ["--allow", "listen", "--allow", "send", "--timeout", "300ms"];
  const mcp = startMcp(user, ...allowed, "--outbox", "app.db");
  await mcp.request("initialize", INITIALIZE);
  const { tools } = (await mcp.request("tools/list")).result as unknown as { tools: Listed[] };
  expect(tools.length).toBeGreaterThan(12);
  const faults: (string | undefined)[] = [];
  for (const { name, inputSchema } of tools) {
    const others = OTHERS[name] ?? {};
    faults.push(await faultOf(mcp, name, others));
    for (const member of [...Object.keys(inputSchema.properties), "other"])
      for (const value of BAD) faults.push(await faultOf(mcp, name, { ...others, [member]: value }));
  }
  expect(faults.filter(Boolean)).toEqual([]);
  expect(mcp.seen.stderr).not.toMatch(RAW);
});

it.each([
  ["a folder in the place of the outbox", ["--outbox", "folder"]],
  ["a text in the place of the outbox", ["--outbox", "text.txt"]],
  ["an outbox that is missing", ["--outbox", "missing/app.db"]],
  ["a database that nobody serves", ["--outbox", "postgres://127.0.0.1:9/none"]],
  ["an outbox that is no URL", ["--outbox", "postgres://[bad"]],
])("%s", async (_, flags) => {
  const mcp = startMcp(await home(), ...flags, "--timeout", "2s");
  await mcp.request("initialize", INITIALIZE);
  for (const [name, input] of [
    ["show_outbox", {}],
    ["list_dead_letters", {}],
    ["show_attempts", { eventId: ID }],
  ] as const) {
    const { result } = await mcp.request("tools/call", { name, arguments: input });
    expect(result?.isError, name).toBe(true);
    expect(await faultOf(mcp, name, input)).toBeUndefined();
  }
});

it("a configuration that breaks while it runs is an error of the tool", async () => {
  const user = await home();
  const mcp = startMcp(user);
  await mcp.request("initialize", INITIALIZE);
  writeFileSync(join(user.folder, "hookproof.config.json"), '{"profiles":');
  for (const name of ["list_profiles", "list_events"]) {
    const { result } = await mcp.request("tools/call", { name, arguments: {} });
    expect(result?.isError, name).toBe(true);
    expect(await faultOf(mcp, name, {})).toBeUndefined();
  }
});

/** Settings of the way, of keys and of schemes that cannot be: a folder, another encoding, no pair, no URL. */
const BAD_PROFILES: Readonly<Record<string, object>> = {
  "folder as cert": { cert: "folder", keyFile: "folder" },
  "text as cert": { cert: "text.txt", keyFile: "text.txt" },
  "cert without key": { cert: "text.txt" },
  "missing cert": { cert: "missing.pem", keyFile: "missing.pem" },
  "folder as ca": { ca: "folder" },
  "text as ca": { ca: "text.txt" },
  "headers in UTF-16": { headerFiles: ["utf16.txt"] },
  "headers in a folder": { headerFiles: ["folder"] },
  "headers in JSON": { headerFiles: ["marked.json"] },
  "a key that is none": { method: "jwt", key: "text.txt", kid: "k" },
  "a key in UTF-16": { method: "jwt", key: "utf16.txt", kid: "k" },
  "a folder as key": { method: "jwt", key: "folder", kid: "k" },
  "a key set that is none": { method: "jwt", jwks: "text.txt" },
  "a passphrase in a folder": { cert: "text.txt", keyFile: "text.txt", keyPassphraseFile: "folder" },
};

it("settings of the way and of keys that cannot be used", async () => {
  const user = await home();
  const target = `http://127.0.0.1:${await heldPort()}/api/v1/webhooks/incoming/lst_1`;
  const names = Object.keys(BAD_PROFILES).map((_, n) => `p${n}`);
  user.configure(
    Object.fromEntries(
      Object.values(BAD_PROFILES).map((settings, n) => [names[n] ?? "", { target, ...settings }]),
    ),
  );
  const mcp = startMcp(user, "--allow", "send", "--timeout", "300ms");
  await mcp.request("initialize", INITIALIZE);
  const faults: (string | undefined)[] = [];
  for (const profile of names)
    for (const [tool, input] of [
      ["send_event", { target: profile, body: {} }],
      ["test_listener", { target: profile, only: "no-*" }],
      ["verify_request", { profile, headers: "Webhook-Signature: x", body: "{}" }],
    ] as const) {
      const { result } = await mcp.request("tools/call", { name: tool, arguments: input });
      if (tool === "send_event") expect([profile, result?.isError]).toEqual([profile, true]);
      faults.push(await faultOf(mcp, tool, input));
    }
  expect(faults.filter(Boolean)).toEqual([]);
  expect(mcp.seen.stderr).not.toMatch(RAW);
});
