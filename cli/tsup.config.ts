import { defineConfig } from "tsup";

export default defineConfig({
  entry: { main: "src/main.ts" },
  format: "esm",
  target: "es2023",
  platform: "node",
  splitting: true,
  clean: true,
  dts: false,
  removeNodeProtocol: false,
  silent: true,
});
