import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { itWith, LONG } from "../../test/kit/needs.js";
import { requireBuild } from "../../test/kit/transcript.js";

const CLI = resolve(import.meta.dirname, "..");
const BIN = join(CLI, "bin", "hookproof.js");
/** How much longer than `node -e 0` the start of a command may take. */
const LIMIT_MS = 40;
const COMMANDS = [["send"], ["test"], ["verify"], ["listen"], ["jwks", "serve"], ["service", "start"]];
const NETWORK = /^node:(?:https?|tls|dns)\b/;
const LISTEN = ["listen", "--port", "0", "--ui-port", "0", "--exit-after", "1ms"];

beforeAll(requireBuild);

describe("the start of a command", () => {
  // Files cost more than bytes: at the first measurement `send` read 46 files, and `listen` 320. Node's HTTP and TLS
  // cost a quarter of what a small command may take.
  it.each([
    { args: ["--version"], files: 4, kilobytes: 25 },
    { args: ["--help"], files: 5, kilobytes: 30 },
    { args: ["send", "--help"], files: 13, kilobytes: 190 },
    { args: ["mcp", "--help"], files: 13, kilobytes: 190 },
    { args: ["sign", "--data", "{}"], files: 12, kilobytes: 185 },
    { args: ["explain", "401"], files: 10, kilobytes: 210 },
    { args: LISTEN, files: 23, kilobytes: 700 },
  ])("reads at most $files files and $kilobytes kB of its own for $args, and no other package", (most) => {
    const loaded = loadedBy(most.args);
    const files = loaded.flatMap((url) => (url.startsWith("file:") ? [fileURLToPath(url)] : []));
    expect(files.length).toBeGreaterThan(1);
    expect(files.length).toBeLessThanOrEqual(most.files);
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThanOrEqual(most.kilobytes * 1000);
    expect(files.filter((file) => !file.startsWith(`${CLI}/dist/`) && file !== BIN)).toEqual([]);
    if (most.args !== LISTEN) expect(loaded.filter((url) => NETWORK.test(url))).toEqual([]);
  });

  // Times need a machine that does nothing else.
  itWith(...LONG)("takes at most 40 ms longer than node itself", () => {
    const plain = fastest(["-e", "0"]);
    for (const command of COMMANDS)
      expect(fastest([BIN, ...command, "--help"]) - plain, command.join(" ")).toBeLessThan(LIMIT_MS);
  });
});

/** The files and modules of Node that a command line imports, told by a hook of Node's loader. */
function loadedBy(args: readonly string[]): string[] {
  const hook = `export async function load(url, context, next) {
    process._rawDebug("loads " + url);
    return next(url, context);
  }`;
  const register = `import { register } from "node:module"; register(${JSON.stringify(dataUrl(hook))});`;
  const home = mkdtempSync(join(tmpdir(), "hookproof-start-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const env = { ...process.env, HOME: home, HOOKPROOF_SECRET: "a secret of more than thirty-two characters" };
  const run = ["--import", dataUrl(register), BIN, ...args];
  const { status, stderr } = spawnSync(process.execPath, run, { encoding: "utf8", cwd: home, env });
  expect(status, stderr).toBe(0);
  return [...stderr.matchAll(/^loads (.+)$/gm)].map(([, file]) => file ?? "");
}

function dataUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** Milliseconds of the fastest of many runs. */
function fastest(args: readonly string[]): number {
  const times = Array.from({ length: 15 }, () => {
    const begun = performance.now();
    spawnSync(process.execPath, args);
    return performance.now() - begun;
  });
  return Math.min(...times);
}
