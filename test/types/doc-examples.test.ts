import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { root } from "../kit/built-package.js";
import { complaintsOfModules, optionsOf, programOf } from "../kit/compile.js";
import { fencedBlocks, markdownIn, ROOT } from "../kit/markdown.js";

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

/** Every `ts` block of a page; a page is one story, but each of its blocks must stand alone. */
function examplesInPages(): Record<string, string> {
  const modules: Record<string, string> = {};
  for (const path of markdownIn(".")) {
    const page = relative(ROOT, path).replace(/\.md$/, "");
    if (page.startsWith("docs/api/")) continue;
    const blocks = fencedBlocks(path).filter(({ language }) => language === "ts");
    for (const [index, { text }] of blocks.entries())
      modules[`test/types/${page}-${index + 1}.ts`] = `${text}\nexport {};\n`;
  }
  return modules;
}

const SURFACE = "test/types/surface.ts";
const entries = ["", "/receiver", "/jwks", "/outbox", "/diagnose", "/probes", "/node", "/testing"].map(
  (entry) => `hookproof${entry}`,
);
const examples = {
  src: examplesIn("src"),
  "service/src": examplesIn("service/src"),
  pages: examplesInPages(),
};
const wrong = { "test/types/wrong.ts": 'import { signHmac } from "hookproof";\nsignHmac({ secret: 1 });\n' };

// One program for all, as most of the work is reading what they import.
const program = programOf(
  {
    [SURFACE]: entries.map((entry, index) => `export * as entry${index} from "${entry}";`).join("\n"),
    ...examples.src,
    ...examples["service/src"],
    ...examples.pages,
    ...wrong,
  },
  optionsOf("tsconfig.node.json"),
);
const seen = complaintsOfModules(program);

/** The functions and classes the entries export whose doc comment has no example. */
function withoutExample(): string[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(join(root, SURFACE));
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error("the entries do not resolve");
  const resolved = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return checker
    .getExportsOfModule(module)
    .flatMap((entry) => checker.getExportsOfModule(resolved(entry)).map(resolved))
    .filter((symbol) => symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class))
    .filter((symbol) => !symbol.getJsDocTags(checker).some(({ name }) => name === "example"))
    .map((symbol) => symbol.name);
}

describe("the examples in doc comments and pages", () => {
  it("are there for every public function and class", () => {
    expect(withoutExample()).toEqual([]);
  });

  it("compile against the public entries", () => {
    expect(Object.keys(examples.src).length).toBeGreaterThan(20);
    expect(Object.keys(examples["service/src"]).length).toBeGreaterThan(0);
    expect(Object.keys(examples.pages).length).toBeGreaterThan(0);
    expect(seen.filter((line) => !line.startsWith("test/types/wrong.ts"))).toEqual([]);
  });

  it("would be seen to fail", () => {
    expect(seen.join()).toMatch(/test\/types\/wrong\.ts:2 TS(2322|2345)/);
  });
});
