import { resolve } from "node:path";
import { defineConfig, type Plugin } from "rolldown";
import { BILL, billOf, packagesIn } from "./bill-of-materials.mjs";

/** The package's doors, by the name of their file. */
const DOORS = {
  index: "src/index.ts",
  receiver: "src/receiver/index.ts",
  jwks: "src/jwks/index.ts",
  "jwks-rotation": "src/jwks/rotation.ts",
  outbox: "src/outbox/index.ts",
  "outbox-sqlite": "src/outbox/sqlite/index.ts",
  "outbox-postgres": "src/outbox/postgres/index.ts",
  "outbox-store": "src/outbox/outbox-store.ts",
  replay: "src/replay/index.ts",
  schemes: "src/schemes/index.ts",
  "standard-webhooks": "src/schemes/standard-webhooks/index.ts",
  "http-signature": "src/schemes/http-signature/index.ts",
  set: "src/schemes/security-event-token/index.ts",
  "set-polling": "src/polling/index.ts",
  diagnose: "src/doctor/diagnose/index.ts",
  probes: "src/doctor/probes/index.ts",
  node: "src/node/index.ts",
  otel: "src/observe/index.ts",
  alerts: "src/alerts/index.ts",
  testing: "src/testing/index.ts",
};

/** What the package imports of itself, by a condition of the runtime (`imports` in package.json). */
const VARIANTS = {
  "crypto-node": "\0crypto-node",
  "hash-portable": "src/core/hash-portable.ts",
  "signature-portable": "src/core/signature-portable.ts",
  "transport-node": "src/http/node/transport.ts",
  "transport-fetch": "src/http/transport-fetch.ts",
};

/** Each variant is one file, with what doors import of it as well. A door exports what it is documented to, and no more. */
const variants: Plugin = {
  name: "variants",
  buildStart() {
    for (const [name, id] of Object.entries(VARIANTS))
      this.emitFile({ type: "chunk", fileName: `${name}.js`, id, preserveSignature: "allow-extension" });
  },
};

/** On Node hashes and signatures are one file. */
const cryptoNode: Plugin = {
  name: "crypto-node",
  resolveId: (id) => (id === VARIANTS["crypto-node"] ? id : null),
  load: (id) => (id === VARIANTS["crypto-node"] ? CRYPTO_NODE : null),
};
const CRYPTO_NODE = ["hash", "signature"]
  .map((name) => `export * from ${JSON.stringify(resolve(`src/core/node/${name}.ts`))};`)
  .join("");

/** Says in a file that nothing of others is in the bundle, or what is. */
const named: Plugin = {
  name: "named",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((part) =>
      part.type === "chunk"
        ? part.moduleIds.map((module) => ({ file: `dist/${part.fileName}`, module }))
        : [],
    );
    const packages = packagesIn(modules, import.meta.dirname);
    this.emitFile({ type: "asset", fileName: BILL, source: billOf(import.meta.dirname, packages) });
  },
};

/** Few files: Node spends most of a start on finding and reading them. */
export default defineConfig({
  input: DOORS,
  platform: "neutral",
  external: /^[^./]/,
  plugins: [variants, cryptoNode, named],
  // So that a table which says such a number in words is known to be pure, and dropped where it is not used.
  optimization: { inlineConst: { mode: "all", pass: 3 } },
  output: {
    dir: "dist",
    cleanDir: true,
    format: "esm",
    chunkFileNames: "chunk-[name]-[hash].js",
    comments: { jsdoc: false },
    // With the files that it imports: all that the package's main door has is one file, and the other doors share it.
    codeSplitting: { groups: [{ name: "main", test: /\/src\/index\.ts$/ }] },
  },
});
