// @ts-check
// Packs the three packages as they are published:
//   node .ci/pack.mjs --repository https://github.com/<owner>/<name> --tag v<version> --out <folder>
// Unlike those of `npm pack`, the manifests name the repository and hold nothing that is only for development, and every
// relative link of a page becomes one into the repository at that tag, so that it works wherever it is read. Without a
// repository (`npm run pack`, from a clone) links stay as they are.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix, resolve } from "node:path";
import { parseArgs } from "node:util";

const ROOT = resolve(import.meta.dirname, "..");
const FOLDERS = [".", "service", "cli"];
const { values } = parseArgs({
  options: { repository: { type: "string" }, tag: { type: "string" }, out: { type: "string" } },
});
const { repository = "", tag = "", out = "" } = values;
if (repository !== "" && !/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(repository))
  throw new Error("--repository must be https://github.com/<owner>/<name>");
if (repository === "" && tag !== "") throw new Error("--tag needs --repository");
if (out === "") throw new Error("--out is missing: a folder for the tarballs");
mkdirSync(out, { recursive: true });

const stage = mkdtempSync(join(tmpdir(), "hookproof-pack-"));
try {
  // Each call of npm takes a second: one lists all files, one packs all packages.
  const listed = npmPack(FOLDERS, "--dry-run");
  const staged = FOLDERS.map((folder, index) => stagePackage(folder, listed[index].files));
  for (const { filename } of npmPack(staged, "--pack-destination", resolve(out))) console.log(filename);
} finally {
  rmSync(stage, { recursive: true });
}

/**
 * Writes what is published of a package into a folder, which it gives.
 *
 * @param {string} folder
 * @param {{ path: string }[]} files
 */
function stagePackage(folder, files) {
  const from = join(ROOT, folder);
  const manifest = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  if (repository !== "" && tag !== `v${manifest.version}`)
    throw new Error(`--tag is ${tag}, but ${manifest.name} has version ${manifest.version}`);
  const to = join(stage, manifest.name);
  for (const { path } of files) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    if (repository !== "" && path.endsWith(".md"))
      writeFileSync(join(to, path), withAbsoluteLinks(folder, path));
    else cpSync(join(from, path), join(to, path));
  }
  writeFileSync(join(to, "package.json"), `${JSON.stringify(published(manifest, folder), null, 2)}\n`);
  return to;
}

/** @param {string[]} folders in whose order npm answers @param {string[]} more */
function npmPack(folders, ...more) {
  const paths = folders.map((folder) => resolve(ROOT, folder));
  const args = ["pack", ...paths, "--ignore-scripts", "--json", ...more];
  return JSON.parse(
    execFileSync("npm", args, { cwd: ROOT, encoding: "utf8", stdio: "pipe", maxBuffer: 2 ** 26 }),
  );
}

/**
 * The manifest without what is only for development, and with the repository.
 *
 * @param {Record<string, unknown>} manifest
 * @param {string} folder
 */
function published({ scripts, devDependencies, workspaces, overrides, ...manifest }, folder) {
  if (repository === "") return manifest;
  return {
    ...manifest,
    repository: {
      type: "git",
      url: `git+${repository}.git`,
      ...(folder === "." ? {} : { directory: folder }),
    },
    homepage: `${repository}#readme`,
    bugs: `${repository}/issues`,
  };
}

/** A page whose relative links lead into the repository. @param {string} folder @param {string} path */
function withAbsoluteLinks(folder, path) {
  const page = readFileSync(join(ROOT, folder, path), "utf8");
  return page.replace(/(!?)(\[[^\]]*\]\()([^()\s]+)\)/g, (link, image, text, target) => {
    if (/^(?:[a-z]+:|#)/.test(target)) return link;
    const place = posix.join(folder, posix.dirname(path), target);
    return `${image}${text}${repository}/${image ? "raw" : "blob"}/${tag}/${place})`;
  });
}
