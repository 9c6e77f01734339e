import { defineConfig } from "tsup";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    receiver: "src/receiver/index.ts",
    jwks: "src/jwks/index.ts",
    "jwks-rotation": "src/jwks/rotation.ts",
    outbox: "src/outbox/index.ts",
    "outbox-sqlite": "src/outbox/sqlite/index.ts",
    "outbox-postgres": "src/outbox/postgres/index.ts",
    "outbox-store": "src/outbox/outbox-store.ts",
    replay: "src/replay/index.ts",
    diagnose: "src/diagnose/index.ts",
    probes: "src/probes/index.ts",
    node: "src/node/index.ts",
    otel: "src/observe/index.ts",
    testing: "src/testing/index.ts",
    "hash-node": "src/core/hash-node.ts",
    "hash-portable": "src/core/hash-portable.ts",
    "transport-node": "src/http/node/transport.ts",
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
