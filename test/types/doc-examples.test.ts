import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/built-package.js";
import { complaints, optionsOf, programOf } from "../support/compile.js";

/** Every `ts` block in the doc comments of a folder, as a module of its own. */
function examplesIn(folder: string): Record<string, string> {
  const modules: Record<string, string> = {};
  for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue;
    const text = readFileSync(join(root, folder, name), "utf8");
    const comments = text.match(/\/\*\*[\s\S]*?\*\//g) ?? [];
    const blocks = comments.flatMap((comment) => [...comment.matchAll(/```ts\n([\s\S]*?)```/g)]);
    for (const [index, [, block = ""]] of blocks.entries())
      modules[`test/types/${folder}/${name.replace(/\.ts$/, "")}-${index + 1}.ts`] =
        `${block.replace(/^ *\* ?/gm, "")}\nexport {};\n`;
  }
  return modules;
}

const options = optionsOf("tsconfig.node.json");

describe("the examples in doc comments", () => {
  it.each(["src", "service/src"])(
    "compile against the public entries: %s",
    (folder) => {
      const modules = examplesIn(folder);
      expect(Object.keys(modules).length).toBeGreaterThan(folder === "src" ? 20 : 0);
      expect(complaints(programOf(modules, options))).toEqual([]);
    },
    60_000,
  );

  it("would be seen to fail", () => {
    const wrong = {
      "test/types/wrong.ts": 'import { signHmac } from "hookproof";\nsignHmac({ secret: 1 });\n',
    };
    expect(complaints(programOf(wrong, options)).join()).toMatch(/TS2322|TS2345/);
  });
});
