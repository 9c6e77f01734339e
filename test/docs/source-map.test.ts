// docs/map.md is what the first lines of all source files say.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../kit/markdown.js";

it("every source file begins with the sentence of its job, and docs/map.md has them all", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, "docs/map.mjs"), "--check"], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
