// What a stranger's machine gets: few packages, few bytes, no warning, and nothing declared that is not used.
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requirePackage } from "../kit/built-package.js";
import { OURS, packPackages } from "./packed-packages.js";
import { startTarballRegistry, type TarballRegistry } from "./tarball-registry.js";

const MAX_PACKAGES = 20;
const MAX_MEGABYTES = 40;
/** Loaded by its name at run time, by `openSqlite`: where Node has no SQLite of its own. */
const BY_NAME = ["libsql"];
/** Types alone: the library never imports a driver of PostgreSQL, and takes the connections of its user. */
const BY_TYPE: Readonly<Record<string, readonly string[]>> = { hookproof: ["pg"] };

interface Manifest {
  readonly name: string;
  readonly scripts?: object;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

let folder: string;
let tarballs: ReturnType<typeof packPackages>;
let registry: TarballRegistry;

beforeAll(async () => {
  requirePackage();
  folder = mkdtempSync(join(tmpdir(), "hookproof-weight-"));
  tarballs = packPackages(folder);
  for (const name of OURS) {
    mkdirSync(join(folder, name));
    execFileSync("tar", ["-xzf", tarballs[name], "-C", join(folder, name)]);
  }
  registry = await startTarballRegistry();
});

afterAll(async () => {
  await registry?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const filesOf = (where: string) =>
  readdirSync(where, { recursive: true, encoding: "utf8" }).map((name) => join(where, name));

/** What a script imports or requires by a name that it spells out. */
function importsOf(script: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isImport =
      ts.isCallExpression(node) &&
      (node.expression.kind === ts.SyntaxKind.ImportKeyword ||
        (ts.isIdentifier(node.expression) && /^_*require$/.test(node.expression.text)));
    const name = isImport
      ? node.arguments[0]
      : ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : undefined;
    if (name && ts.isStringLiteralLike(name)) found.push(name.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("script.js", script, ts.ScriptTarget.Latest));
  return found;
}

/** The packages that the built files of a package import, without itself and Node's own. */
function importedBy(name: (typeof OURS)[number]): string[] {
  const dist = join(folder, name, "package/dist");
  const scripts = filesOf(dist).filter((path) => /\.c?js$/.test(path) && !path.includes("-page/"));
  expect(scripts.length).toBeGreaterThan(5);
  const found = scripts.flatMap((path) => importsOf(readFileSync(path, "utf8")));
  return [...new Set(found)]
    .filter((id) => !/^[./#]|^node:/.test(id) && !builtinModules.includes(id))
    .map((id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id)
    .filter((id, index, all) => id !== name && all.indexOf(id) === index)
    .sort();
}

describe("each package declares what its built files import, and nothing else", () => {
  it.each(OURS)("%s", (name) => {
    const text = readFileSync(join(folder, name, "package/package.json"), "utf8");
    const manifest = JSON.parse(text) as Manifest;
    const declared = Object.keys({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.peerDependencies,
    });
    const other = [...BY_NAME, ...(BY_TYPE[name] ?? [])];
    expect(importedBy(name)).toEqual(declared.filter((one) => !other.includes(one)).sort());
    expect(manifest.scripts).toBeUndefined();
  });

  it.each(OURS)("%s has no source map", (name) => {
    expect(filesOf(join(folder, name)).filter((path) => path.endsWith(".map"))).toEqual([]);
  });
});

describe("installed for the whole machine", () => {
  it.each([
    ["hookproof-cli of a registry", () => ["hookproof-cli"]],
    ["the three tarballs of `npm run pack`", () => OURS.map((name) => tarballs[name])],
  ])("%s: at most 20 packages and 40 MB, without a warning", async (what, packages) => {
    const prefix = mkdtempSync(join(folder, "prefix-"));
    const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8", stdio: "pipe" }).trim();
    const args = ["install", "-g", ...packages(), "--prefix", prefix, "--no-audit", "--no-fund"];
    // Not synchronous: the registry is in this process.
    const { stdout, stderr } = await promisify(execFile)("npm", args, {
      cwd: folder,
      timeout: 600_000,
      env: {
        ...process.env,
        npm_config_registry: registry.url,
        npm_config_cache: cache,
        npm_config_update_notifier: "false",
      },
    });
    expect(stderr).toBe("");
    const count = Number(/^added (\d+) packages/m.exec(stdout)?.[1]);
    const bytes = filesOf(prefix).reduce((sum, path) => sum + statSync(path).size, 0);
    console.info(`${what}: ${count} packages, ${(bytes / 1e6).toFixed(1)} MB`);
    expect(count).toBeLessThanOrEqual(MAX_PACKAGES);
    expect(bytes / 1e6).toBeLessThanOrEqual(MAX_MEGABYTES);
    const copies = filesOf(prefix).filter((path) => path.endsWith("node_modules/libsql/package.json"));
    expect(copies).toHaveLength(1);
  });
});
