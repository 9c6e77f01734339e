// @ts-check
// Writes what is generated in docs/performance.md, and its plots, from bench/results: node bench/write-performance.mjs
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pageFrom, plotsFrom } from "./performance-page.mjs";

const root = join(import.meta.dirname, "..");
const page = join(root, "docs/performance.md");
const images = join(root, "docs/images/performance");
const folder = join(root, "bench/results");

const results = Object.fromEntries(
  readdirSync(folder).map((file) => {
    const result = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return [result.name, result];
  }),
);
writeFileSync(page, pageFrom(readFileSync(page, "utf8"), results));
rmSync(images, { recursive: true, force: true });
mkdirSync(images, { recursive: true });
for (const [name, svg] of Object.entries(plotsFrom(results))) writeFileSync(join(images, name), svg);
