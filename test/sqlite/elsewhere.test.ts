import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outboxStoreContract, replayStoreContract } from "hookproof/testing";
import { expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { npmRuntime, type RuntimePackage } from "../kit/npm-runtime.js";

const RUNTIMES: [sqlite: string, runtime: RuntimePackage][] = [
  ["node:sqlite", "node-24"],
  ["bun:sqlite", "@oven/bun-linux-x64"],
];

for (const [sqlite, runtime] of RUNTIMES) {
  itWith(runtime, npmRuntime(runtime))(`the SQLite stores on ${sqlite} keep their contracts`, () => {
    const folder = mkdtempSync(join(tmpdir(), "hookproof-sqlite-"));
    const args = [join(import.meta.dirname, "elsewhere.mjs"), folder];
    try {
      const output = execFileSync(npmRuntime(runtime) as string, args, { encoding: "utf8" });
      expect(output.match(/^ok /gm)).toHaveLength(replayStoreContract.length + outboxStoreContract.length);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
