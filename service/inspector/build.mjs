// Builds the pages of the inspector and of an outbox, and what the service's own pages load, into static files that ship with the package.
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const here = import.meta.dirname;
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
  await build({
    entryPoints: { page: `${here}/${script}`, style: `${here}/${style}` },
    outdir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    banner: { js: "/* With Preact: MIT licence, (c) 2015-present Jason Miller */" },
  });
  await writeFile(
    `${folder}/index.html`,
    html.replace(/\{\{(\w+)\}\}/g, (_all, word) => words[word]),
  );
  await cp(`${here}/icon.svg`, `${folder}/icon.svg`);
}

await build({
  entryPoints: ["style.css", "reference.js"].map((name) => `${here}/../pages/${name}`),
  outdir: pages,
  bundle: true,
  minify: true,
});
await cp(`${here}/icon.svg`, `${pages}/icon.svg`);
