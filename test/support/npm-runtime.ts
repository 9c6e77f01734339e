import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./built-package.js";

/** Another runtime's npm package, which brings its binary. */
export type RuntimePackage = "node@24" | "deno@2" | "bun@1";

const KEPT = join(root, "node_modules/.cache/hookproof-runtimes");

/**
 * The binary of another runtime, installed from npm once and kept. Only a run that asks for it pays for it
 * (HOOKPROOF_RUNTIMES or HOOKPROOF_LONG); otherwise `undefined`.
 */
export function npmRuntime(name: RuntimePackage): string | undefined {
  if (!process.env.HOOKPROOF_LONG && !process.env.HOOKPROOF_RUNTIMES) return undefined;
  const folder = join(KEPT, name.replace("@", "-"));
  if (!existsSync(folder)) install(name, folder);
  return join(folder, "node_modules/.bin", name.replace(/@.*/, ""));
}

/** Two test files may ask at once: each installs for itself, and the second one's is thrown away. */
function install(name: RuntimePackage, folder: string): void {
  mkdirSync(KEPT, { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    writeFileSync(join(made, "package.json"), '{ "private": true }');
    const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", name];
    execFileSync("npm", args, { cwd: made, stdio: "pipe" });
    renameSync(made, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
