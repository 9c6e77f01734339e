import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outboxStoreContract, replayStoreContract } from "hookproof/testing";
import { expect } from "vitest";
import { itWith } from "../support/needs.js";
import { npmRuntime, type RuntimePackage } from "../support/npm-runtime.js";

const runtimes: [sqlite: string, runtime: RuntimePackage][] = [
  ["node:sqlite", "node-24"],
  ["bun:sqlite", "@oven/bun-linux-x64"],
];
const contracts: [store: string, script: string, rules: number][] = [
  ["sqliteReplayStore", "sqlite-elsewhere.mjs", replayStoreContract.length],
  ["sqliteStore", "../outbox/sqlite-elsewhere.mjs", outboxStoreContract.length],
];
for (const [sqlite, runtime] of runtimes)
  for (const [store, script, rules] of contracts) {
    itWith(runtime, npmRuntime(runtime))(
      `${store} on ${sqlite} keeps the contract`,
      () => {
        const folder = mkdtempSync(join(tmpdir(), "hookproof-sqlite-"));
        const args = [join(import.meta.dirname, script), folder];
        try {
          const said = execFileSync(npmRuntime(runtime) as string, args, { encoding: "utf8" });
          expect(said.match(/^ok /gm)).toHaveLength(rules);
        } finally {
          rmSync(folder, { recursive: true });
        }
      },
      120_000,
    );
  }
