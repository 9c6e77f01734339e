// @ts-check
// Names what a bundle has in it: a CycloneDX file, and the licences of the packages, as they demand.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(fileURLToPath(import.meta.url));
/** The file of a bundle that names its packages. */
export const BILL = "sbom.cdx.json";

/** @typedef {{ name: string, version: string, license: string, folder: string, files: Set<string> }} BundledPackage */

/**
 * The packages whose modules a bundle has, in the order of their names.
 *
 * @param {readonly { file: string, module: string }[]} parts the modules, each with the file of the package that it is in
 * @param {string} own the folder of the package that is bundled
 * @returns {BundledPackage[]}
 */
export function packagesIn(parts, own) {
  /** @type {Map<string, BundledPackage>} */
  const found = new Map();
  for (const { file, module } of parts) {
    const folder = folderOf(module);
    if (folder === undefined || folder === resolve(own)) continue;
    const known = found.get(folder) ?? { ...manifestOf(folder), folder, files: new Set() };
    known.files.add(file);
    found.set(folder, known);
  }
  return [...found.values()].sort((one, other) => (refOf(one) < refOf(other) ? -1 : 1));
}

/**
 * The package that a module belongs to; none for what a bundler makes itself. @param {string} module
 * @returns {string | undefined}
 */
function folderOf(module) {
  const path = module.replace(/^\0+/, "").replace(/\?.*$/, "");
  const installed = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
  if (installed !== undefined)
    return existsSync(join(installed, "package.json")) ? resolve(installed) : undefined;
  if (!existsSync(path)) return undefined;
  for (let folder = dirname(resolve(path)); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "package.json")) && manifestOf(folder).version) return folder;
  return undefined;
}

/** @param {string} folder */
function manifestOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { name, version, license };
}

/** The package's purl. @param {{ name: string, version: string }} of */
function refOf({ name, version }) {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

/**
 * CycloneDX 1.6 of a bundle. It has no time and no serial number, so that the same sources give the same bytes.
 *
 * @param {string} own the folder of the package that is bundled
 * @param {readonly BundledPackage[]} packages
 */
export function billOf(own, packages) {
  const itself = manifestOf(own);
  const bundles = packages.filter(({ files }) => [...files].some((file) => file.endsWith(".min.js")));
  const locked = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages;
  return `${JSON.stringify(
    {
      bomFormat: "CycloneDX",
      specVersion: "1.6",
      version: 1,
      metadata: {
        lifecycles: [{ phase: "build" }],
        component: componentOf("application", itself),
      },
      components: packages.map((one) => ({
        ...componentOf("library", one),
        ...hashOf(locked[relative(ROOT, one.folder)]?.integrity),
        properties: [...one.files].sort().map((value) => ({ name: "hookproof:file", value })),
      })),
      dependencies: [
        { ref: refOf(itself), dependsOn: packages.map(refOf) },
        ...packages.map((one) => ({ ref: refOf(one) })),
      ],
      compositions: [
        { aggregate: "complete", assemblies: [refOf(itself)] },
        // What its own authors have bundled names nobody.
        ...(bundles.length > 0 ? [{ aggregate: "incomplete", assemblies: bundles.map(refOf) }] : []),
      ],
    },
    null,
    2,
  )}\n`;
}

/** @param {string} type @param {{ name: string, version: string, license: string }} of */
function componentOf(type, { name, version, license }) {
  const [, group, bare = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  return {
    type,
    "bom-ref": refOf({ name, version }),
    ...(group === undefined ? {} : { group }),
    name: bare,
    version,
    licenses: /[ (]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }],
    purl: refOf({ name, version }),
  };
}

/** The hash of the package's tarball, as the lock file has it. @param {string | undefined} integrity */
function hashOf(integrity) {
  const base64 = /^sha512-(.+)$/.exec(integrity ?? "")?.[1];
  if (base64 === undefined) return {};
  return { hashes: [{ alg: "SHA-512", content: Buffer.from(base64, "base64").toString("hex") }] };
}

/** The licences of packages of others, one after the other. @param {readonly BundledPackage[]} packages */
export function licencesOf(packages) {
  return packages
    .filter(({ folder }) => folder.includes("node_modules"))
    .map(({ name, version, license, folder }) => {
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      // Some name their licence in the manifest alone.
      const text = file === undefined ? license : readFileSync(join(folder, file), "utf8").trim();
      return `${name} ${version}\n\n${text}\n`;
    })
    .join("\n");
}
