// Where the command line finds pg, which is not installed with it.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { itWith, POSIX } from "../../test/kit/needs.js";
import { requireBuild } from "../../test/kit/transcript.js";

const ROOT = join(import.meta.dirname, "../..");
const program = realpathSync(mkdtempSync(join(tmpdir(), "driver-")));
beforeAll(() => {
  requireBuild();
  const own = join(program, "node_modules/hookproof-cli");
  for (const part of ["package.json", "bin", "dist"])
    cpSync(join(ROOT, "cli", part), join(own, part), { recursive: true });
  const { dependencies } = createRequire(import.meta.url)("../package.json") as { dependencies: object };
  for (const name of Object.keys(dependencies)) link(name, program);
});
afterAll(() => rmSync(program, { recursive: true, force: true }));

function link(name: string, folder: string): void {
  const to = join(folder, "node_modules", name);
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(join(ROOT, "node_modules", name), to);
}

const NOBODY = "postgres://nobody@127.0.0.1:9/none";

/** Runs a command in a folder. */
function hookproof(cwd: string, words: readonly string[], input = "") {
  const bin = join(program, "node_modules/hookproof-cli/bin/hookproof.cjs");
  const env = { ...process.env, HOOKPROOF_HOME: join(program, "home") };
  const ran = spawnSync(process.execPath, [bin, ...words], { cwd, encoding: "utf8", env, input });
  return { code: ran.status, said: ran.stdout + ran.stderr };
}

/** Runs `outbox status` of a database that answers nobody, as JSON. */
const status = (cwd: string) => hookproof(cwd, ["outbox", "status", "--outbox", NOBODY, "--json"]);

itWith(...POSIX)("pg is found in the user's folder or above it, and otherwise the folder is named", () => {
  const bare = join(program, "bare");
  mkdirSync(bare);
  const missing = status(bare);
  expect(missing.code).toBe(3);
  expect(missing.said).toContain("DRIVER_MISSING");
  expect(missing.said).toContain(`Type npm install pg in the folder ${bare}`);

  const application = join(program, "application");
  link("pg", application);
  mkdirSync(join(application, "below"));
  for (const folder of [application, join(application, "below")]) {
    const { said } = status(folder);
    expect(said).not.toContain("DRIVER_MISSING");
    expect(said).toContain("ECONNREFUSED");
  }
});

/** A cloned folder that brings a configuration, and a program under the driver's name. */
function clone(name: string, configured: string): string {
  const folder = join(program, name);
  const driver = join(folder, "node_modules/pg");
  mkdirSync(driver, { recursive: true });
  writeFileSync(join(driver, "package.json"), '{"name":"pg","version":"8.0.0","main":"index.js"}');
  const ran = JSON.stringify(join(folder, "ran"));
  writeFileSync(
    join(driver, "index.js"),
    `require("node:fs").writeFileSync(${ran}, ""); module.exports = {};`,
  );
  writeFileSync(join(folder, configured), JSON.stringify({ outbox: NOBODY }));
  return folder;
}

itWith(...POSIX)("code of a folder is not run because its configuration was found there", () => {
  const folder = clone("clone", "hookproof.config.json");
  const call = (name: string) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } });
  for (const ran of [
    hookproof(folder, ["outbox", "status"]),
    hookproof(folder, ["outbox", "ui", "--port", "0"]),
    hookproof(
      folder,
      ["mcp"],
      ["show_outbox", "list_dead_letters"].map((name) => `${call(name)}\n`).join(""),
    ),
  ])
    expect(ran.said).toContain("OUTBOX_HOST_REFUSED");
  expect(existsSync(join(folder, "ran"))).toBe(false);

  // What stands in the user's own configuration does not say that this folder's code may be run.
  const other = clone("other", "not-read.json");
  mkdirSync(join(program, "home"), { recursive: true });
  writeFileSync(join(program, "home/config.json"), JSON.stringify({ outbox: NOBODY }), { mode: 0o600 });
  expect(hookproof(other, ["outbox", "status"]).said).toContain("DRIVER_MISSING");
  expect(existsSync(join(other, "ran"))).toBe(false);

  // Anyone who names it has been told; a program that is no driver is then refused as none.
  const named = hookproof(folder, ["outbox", "status", "--config", "hookproof.config.json"]);
  expect(named.said).toContain("DRIVER_MISSING");
  expect(named.code).toBe(3);
  expect(existsSync(join(folder, "ran"))).toBe(true);
});
