import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../kit/built-package.js";

/** The repository that the packed packages name. */
export const REPOSITORY = "https://github.com/example/hookproof";

/** The three packages in the order in which they need each other. */
export const OURS = ["hookproof", "hookproof-service", "hookproof-cli"] as const;

/** The version that all three have. */
export const { version: VERSION } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
};

/** Packs the three as a release does; gives each tarball's path. */
export function packPackages(folder: string): Record<(typeof OURS)[number], string> {
  const args = [".ci/pack.mjs", "--repository", REPOSITORY, "--tag", `v${VERSION}`, "--out", folder];
  execFileSync(process.execPath, args, { cwd: root, stdio: "pipe" });
  const [library, service, cli] = OURS.map((name) => join(folder, `${name}-${VERSION}.tgz`));
  return { hookproof: library ?? "", "hookproof-service": service ?? "", "hookproof-cli": cli ?? "" };
}
