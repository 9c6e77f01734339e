import { defineConfig } from "vitest/config";

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
    testTimeout: 30_000,
  },
});
