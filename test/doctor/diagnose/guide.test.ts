import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mistakes } from "hookproof/diagnose";
import { describe, expect, it } from "vitest";
import { CODES } from "../../../src/core/errors.js";
import { root } from "../../kit/built-package.js";
import { complaintsOfModules, optionsOf, programOf } from "../../kit/compile.js";

describe("docs/guides/why-401.md", () => {
  const guide = readFileSync(join(root, "docs/guides/why-401.md"), "utf8");

  it("has code that compiles, and names mistakes that exist", async () => {
    const [, block = ""] = /```ts\n([\s\S]*?)```/.exec(guide) ?? [];
    expect(
      complaintsOfModules(programOf({ "test/types/guide.ts": block }, optionsOf("tsconfig.node.json"))),
    ).toEqual([]);
    expect(guide).toContain("`signature-unexplained`");
    expect((await mistakes()).map(({ id }) => id)).toContain("signature-unexplained");
  });

  it("has a branch of its tree for every code that is a 401", () => {
    const [, tree = ""] = /^## The tree\n([\s\S]*?)^## /m.exec(guide) ?? [];
    const codes = Object.entries(CODES).filter(([, [status]]) => status === 401);
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.map(([code]) => code).filter((code) => !tree.includes(`\`${code}\``))).toEqual([]);
  });
});
