// Builds the documentation site from docs/ into site/dist:
//   npm run docs:site -- [--repository https://github.com/<owner>/<name>] [--origin https://<host>] [--base /<path>/] [--out <folder>]
// With --repository (as for .ci/pack.mjs) its pages link into the repository and can be edited there; --origin and
// --base say where the site will stand. Installs its folder where that is missing.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const HERE = import.meta.dirname;
const ROOT = join(HERE, "..");
const text = { type: "string" };
const { values } = parseArgs({ options: { repository: text, origin: text, base: text, out: text } });
const { repository, origin, base = "/" } = values;
const out = values.out ? resolve(values.out) : join(HERE, "dist");
if (repository && !/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(repository))
  throw new Error("--repository must be https://github.com/<owner>/<name>");

const node = newEnough();
if (!existsSync(join(HERE, "node_modules")))
  execFileSync(
    "npm",
    ["install", "--no-save", "--prefix", HERE, "--ignore-scripts", "--no-audit", "--no-fund"],
    {
      stdio: "inherit",
    },
  );
execFileSync(node, [join(HERE, "node_modules/astro/bin/astro.mjs"), "build", "--outDir", out], {
  cwd: HERE,
  stdio: "inherit",
  env: {
    ...process.env,
    ASTRO_TELEMETRY_DISABLED: "1",
    SITE_BASE: base,
    ...(origin && { SITE_ORIGIN: origin }),
    ...(repository && { SITE_REPOSITORY: repository }),
  },
});
cpSync(join(ROOT, "docs/images"), join(out, "images"), { recursive: true });
cpSync(join(ROOT, "service/inspector/icon.svg"), join(out, "icon.svg"));

/** Astro needs Node 22.12. On an older one, the Node that the tests of the runtimes have installed does as well. */
function newEnough() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return process.execPath;
  const other = join(ROOT, "test/runtimes/node_modules/node-24/bin/node");
  if (existsSync(other)) return other;
  console.error(
    `The site is built by Astro, which needs Node 22.12 or later; this is ${process.version}.\n` +
      "Install such a Node, or bring one for this folder alone: npm ci --prefix test/runtimes --ignore-scripts",
  );
  process.exit(1);
}
