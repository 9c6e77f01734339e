import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replayStoreContract } from "hookproof/testing";
import { expect, it } from "vitest";
import { npmRuntime, type RuntimePackage } from "../support/npm-runtime.js";

const runtimes: [sqlite: string, runtime: RuntimePackage][] = [
  ["node:sqlite", "node@24"],
  ["bun:sqlite", "bun@1"],
];
for (const [sqlite, runtime] of runtimes) {
  it.skipIf(!process.env.HOOKPROOF_LONG)(
    `sqliteReplayStore on ${sqlite} keeps the contract`,
    () => {
      const folder = mkdtempSync(join(tmpdir(), "hookproof-sqlite-"));
      const script = join(import.meta.dirname, "sqlite-elsewhere.mjs");
      try {
        const said = execFileSync(npmRuntime(runtime) as string, [script, folder], { encoding: "utf8" });
        expect(said.match(/^ok /gm)).toHaveLength(replayStoreContract.length);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    120_000,
  );
}
