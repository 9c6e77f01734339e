import { defineConfig } from "vitest/config";

const conditions = ["source", "node", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts", "service/test/**/*.test.ts", "cli/test/**/*.test.ts"],
    testTimeout: 30_000,
  },
});
