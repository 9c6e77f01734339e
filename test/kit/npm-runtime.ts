import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./built-package.js";

/** Where another runtime's npm package has its program. */
const PROGRAMS = {
  "node-24": "bin/node",
  "@deno/linux-x64-glibc": "deno",
  "@oven/bun-linux-x64": "bin/bun",
};

/** Another runtime's npm package, which brings its program. */
export type RuntimePackage = keyof typeof PROGRAMS;

/** The program of another runtime, if `npm ci --prefix test/runtimes` has installed it. */
export function npmRuntime(name: RuntimePackage): string | undefined {
  const program = join(root, "test/runtimes/node_modules", name, PROGRAMS[name]);
  return existsSync(program) ? program : undefined;
}
