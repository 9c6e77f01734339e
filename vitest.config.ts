import { configDefaults, defineConfig } from "vitest/config";

// Without "import", which Vite adds by itself: vitest hands these on to Node, whose require() would follow it.
const conditions = ["source", "node"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      "test/**/*.test.ts",
      "service/test/**/*.test.ts",
      "cli/test/**/*.test.ts",
      "examples/*vitest.test.mjs",
    ],
    // These have scripts of their own, which .ci/run calls.
    exclude: [
      ...configDefaults.exclude,
      ...(process.env.HOOKPROOF_EXTRA ? [] : ["test/browser/**", "test/chaos/outbox.test.ts"]),
    ],
    testTimeout: 30_000,
    // By default vitest leaves one core free; most tests here wait for processes and sockets.
    maxWorkers: 2,
  },
});
