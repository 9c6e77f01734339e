import { defineConfig } from "tsup";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    receiver: "src/receiver/index.ts",
    jwks: "src/jwks/index.ts",
    outbox: "src/outbox/index.ts",
    diagnose: "src/diagnose/index.ts",
    probes: "src/probes/index.ts",
    node: "src/node/index.ts",
    testing: "src/testing/index.ts",
    "hash-node": "src/primitives/hash-node.ts",
    "hash-portable": "src/primitives/hash-portable.ts",
    "transport-node": "src/http/transport-node.ts",
    "transport-fetch": "src/http/transport-fetch.ts",
  },
  format: "esm",
  target: "es2023",
  platform: "node",
  splitting: true,
  clean: true,
  dts: false, // tsup's own declarations fail on TypeScript 6; tsc emits them
  external: [/^#/],
  removeNodeProtocol: false,
  silent: true,
});
