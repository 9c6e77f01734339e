// The root package as it is built, for tests of what is published.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root, without a trailing slash. */
export const root = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

/** Fails unless `dist` is there and newer than every source; `npm run test:packages` builds it first. */
export function requirePackage(): void {
  const built = Math.min(changedAt("dist/index.js"), changedAt("dist/index.d.ts"));
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const newer = sources.find((name) => changedAt(join("src", name)) > built);
  if (newer) throw new Error(`dist is older than src/${newer}; npm run build makes it again`);
}

function changedAt(name: string): number {
  return statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
