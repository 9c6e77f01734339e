import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
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

/** What a run's folder for temporary files calls what it has packed. */
const PACKED = "packed";

/** The three as a release packs them, once for a run (test-run.ts); gives each tarball's path in the folder. */
export function packPackages(folder: string): Record<(typeof OURS)[number], string> {
  if (!process.env.HOOKPROOF_TEST_RUN) return packNow(folder); // the folder is everybody's
  const kept = join(tmpdir(), PACKED);
  if (!existsSync(kept)) {
    const made = mkdtempSync(`${kept}-`);
    try {
      packNow(made);
      renameSync(made, kept);
    } catch (error) {
      rmSync(made, { recursive: true });
      if (!existsSync(kept)) throw error; // the first one stays
    }
  }
  cpSync(kept, folder, { recursive: true });
  return tarballsIn(folder);
}

/** Packs the three, whether or not they are packed; gives each tarball's path. */
export function packNow(folder: string): Record<(typeof OURS)[number], string> {
  const args = [".ci/pack.mjs", "--repository", REPOSITORY, "--tag", `v${VERSION}`, "--out", folder];
  execFileSync(process.execPath, args, { cwd: root, stdio: "pipe" });
  return tarballsIn(folder);
}

function tarballsIn(folder: string): Record<(typeof OURS)[number], string> {
  const [library, service, cli] = OURS.map((name) => join(folder, `${name}-${VERSION}.tgz`));
  return { hookproof: library ?? "", "hookproof-service": service ?? "", "hookproof-cli": cli ?? "" };
}
