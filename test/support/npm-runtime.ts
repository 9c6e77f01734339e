import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Another runtime's npm package, which brings its binary. */
export type RuntimePackage = "node@24" | "deno@2" | "bun@1";

/**
 * The binary of another runtime, installed from npm once and kept. Only the long run (HOOKPROOF_LONG) pays for
 * it; otherwise `undefined`.
 */
export function npmRuntime(name: RuntimePackage): string | undefined {
  if (!process.env.HOOKPROOF_LONG) return undefined;
  const folder = join(tmpdir(), `hookproof-runtime-${name.replace("@", "-")}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", name], {
    cwd: folder,
    stdio: "pipe",
  });
  return join(folder, "node_modules/.bin", name.replace(/@.*/, ""));
}
