import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requirePackage, root } from "../kit/built-package.js";
import { packPackages } from "./packed-packages.js";

/** A folder in which the packed library is installed. */
export interface InstalledPackage {
  readonly dir: string;
  remove(): void;
}

/**
 * Packs the library and installs it into an empty folder, without the network: its dependencies are packed
 * from this repository's own `node_modules`, and one it would bring beyond them fails the installation.
 */
export async function installPackage(): Promise<InstalledPackage> {
  requirePackage();
  const dir = mkdtempSync(join(tmpdir(), "hookproof-install-"));
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const tarballs = Object.keys(dependencies).map((name) => [
    name,
    `file:${pack(join(root, "node_modules", name), dir)}`,
  ]);
  tarballs.push(["hookproof", `file:${packPackages(dir).hookproof}`]);
  writeFileSync(
    join(dir, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies: Object.fromEntries(tarballs) }),
  );
  npm(["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund"], dir);
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** The packages that are installed in a folder. */
export function packagesIn(dir: string): string[] {
  return readdirSync(join(dir, "node_modules"))
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@")
        ? readdirSync(join(dir, "node_modules", name)).map((one) => `${name}/${one}`)
        : [name],
    );
}

function pack(folder: string, destination: string): string {
  const answer = npm(
    ["pack", folder, "--ignore-scripts", "--json", "--pack-destination", destination],
    destination,
  );
  const [{ filename }] = JSON.parse(answer) as [{ filename: string }];
  return join(destination, filename);
}

function npm(args: readonly string[], cwd: string): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
