import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../support/built-package.js";
import { itWith, LONG } from "../support/needs.js";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Workflow {
  readonly jobs: {
    readonly publish: {
      readonly permissions: Readonly<Record<string, string>>;
      readonly steps: readonly { readonly run?: string }[];
    };
  };
}

const FOLDERS = [".", "service", "cli"];
const FREE = new Set(["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0", "0BSD"]);
const json = <Value>(path: string) => JSON.parse(readFileSync(join(root, path), "utf8")) as Value;
const manifests = FOLDERS.map((folder) => json<Manifest>(join(folder, "package.json")));

describe("a release", () => {
  it("has one version, and each package asks for the others in it", () => {
    const [{ version } = { version: "" }] = manifests;
    expect(manifests.map((manifest) => manifest.version)).toEqual([version, version, version]);
    for (const { dependencies = {} } of manifests) {
      for (const { name } of manifests)
        if (name in dependencies) expect(dependencies[name]).toBe(`^${version}`);
    }
    expect(readFileSync(join(root, "CHANGELOG.md"), "utf8")).toMatch(/^## (Unreleased|[0-9])/m);
  });

  it("brings only packages whose licences ask for no more than their notice", () => {
    const brought = closure();
    expect([...brought.keys()]).toEqual(expect.arrayContaining(["jose", "express", "yargs", "body-parser"]));
    expect(brought.has("vitest")).toBe(false);
    expect([...brought].filter(([, { license = "none" }]) => !isFree(license))).toEqual([]);
  });

  it("packs each package twice to the same bytes, with its licence and a page of its own", () => {
    const packed = pack();
    expect(packed).toHaveLength(FOLDERS.length);
    expect(pack()).toEqual(packed);
    for (const { files } of packed) {
      const paths = files.map(({ path }) => path);
      expect(paths).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
      expect(paths.filter((path) => path.startsWith("test/") || path.includes(".test."))).toEqual([]);
    }
  });

  it("has one licence", () => {
    const texts = FOLDERS.map((folder) => readFileSync(join(root, folder, "LICENSE"), "utf8"));
    expect(new Set(texts).size).toBe(1);
  });

  it("is published with provenance, each package after those it needs, and an SBOM beside it", () => {
    const workflow = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8")) as Workflow;
    const { permissions, steps } = workflow.jobs.publish;
    expect(permissions).toEqual({ contents: "read", "id-token": "write" });
    const commands = steps.map(({ run = "" }) => run);
    expect(commands.filter((run) => run.startsWith("npm publish"))).toEqual([
      "npm publish --provenance --access public",
      "npm publish --provenance --access public -w hookproof-service",
      "npm publish --provenance --access public -w hookproof-cli",
    ]);
    expect(commands.findIndex((run) => run.includes("npm sbom"))).toBeGreaterThan(
      commands.indexOf("sudo .ci/run"),
    );
  });

  itWith(...LONG)("is the same bytes when it is built again", () => {
    const before = pack();
    execFileSync("npm", ["run", "build"], { cwd: root, stdio: "pipe" });
    expect(pack()).toEqual(before);
  });
});

/** What `npm pack` would make of each package: its hash, and the files in it. */
function pack(): { integrity: string; files: { path: string }[] }[] {
  const args = [
    "pack",
    "--workspaces",
    "--include-workspace-root",
    "--json",
    "--ignore-scripts",
    "--dry-run",
  ];
  const answer = execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: "pipe" });
  const packed = JSON.parse(answer) as { integrity: string; files: { path: string }[] }[];
  return packed.map(({ integrity, files }) => ({ integrity, files }));
}

/** Whether all licences of an expression such as `(MIT AND ISC)` are free. */
function isFree(license: string): boolean {
  return license.split(/[()]|\s+(?:AND|OR)\s+/).every((name) => name.trim() === "" || FREE.has(name.trim()));
}

/** Every package that the three bring, from the lockfile: its own marks do not tell a workspace's dependencies. */
function closure(): Map<string, LockedPackage> {
  const { packages } = json<{ packages: Record<string, LockedPackage> }>("package-lock.json");
  const found = new Map<string, LockedPackage>();
  const ours = new Set(manifests.map(({ name }) => name));
  const visit = (path: string, names: readonly string[]): void => {
    for (const name of names) {
      if (ours.has(name)) continue;
      const at = [`${path}/node_modules/${name}`, `node_modules/${name}`].find((place) => place in packages);
      const locked = packages[at ?? ""];
      if (!at || !locked) throw new Error(`${name}, which ${path} needs, is not in the lockfile`);
      if (found.has(name)) continue;
      found.set(name, locked);
      visit(at, Object.keys({ ...locked.dependencies, ...locked.optionalDependencies }));
    }
  };
  for (const [index, { dependencies = {} }] of manifests.entries())
    visit(FOLDERS[index] ?? "", Object.keys(dependencies));
  return found;
}
