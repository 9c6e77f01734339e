// Builds the pages of the inspector and of an outbox, and what the service's own pages load, into static files that ship with the package.
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";
import { BILL, billOf, licencesOf, packagesIn } from "../../bill-of-materials.mjs";

const here = import.meta.dirname;
const service = join(here, "..");
/** The modules of each file that is built. */
const parts = [];
const out = `${here}/../dist/inspector-page`;
const outbox = `${here}/../dist/outbox-page`;
const pages = `${here}/../dist/pages`;

for (const folder of [out, outbox, pages]) await rm(folder, { recursive: true, force: true });
const html = await readFile(`${here}/page.html`, "utf8");
await buildPage(out, "main.tsx", "style/page.css", { name: "inspector", command: "listen" });
await buildPage(outbox, "outbox/main.tsx", "style/outbox-page.css", {
  name: "outbox",
  command: "outbox status",
});

/** A page of its own: script, style, HTML and icon in one folder. */
async function buildPage(folder, script, style, words) {
  const { metafile } = await build({
    entryPoints: { page: `${here}/${script}`, style: `${here}/${style}` },
    outdir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    metafile: true,
    banner: { js: "/* With Preact: MIT licence, (c) 2015-present Jason Miller */" },
  });
  addModules(metafile);
  await writeFile(
    `${folder}/index.html`,
    html.replace(/\{\{(\w+)\}\}/g, (_all, word) => words[word]),
  );
  await cp(`${here}/icon.svg`, `${folder}/icon.svg`);
}

const { metafile } = await build({
  entryPoints: ["style.css", "reference.js"].map((name) => `${here}/../pages/${name}`),
  outdir: pages,
  bundle: true,
  minify: true,
  metafile: true,
});
addModules(metafile);
await cp(`${here}/icon.svg`, `${pages}/icon.svg`);

const ofServer = join(service, "dist/metafile-esm.json");
addModules(JSON.parse(await readFile(ofServer, "utf8")));
await rm(ofServer);
// The viewer of the API reference is one file that its authors have bundled. It goes with the package, with its licence.
const viewer = createRequire(import.meta.url).resolve(
  "openapi-explorer/dist/browser/openapi-explorer.min.js",
);
const reference = join(service, "reference");
await mkdir(reference, { recursive: true });
await cp(viewer, join(reference, "openapi-explorer.min.js"));
await cp(join(dirname(viewer), "../../LICENSE"), join(reference, "LICENSE"));
parts.push({ file: "reference/openapi-explorer.min.js", module: viewer });
const packages = packagesIn(parts, service);
await writeFile(join(service, "dist", BILL), billOf(service, packages));
await writeFile(join(service, "dist/LICENSES.txt"), licencesOf(packages));

/** Remembers which modules each output has code of. */
function addModules({ outputs }) {
  for (const [file, { inputs }] of Object.entries(outputs))
    for (const [module, { bytesInOutput }] of Object.entries(inputs))
      if (bytesInOutput > 0) parts.push({ file: relative(service, resolve(file)), module: resolve(module) });
}
