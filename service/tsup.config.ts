import { defineConfig } from "tsup";

export default defineConfig({
  entry: { index: "src/index.ts" },
  format: "esm",
  target: "es2023",
  platform: "node",
  clean: true,
  dts: false,
  removeNodeProtocol: false,
  silent: true,
});
