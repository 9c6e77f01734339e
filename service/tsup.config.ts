// Bundles the service: its own code and that of the packages it is made of, so that an install brings few packages.
import { defineConfig } from "tsup";

/** All but what is installed: the library and its `jose` are shared with the program that embeds the service. */
const BUNDLED = /^(?!hookproof(?:\/|$)|jose(?:\/|$)|libsql$|node:)/;

export default defineConfig({
  entry: {
    index: "src/index.ts",
    listeners: "src/listeners.ts",
    "cel-process": "src/automations/cel-process.js",
  },
  format: "esm",
  target: "es2023",
  platform: "node",
  clean: true,
  dts: false,
  external: ["libsql"],
  noExternal: [BUNDLED],
  // Packages of CommonJS ask for Node's own modules by it.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  // Read and removed by inspector/build.mjs, which names all that the package has in it.
  metafile: true,
  removeNodeProtocol: false,
  silent: true,
});
