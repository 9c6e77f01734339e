import { copyFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { defineConfig } from "tsup";

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
  // Read and removed by inspector/build.mjs, which names all that the package has in it.
  metafile: true,
  removeNodeProtocol: false,
  silent: true,
  onSuccess: copyViewer,
});

/** The viewer of the API reference is one file, and goes with the package, with its licence. */
async function copyViewer(): Promise<void> {
  const script = createRequire(import.meta.url).resolve(
    "openapi-explorer/dist/browser/openapi-explorer.min.js",
  );
  await mkdir("reference", { recursive: true });
  await copyFile(script, "reference/openapi-explorer.min.js");
  await copyFile(join(dirname(script), "../../LICENSE"), "reference/LICENSE");
}
