import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EXAMPLES } from "../kit/example-process.js";

// The example for vitest is run by vitest itself, as vitest.config.ts includes it.
it("the node:test example passes", () => {
  const example = join(EXAMPLES, "emitter-node.test.mjs");
  const command = [example];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  expect(stdout).toMatch(/# pass 2/);
  expect(status, stderr).toBe(0);
});
