import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { root } from "../kit/built-package.js";
import { fencedBlocks, markdownIn } from "../kit/markdown.js";
import { itWith } from "../kit/needs.js";
import { type InstalledPackage, installPackage } from "../packaging/installed-package.js";

/** Each compiler by its package: the oldest that docs/releasing.md promises, the newest, and what is between. */
const COMPILERS = {
  "TypeScript 5.4": "node_modules/typescript-5-4",
  "TypeScript 5.9": "test/types/compilers/node_modules/typescript-5-9",
  "TypeScript 6": "node_modules/typescript",
  "TypeScript 7": "node_modules/typescript-7",
};
const MODULES = { NodeNext: "nodenext", bundler: "esnext" };

/** What the pages import beside the library, from this repository's own installation. */
const BESIDE = ["better-sqlite3", "express", "pg", "vitest", "zod", "hookproof-service"];

/** Every page with programs; those of docs/api are cut from doc comments, which test/types/doc-examples.test.ts compiles. */
const PAGES = [
  ...["README.md", "service/README.md"].map((name) => join(root, name)),
  ...markdownIn("docs").filter((path) => !path.includes("/docs/api/")),
];

/** docs/guides/commonjs.md: a CommonJS module may import an ES module from TypeScript 5.8 on. */
const COMMONJS = `import { createSender } from "hookproof";
import { createReceiver } from "hookproof/receiver";
export const both = [createSender, createReceiver];
`;
const KNOWS_REQUIRE_OF_ESM = (name: string) => name !== "TypeScript 5.4";

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
  const link = (name: string, target: string) => {
    mkdirSync(dirname(join(installed.dir, "node_modules", name)), { recursive: true });
    symlinkSync(join(root, "node_modules", target), join(installed.dir, "node_modules", name));
  };
  for (const name of BESIDE) if (existsSync(join(root, "node_modules", name))) link(name, name);
  for (const name of ["node", "better-sqlite3", "express", "pg"]) link(`@types/${name}`, `@types/${name}`);
  writeFileSync(join(installed.dir, "program.cts"), COMMONJS);
  for (const [index, path] of PAGES.entries())
    for (const [place, { language, text }] of fencedBlocks(path).entries())
      if (language === "ts")
        writeFileSync(join(installed.dir, `page-${index}-block-${place}.ts`), `${text}\nexport {};\n`);
});
afterAll(() => installed?.remove());

describe.each(Object.entries(COMPILERS))(
  "with %s a stranger compiles the guides' programs",
  (name, folder) => {
    for (const [resolution, module] of Object.entries(MODULES))
      itWith(name, existsSync(join(root, folder)))(`module resolution ${resolution}, strict`, async () => {
        const config = join(installed.dir, `tsconfig-${name.replace(" ", "-")}-${resolution}.json`);
        const compilerOptions = {
          strict: true,
          noEmit: true,
          target: "es2022",
          lib: ["es2022", "dom", "dom.iterable"],
          module,
          moduleResolution: resolution,
          types: ["node"],
          skipLibCheck: true, // the declarations of other packages have errors
        };
        const include = KNOWS_REQUIRE_OF_ESM(name) ? ["*.ts", "*.cts"] : ["*.ts"];
        writeFileSync(config, JSON.stringify({ compilerOptions, include }));
        const compiler = join(root, folder, "bin/tsc");
        const { stdout } = await promisify(execFile)(process.execPath, [compiler, "-p", config], {
          cwd: installed.dir,
        }).catch((error: { stdout: string }) => error);
        expect(stdout).toBe("");
      });
  },
);
