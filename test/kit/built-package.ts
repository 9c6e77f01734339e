import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root, without a trailing slash. */
export const root = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

/**
 * Builds the root package unless `dist` is there and newer than every source. Test files may ask at once, and programs
 * may run on the old `dist` meanwhile: nothing that they may still load goes away.
 */
export async function buildPackage(): Promise<void> {
  const lock = join(root, "node_modules", ".hookproof-build");
  for (let waited = 0; !take(lock); waited += 50) {
    if (waited > 60_000) throw new Error(`${lock} is held; remove it if no build is running`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  try {
    if (isFresh()) return;
    const built = mkdtempSync(join(root, "node_modules/.hookproof-dist-"));
    const run = (...args: string[]) => execFileSync("npx", args, { cwd: root, stdio: "pipe" });
    try {
      run("rolldown", "-c", "rolldown.config.ts", "--dir", built);
      run("tsc", "-p", "tsconfig.build.json", "--outDir", built);
      replaceFiles(built, join(root, "dist"));
    } finally {
      rmSync(built, { recursive: true });
    }
  } finally {
    rmdirSync(lock);
  }
}

/** Puts the files of a build in the place of another's, each at once: first the chunks, then what imports them. */
function replaceFiles(from: string, to: string): void {
  const isChunk = (name: string) => /(^|\/)chunk-/.test(name);
  const names = readdirSync(from, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(from, name)).isFile(),
  );
  for (const name of [...names.filter(isChunk), ...names.filter((one) => !isChunk(one))]) {
    const place = join(to, name);
    mkdirSync(dirname(place), { recursive: true });
    copyFileSync(join(from, name), `${place}.new`);
    renameSync(`${place}.new`, place);
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
