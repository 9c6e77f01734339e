// Where the command line finds pg, which is not installed with it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
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

/** Runs `outbox status` of a database that answers nobody, as JSON. */
function status(cwd: string) {
  const bin = join(program, "node_modules/hookproof-cli/bin/hookproof.cjs");
  const url = "postgres://nobody@127.0.0.1:9/none";
  const ran = spawnSync(process.execPath, [bin, "outbox", "status", "--outbox", url, "--json"], {
    cwd,
    encoding: "utf8",
  });
  return { code: ran.status, said: ran.stdout + ran.stderr };
}

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
