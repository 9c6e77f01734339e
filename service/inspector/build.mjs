// Builds the inspector's page, and what the service's own pages load, into static files that ship with the package.
import { cp, rm } from "node:fs/promises";
import { build } from "esbuild";

const here = import.meta.dirname;
const out = `${here}/../dist/inspector-page`;
const pages = `${here}/../dist/pages`;

for (const folder of [out, pages]) await rm(folder, { recursive: true, force: true });
await build({
  entryPoints: { page: `${here}/main.tsx`, style: `${here}/style/page.css` },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  banner: { js: "/* With Preact: MIT licence, (c) 2015-present Jason Miller */" },
});
for (const file of ["index.html", "icon.svg"]) await cp(`${here}/${file}`, `${out}/${file}`);

await build({
  entryPoints: ["style.css", "reference.js"].map((name) => `${here}/../pages/${name}`),
  outdir: pages,
  bundle: true,
  minify: true,
});
await cp(`${here}/icon.svg`, `${pages}/icon.svg`);
