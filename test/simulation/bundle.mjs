// @ts-check
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "node_modules/.cache/hookproof-simulation");

/**
 * The simulator and the library's source in one file.
 *
 * @param {{ file: string, text: string, instead: string }} [mutant] a change of the library's source
 * @param {string} [name] of the file
 */
export async function bundle(mutant, name = "main", entry = "main") {
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(root, `test/simulation/${entry}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    conditions: ["source", "node"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "error",
    external: ["pg"],
    ignoreAnnotations: true, // the package says that its files have no side effects, and globals.ts has

    plugins: mutant ? [mutation(mutant)] : [],
  });
  return outfile;
}

/**
 * @param {{ file: string, text: string, instead: string }} mutant
 * @returns {import("esbuild").Plugin}
 */
function mutation({ file, text, instead }) {
  return {
    name: "mutant",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path !== join(root, file)) return undefined;
        const source = readFileSync(path, "utf8");
        if (source.split(text).length !== 2) throw new Error(`${file} does not have this once: ${text}`);
        return { contents: source.replace(text, () => instead), loader: "ts" };
      });
    },
  };
}
