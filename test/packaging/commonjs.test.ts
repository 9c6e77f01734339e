import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fencedBlocks, ROOT } from "../kit/markdown.js";
import { type InstalledPackage, installPackage } from "./installed-package.js";

const blocks = fencedBlocks(join(ROOT, "docs/guides/commonjs.md"));

/** What Jest makes global, of Node's own parts: Jest weighs more than all that is tested with it here. */
const JEST_GLOBALS = `import assert from "node:assert";
import { test } from "node:test";
const expect = (seen) => ({ toBe: (wanted) => assert.strictEqual(seen, wanted) });
`;

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => installed?.remove());

const run = (type: string, text: string) =>
  execFileSync(process.execPath, ["--no-warnings", `--input-type=${type}`, "-e", text], {
    cwd: installed.dir,
    encoding: "utf8",
  });

it("the CommonJS program of the page prints what its comment says", () => {
  const [block] = blocks.filter(({ language }) => language === "cjs");
  const [, promised] = /console\.log\(.*\); \/\/ (.*)/.exec(block?.text ?? "") ?? [];
  expect(promised).toBe("accepted 2");
  expect(run("commonjs", block?.text ?? "").trim()).toBe(promised);
});

it("the test of the page passes", () => {
  const [block] = blocks.filter(({ language }) => language === "mjs");
  expect(run("module", JEST_GLOBALS + (block?.text ?? ""))).toMatch(/^# pass 1$/m);
});
