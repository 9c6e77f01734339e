// Writes the manual pages into man/, which is shipped and not committed: npm run man -w hookproof-cli
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { manPages } from "./man-pages.js";
import manifest from "./package.json" with { type: "json" };

const { version } = manifest;
const changelog = readFileSync(new URL("../CHANGELOG.md", import.meta.url), "utf8");
const [heading = ""] = changelog.split("\n").filter((line) => line.startsWith(`## ${version} `));
const [date = ""] = /[0-9]{4}-[0-9]{2}-[0-9]{2}/.exec(heading) ?? [];

const folder = new URL("man/", import.meta.url);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [name, page] of await manPages({ version, date })) writeFileSync(new URL(name, folder), page);
