import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { root } from "../kit/built-package.js";
import { EXAMPLES } from "../kit/example-process.js";
import { fencedBlocks } from "../kit/markdown.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { requireBuild } from "../kit/transcript.js";

beforeAll(requireBuild);

/** Runs a suite in another language, which starts the built command line. */
async function run(tool: string, name: string): Promise<string> {
  const env = { ...process.env, HOOKPROOF: `${process.execPath} ${root}/cli/bin/hookproof.cjs` };
  const { stdout, stderr } = await promisify(execFile)(tool, [join(EXAMPLES, name)], { env });
  return stdout + stderr;
}

itWith("python3", hasTool("python3", "--version"))(
  "local-service.py is a suite on a service of its own",
  { timeout: 60_000 },
  async () => expect(await run("python3", "local-service.py")).toMatch(/^Ran 3 tests in .*\n\nOK$/m),
);

itWith("java", hasTool("java", "--version"))(
  "LocalService.java checks a service of its own",
  { timeout: 120_000 },
  async () => {
    expect((await run("java", "LocalService.java")).trim().split("\n")).toEqual([
      "ok reads a name",
      "ok asks once",
      "ok survives an outage",
      "ok asks until it is over",
    ]);
  },
);

it.each([
  ["python", "local-service.py"],
  ["java", "LocalService.java"],
])("what the guide shows in %s stands in %s", (language, name) => {
  const unindented = (text: string) => text.replace(/^ +/gm, "");
  const example = unindented(readFileSync(join(EXAMPLES, name), "utf8"));
  const shown = fencedBlocks(join(root, "docs/guides/service-in-tests.md"))
    .filter((block) => block.language === language)
    .flatMap(({ text }) => unindented(text).trim().split("\n\n"));
  expect(shown).not.toEqual([]);
  for (const part of shown) expect(example).toContain(part);
});
