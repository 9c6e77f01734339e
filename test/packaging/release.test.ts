import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { requirePackage, root } from "../kit/built-package.js";
import { itWith, LONG } from "../kit/needs.js";
import { packNow, REPOSITORY, VERSION } from "./packed-packages.js";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const FOLDERS = [".", "service", "cli"];
const FREE = new Set(["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0", "0BSD"]);
const json = <Value>(path: string) => JSON.parse(readFileSync(join(root, path), "utf8")) as Value;
const manifests = FOLDERS.map((folder) => json<Manifest>(join(folder, "package.json")));

let packed: Packed[];
beforeAll(async () => {
  requirePackage();
  packed = pack();
});

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
    expect([...brought.keys()]).toEqual(
      expect.arrayContaining(["jose", "libsql", "express", "yargs-parser", "body-parser"]),
    );
    expect(brought.has("vitest")).toBe(false);
    expect([...brought].filter(([, { license = "none" }]) => !isFree(license))).toEqual([]);
  });

  it("packs each package twice to the same bytes, with its licence and a page of its own", () => {
    expect(packed).toHaveLength(FOLDERS.length);
    expect(pack()).toEqual(packed);
    for (const { paths } of packed) {
      expect(paths).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
      expect(paths.filter((path) => path.startsWith("test/") || path.includes(".test."))).toEqual([]);
    }
  });

  it("has manifests that name the repository, and no script that an installation would ask about", () => {
    const directories = [undefined, "service", "cli"];
    expect(packed.map(({ manifest }) => manifest)).toEqual(
      directories.map((directory) =>
        expect.objectContaining({
          repository: { type: "git", url: `git+${REPOSITORY}.git`, ...(directory ? { directory } : {}) },
          homepage: `${REPOSITORY}#readme`,
          bugs: `${REPOSITORY}/issues`,
        }),
      ),
    );
    for (const { manifest } of packed)
      for (const member of ["scripts", "devDependencies", "workspaces", "overrides"])
        expect(manifest).not.toHaveProperty(member);
  });

  it("has pages whose links lead somewhere from wherever they are read", () => {
    const links = packed.flatMap(({ pages }) =>
      pages.flatMap((page) => [...page.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = ""]) => target)),
    );
    expect(links.length).toBeGreaterThan(30);
    expect(links.filter((target) => !target.startsWith("https://") && !target.startsWith("#"))).toEqual([]);
    const ours = `${REPOSITORY}/(?:blob|raw)/v${VERSION}/([^#]+)`;
    const files = links.flatMap((target) => new RegExp(`^${ours}`).exec(target)?.[1] ?? []);
    expect(files.length).toBeGreaterThan(25);
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it("is packed at its tag only, and for a repository that is named", () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [".ci/pack.mjs", "--out", tmpdir(), ...args], {
        cwd: root,
        encoding: "utf8",
      });
    expect(run("--repository", REPOSITORY, "--tag", "v0.0.9").stderr).toContain("--tag is v0.0.9, but");
    expect(run("--tag", `v${VERSION}`).stderr).toContain("--tag needs --repository");
  });

  it("has one licence", () => {
    const texts = FOLDERS.map((folder) => readFileSync(join(root, folder, "LICENSE"), "utf8"));
    expect(new Set(texts).size).toBe(1);
  });

  itWith(...LONG)("is the same bytes when it is built again", () => {
    execFileSync("npm", ["run", "build"], { cwd: root, stdio: "pipe" });
    expect(pack()).toEqual(packed);
  });
});

interface Packed {
  readonly integrity: string;
  readonly paths: readonly string[];
  readonly manifest: Record<string, unknown>;
  /** Its Markdown pages. */
  readonly pages: readonly string[];
}

/** What a release makes of each package. */
function pack(): Packed[] {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-packed-"));
  try {
    return Object.values(packNow(folder)).map((tarball) => {
      const tar = (...args: string[]) => execFileSync("tar", args, { encoding: "utf8" });
      const textOf = (path: string) => tar("-xzOf", tarball, `package/${path}`);
      const paths = tar("-tzf", tarball)
        .trim()
        .split("\n")
        .map((path) => path.replace(/^package\//, ""));
      return {
        integrity: createHash("sha512").update(readFileSync(tarball)).digest("base64"),
        paths,
        manifest: JSON.parse(textOf("package.json")),
        pages: paths.filter((path) => path.endsWith(".md")).map(textOf),
      };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
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
  for (const [index, { dependencies = {}, optionalDependencies = {} }] of manifests.entries())
    visit(FOLDERS[index] ?? "", Object.keys({ ...dependencies, ...optionalDependencies }));
  // And what the bundles have in them, which is all that they need.
  for (const folder of FOLDERS.slice(1)) {
    const { components } = json<{ components: { group?: string; name: string }[] }>(
      join(folder, "dist/sbom.cdx.json"),
    );
    for (const { group, name: bare } of components) {
      const name = [group, bare].filter(Boolean).join("/");
      const locked = packages[`node_modules/${name}`];
      if (!ours.has(name)) found.set(name, locked ?? {});
    }
  }
  return found;
}
