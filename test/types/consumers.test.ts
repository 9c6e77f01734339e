import { readFileSync } from "node:fs";
import { join } from "node:path";
import current from "typescript";
import oldest from "typescript-5-4";
import { beforeAll, describe, expect, it } from "vitest";
import { buildPackage, root } from "../support/built-package.js";
import { type Compiler, complaints, programOf } from "../support/compile.js";
import { anyTypes } from "./any-types.js";

beforeAll(buildPackage, 60_000);

const { ModuleKind, ModuleResolutionKind, ScriptTarget } = current;
const common = {
  strict: true,
  target: ScriptTarget.ES2022,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  skipDefaultLibCheck: true, // TypeScript's own libraries; everybody else's declarations are checked
};
const nodeNext = { module: ModuleKind.NodeNext, moduleResolution: ModuleResolutionKind.NodeNext };
const bundler = { module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler };
const dom = { lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"], types: [] };
const node = { lib: ["lib.es2022.d.ts"], types: ["node"] };

// Kept as text, so that only the compilers under test read it, against the built declarations.
const application = readFileSync(join(root, "test/types/application.txt"), "utf8");

describe.each([
  ["TypeScript 5.4", oldest as unknown as Compiler],
  ["the current TypeScript", current as Compiler],
])("%s", (_, compiler) => {
  const settings = [
    ["nodenext, DOM", { ...nodeNext, ...dom }],
    ["nodenext, only @types/node", { ...nodeNext, ...node }],
    ["bundler, DOM", { ...bundler, ...dom }],
    ["bundler, only @types/node", { ...bundler, ...node }],
  ] as const;

  // The oldest compiler is the question; the current one is tried on two of the settings.
  it.each(compiler === current ? settings.slice(0, 2) : settings)(
    "compiles an application, declarations checked as well: %s",
    (_, settings) => {
      const program = programOf(
        { "test/types/application.ts": application },
        { ...common, ...settings },
        compiler,
      );
      expect(complaints(program, compiler)).toEqual([]);
    },
    60_000,
  );

  it("sees no public type as any", () => {
    const settings = { ...common, ...nodeNext, ...node };
    const entries = ["", "/receiver", "/jwks", "/outbox", "/diagnose", "/probes", "/node", "/testing"].map(
      (entry) => `hookproof${entry}`,
    );
    const text = entries.map((entry, index) => `export * as entry${index} from "${entry}";`).join("\n");
    const program = programOf({ "test/types/surface.ts": text }, settings, compiler);
    expect(anyTypes(program, join(root, "test/types/surface.ts"))).toEqual([]);
  }, 60_000);
});
