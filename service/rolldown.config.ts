// Bundles the service: its own code and that of the packages it is made of, so that an install brings few packages.
import { defineConfig, type Plugin } from "rolldown";

/** Installed with the package. The library and its `jose` are shared with the program that embeds the service. */
const NOT_BUNDLED = /^(?:hookproof(?:\/|$)|jose(?:\/|$)|libsql$)/;

/** Writes down which modules each file has, for inspector/build.mjs, which names all that the package has in it. */
const listed: Plugin = {
  name: "listed",
  generateBundle(_, bundle) {
    const parts = Object.values(bundle).flatMap((part) =>
      part.type === "chunk"
        ? part.moduleIds.map((module) => ({ file: `dist/${part.fileName}`, module }))
        : [],
    );
    this.emitFile({ type: "asset", fileName: "modules.json", source: JSON.stringify(parts) });
  },
};

export default defineConfig({
  input: {
    index: "src/index.ts",
    listeners: "src/listeners.ts",
    "cel-process": "src/automations/cel-process.js",
  },
  platform: "node",
  external: NOT_BUNDLED,
  plugins: [listed],
  // A package is loaded later in one place and at once in another, where it is loaded anyway.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: "dist",
    cleanDir: true,
    format: "esm",
    chunkFileNames: "chunk-[name]-[hash].js",
    comments: { jsdoc: false },
  },
});
