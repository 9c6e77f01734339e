import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root, without a trailing slash. */
export const root = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

/** Builds the root package unless `dist` is there and newer than every source; test files may ask at once. */
export async function buildPackage(): Promise<void> {
  const lock = join(root, "node_modules", ".hookproof-build");
  for (let waited = 0; !take(lock); waited += 50) {
    if (waited > 60_000) throw new Error(`${lock} is held; remove it if no build is running`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  try {
    if (isFresh()) return;
    execFileSync("npx", ["tsup"], { cwd: root, stdio: "pipe" });
    execFileSync("npx", ["tsc", "-p", "tsconfig.build.json"], { cwd: root, stdio: "pipe" });
  } finally {
    rmdirSync(lock);
  }
}

function take(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

function isFresh(): boolean {
  const built = Math.min(changedAt("dist/index.js"), changedAt("dist/index.d.ts"));
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  return sources.every((name) => changedAt(join("src", name)) <= built);
}

function changedAt(name: string): number {
  return statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
