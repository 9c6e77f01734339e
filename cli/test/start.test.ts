import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Loaded, loadedBy } from "../../test/kit/loaded-by.js";
import { itWith, LONG } from "../../test/kit/needs.js";
import { requireBuild } from "../../test/kit/transcript.js";

const CLI = resolve(import.meta.dirname, "..");
const BIN = join(CLI, "bin", "hookproof.cjs");
/** How much longer than `node -e 0` the start of a command may take. */
const LIMIT_MS = 40;
const COMMANDS = [["send"], ["test"], ["verify"], ["listen"], ["jwks", "serve"], ["service", "start"]];
const NETWORK = /^(?:https?|tls)$/;
const LISTEN = ["listen", "--port", "0", "--ui-port", "0", "--exit-after", "1ms"];

beforeAll(requireBuild);

describe("the start of a command", () => {
  // Files cost more than bytes: at the first measurement `send` read 46 files, and `listen` 320. Node's HTTP and TLS
  // cost a quarter of what a small command may take. What lays lines out is read where there is a terminal; a kilobyte
  // of what hands them to it is read everywhere.
  it.each([
    { args: ["--version"], files: 4, kilobytes: 26 },
    { args: ["--help"], files: 5, kilobytes: 30 },
    { args: ["send", "--help"], files: 12, kilobytes: 215 },
    { args: ["mcp", "--help"], files: 12, kilobytes: 200 },
    { args: ["sign", "--data", "{}"], files: 11, kilobytes: 209 },
    { args: ["explain", "401"], files: 8, kilobytes: 242 },
    { args: ["keys", "list"], files: 9, kilobytes: 246 },
    // Express is loaded when the inspector's page is asked for.
    { args: LISTEN, files: 25, kilobytes: 370, network: ["http"] },
  ])("reads at most $files files and $kilobytes kB of its own for $args, and no other package", (most) => {
    const { files, ofNode } = loadedByCommand(most.args);
    expect(files.length).toBeGreaterThan(1);
    expect(files.length).toBeLessThanOrEqual(most.files);
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThanOrEqual(most.kilobytes * 1000);
    expect(files.filter((file) => !file.startsWith(`${CLI}/dist/`) && file !== BIN)).toEqual([]);
    expect(ofNode.filter((name) => NETWORK.test(name))).toEqual(most.network ?? []);
  });

  // Times need a machine that does nothing else.
  itWith(...LONG)("takes at most 40 ms longer than node itself", () => {
    const plain = fastest(["-e", "0"]);
    for (const command of COMMANDS)
      expect(fastest([BIN, ...command, "--help"]) - plain, command.join(" ")).toBeLessThan(LIMIT_MS);
  });
});

/** What a command line loads, run in an empty home. */
function loadedByCommand(args: readonly string[]): Loaded {
  const home = mkdtempSync(join(tmpdir(), "hookproof-start-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const env = { ...process.env, HOME: home, HOOKPROOF_SECRET: "a secret of more than thirty-two characters" };
  return loadedBy([BIN, ...args], home, env);
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
