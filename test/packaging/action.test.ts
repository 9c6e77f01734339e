import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { root } from "../kit/built-package.js";
import { SECRET } from "../kit/probes/listeners.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { requireBuild } from "../kit/transcript.js";
import { VERSION } from "./packed-packages.js";

/** The action of action.yml, run as a runner does: inputs and files by the environment, Node and the script alone. */
const action = parse(readFileSync(join(root, "action.yml"), "utf8")) as {
  inputs: Record<string, { default?: string; required?: boolean }>;
  outputs: Record<string, unknown>;
  runs: { using: string; main: string };
};

/** In the place of npx, which would fetch the published command: the built one, if exactly that is asked for. */
const NPX = `#!/bin/sh
[ "$1 $2 $3 $4" = "--yes --package hookproof-cli@${VERSION} hookproof" ] || exit 9
shift 4
exec "${process.execPath}" "${join(root, "cli/bin/hookproof.cjs")}" "$@"
`;

interface Ran {
  readonly code: number | null;
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly report: string;
}

async function ran(
  inputs: Readonly<Record<string, string>>,
  more: { readonly workspace?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  requireBuild();
  const folder = more.workspace ?? temporaryFolder("action");
  const file = (name: string, content = "") => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  chmodSync(file("npx", NPX), 0o755);
  const env: NodeJS.ProcessEnv = {
    PATH: `${folder}:${process.env.PATH}`,
    HOME: folder,
    GITHUB_OUTPUT: file("output"),
    GITHUB_STEP_SUMMARY: file("summary"),
    ...more.env,
  };
  for (const [name, { default: value = "" }] of Object.entries(action.inputs))
    env[`INPUT_${name.toUpperCase()}`] = inputs[name] ?? value;
  const child = spawn(process.execPath, [join(root, action.runs.main)], { cwd: folder, env });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      log += text;
    });
  const [code] = (await once(child, "close")) as [number | null];
  const read = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "";
  const outputs = [...read("output").matchAll(/^([a-z-]+)<<(\S+)\n([\s\S]*?)\n\2\n/gm)];
  return {
    code,
    log,
    outputs: Object.fromEntries(outputs.map(([, name = "", , value = ""]) => [name, value])),
    summary: read("summary"),
    report: read(inputs.report ?? "hookproof-probes.xml"),
  };
}

/** The listener of test/kit/one-bug, with the bug of that name. */
async function listenerWith(bug: string): Promise<string> {
  const folder = join(root, "test/kit/one-bug");
  const child: ChildProcess = spawn(process.execPath, ["listener.mjs"], {
    cwd: folder,
    env: { ...process.env, BUG: bug, SECRET },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [port] = await once(child.stdout ?? expect.fail(), "data");
  return `http://127.0.0.1:${String(port).trim()}/api/v1/webhooks/incoming/lst_1`;
}

async function server(handler: RequestListener): Promise<string> {
  const one = createServer(handler).listen(0, "127.0.0.1");
  await once(one, "listening");
  onTestFinished(() => {
    one.closeAllConnections();
    one.close();
  });
  return `http://127.0.0.1:${(one.address() as AddressInfo).port}/api/v1/webhooks/incoming/lst_1`;
}

const SKIP = "body-1-mb\n*-deeply-nested";

describe("the action", () => {
  it.each([
    ["no-window", "timestamp-too-old", "it does not compare the timestamp with its clock."],
    ["stringify", "body-compact", "it parses the body and serialises it again before it verifies."],
    ["sha512", "signature-other-hash", "it uses another hash than SHA-256."],
  ])("finds the bug of a listener: %s", async (bug, id, sentence) => {
    const { code, log, outputs, summary, report } = await ran({
      url: await listenerWith(bug),
      secret: SECRET,
      skip: SKIP,
    });
    expect(code, log).toBe(1);
    expect(outputs).toMatchObject({ ok: "false", "verdict-id": id, report: "hookproof-probes.xml" });
    expect(outputs.verdict).toContain(sentence);
    expect(Object.keys(outputs)).toEqual(Object.keys(action.outputs));
    expect(summary).toContain("## The listener fails probes");
    expect(summary).toContain(sentence);
    expect(log).toContain(`::error title=The listener%3A ${id}::`);
    expect(log.match(/^::error /gm)?.length).toBeLessThanOrEqual(10);
    expect(report).toMatch(/^<\?xml[\s\S]*<failure[\s\S]*<\/testsuites?>\s*$/);
    for (const text of [log, summary, report, JSON.stringify(outputs)]) expect(text).not.toContain(SECRET);
  });

  it("says what keeps it from probing", async () => {
    const url = await listenerWith("none");
    const noSecret = await ran({ url });
    expect([noSecret.code, noSecret.summary]).toEqual([1, ""]);
    expect(noSecret.log).toMatch(/^::error title=hookproof::SECRET_MISSING: /);
    expect((await ran({ url: "" })).log).toContain("::error title=hookproof::The input url is missing");
    expect((await ran({ url, secret: SECRET, strict: "yes" })).log).toContain("strict must be true or false");
  });

  it("writes its report through no link of the tree, and names it in no command", async () => {
    const workspace = temporaryFolder("action-linked");
    const victim = join(temporaryFolder("action-victim"), "kept");
    writeFileSync(victim, "kept");
    symlinkSync(victim, join(workspace, "hookproof-probes.xml"));
    const inputs = { url: await listenerWith("none"), secret: SECRET, only: "timestamp-too-old" };
    const refused = await ran(inputs, { workspace });
    expect(refused.code).not.toBe(0);
    expect(refused.log).toContain("FILE_IS_LINK");
    expect(readFileSync(victim, "utf8")).toBe("kept");
    const { log } = await ran({ ...inputs, report: "##[add-mask]0.xml" }, { workspace });
    expect(log).toContain("add-mask]0.xml");
    expect(log).not.toContain("##[");
  });

  it("makes no command, markup or argument of what others write", async () => {
    const hostile = "</td><img src=x>\n::set-output name=ok::true\n::error::mine %0A`| $(touch pwned)";
    const url = await server((_request, response) => {
      response.writeHead(500, { "Content-Type": "text/plain" });
      response.end(hostile);
    });
    const { code, log, outputs, summary } = await ran({
      url: `${url}?$(touch`,
      secret: SECRET,
      only: "timestamp-*\n$(touch pwned)",
    });
    expect(code).toBe(1);
    for (const line of log.trim().split("\n")) expect(line).toMatch(/^::error title=[^:,]*::|^[0-9]+ pass/);
    expect(log).not.toMatch(/^::(?:set-output|error::)/m);
    expect(summary).not.toMatch(/<img|\$\(/);
    expect(outputs.ok ?? "false").toBe("false");
  });

  it("takes no input for an option", async () => {
    const url = await listenerWith("none");
    const asUrl = await ran({ url: "--out=pwned", secret: SECRET });
    expect(asUrl.log).toBe("::error title=hookproof::The input url must begin with https:// or http://.\n");
    const asTime = await ran({ url, secret: SECRET, timeout: "--config=pwned.json" });
    expect(asTime.log).toMatch(/^::error title=hookproof::[A-Z_]+: /);
    expect(asTime.log).toContain("--timeout");
    const asReport = await ran({ url, secret: SECRET, only: "timestamp-too-old", report: "--json" });
    expect([asReport.code, asReport.report.slice(0, 5)]).toEqual([0, "<?xml"]);
  });

  it("runs and asks nothing of the workspace's choosing", async () => {
    const registry = async (): Promise<{ url: string; asked: string[] }> => {
      const asked: string[] = [];
      const url = await server(({ url: path = "" }, response) => {
        asked.push(path);
        response.writeHead(404).end("{}");
      });
      return { url: new URL("/", url).href, asked };
    };
    const [strange, own] = [await registry(), await registry()];
    const workspace = temporaryFolder("workspace");
    const home = temporaryFolder("home");
    writeFileSync(join(workspace, ".npmrc"), `registry=${strange.url}\nfetch-retries=0\n`);
    writeFileSync(join(home, ".npmrc"), `registry=${own.url}\nfetch-retries=0\n`);
    writeFileSync(join(workspace, "package.json"), "{}");
    writeFileSync(join(workspace, "hookproof.config.json"), "not JSON");
    const command = join(workspace, "node_modules/hookproof-cli");
    mkdirSync(command, { recursive: true });
    const manifest = { name: "hookproof-cli", version: VERSION, bin: { hookproof: "run.cjs" } };
    writeFileSync(join(command, "package.json"), JSON.stringify(manifest));
    writeFileSync(
      join(command, "run.cjs"),
      `require("fs").writeFileSync(${JSON.stringify(join(home, "ran"))}, "")`,
    );

    // npm's own npx, and a registry that has nothing.
    const npx = { HOME: home, PATH: process.env.PATH };
    const { code, log } = await ran({ url: "http://127.0.0.1:9/x", secret: SECRET }, { workspace, env: npx });
    expect([code, existsSync(join(home, "ran")), strange.asked]).toEqual([1, false, []]);
    expect(own.asked).toContain("/hookproof-cli");
    expect(log).toContain("::error title=hookproof::");

    // The command itself, which is not told of the folder's configuration.
    const url = await listenerWith("none");
    const probed = await ran({ url, secret: SECRET, only: "timestamp-too-old" }, { workspace });
    expect([probed.code, probed.report.slice(0, 5)]).toEqual([0, "<?xml"]);
  });

  it("needs a runner's Node, this version of the command, and no shell", () => {
    expect(action.runs).toEqual({ using: "node24", main: ".github/action/probe-listener.mjs" });
    const script = readFileSync(join(root, action.runs.main), "utf8");
    expect(script).not.toMatch(/shell:|exec\(|execSync/);
  });
});
