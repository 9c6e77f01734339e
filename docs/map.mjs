// @ts-check
// Prints every room, file and what the file is for, and the names of each door: npm run map [-- --write | --check].
// docs/map.md is the print; --check fails where it is stale, or where a file does not begin with its sentence.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";

const ROOT = join(import.meta.dirname, "..");
const PAGE = join(ROOT, "docs/map.md");
const MAX_CHARACTERS = 110;

/** The packages, by the folders of their sources. */
const PACKAGES = {
  "hookproof, the library": ["src"],
  "hookproof-service, the local service and its pages": ["service/src", "service/inspector"],
  "hookproof-cli, the command": ["cli/src"],
};

/** Types that a tool writes. */
const GENERATED = ["service/src/api/openapi.ts"];

const wrong = /** @type {string[]} */ ([]);
const page = `${[
  "# Map",
  "",
  "<!-- What `npm run map` prints: each room with its files, and what each file says of itself in its first line. -->",
  "",
  "## Doors",
  "",
  ...doors(),
  ...Object.entries(PACKAGES).flatMap(([title, folders]) => [
    "",
    `## ${title}`,
    ...[...roomsIn(folders)].flatMap(([room, files]) => ["", `### ${room}`, "", ...files.map(lineOf)]),
  ]),
].join("\n")}\n`;

if (process.argv.includes("--write")) writeFileSync(PAGE, page);
else if (!process.argv.includes("--check")) process.stdout.write(page);
else if (wrong.length === 0 && readFileSync(PAGE, "utf8") !== page)
  wrong.push("docs/map.md is stale: npm run map -- --write");
for (const one of wrong) console.error(one);
if (wrong.length > 0) process.exitCode = 1;

/** How many names each door has, by docs/api. */
function doors() {
  const counts = readdirSync(join(ROOT, "docs/api"))
    .filter((name) => name !== "README.md")
    .map((name) => {
      const groups = readFileSync(join(ROOT, "docs/api", name), "utf8").split(/^## /m);
      const count = (/** @type {RegExp} */ kind) =>
        groups.filter((group) => kind.test(group)).flatMap((group) => group.match(/^### /gm) ?? []).length;
      return {
        name,
        values: count(/^(?:Functions|Variables|Classes)/),
        types: count(/^(?:Interfaces|Type Aliases)/),
      };
    });
  const isDoctor = (/** @type {string} */ name) => /^(?:diagnose|probes)\./.test(name);
  const sum = (/** @type {typeof counts} */ some) =>
    some.reduce((all, { values, types }) => all + values + types, 0);
  return [
    "| door | values | types |",
    "| --- | --- | --- |",
    ...counts.map(
      ({ name, values, types }) => `| [${name.slice(0, -3)}](api/${name}) | ${values} | ${types} |`,
    ),
    "",
    `The library has ${sum(counts.filter(({ name }) => !isDoctor(name)))} names, the doctor ${sum(counts.filter(({ name }) => isDoctor(name)))}.`,
  ];
}

/**
 * Files by their folders, a room's own before those of the rooms in it.
 *
 * @param {readonly string[]} folders
 */
function roomsIn(folders) {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:tsx?|js)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  const rooms = /** @type {Map<string, string[]>} */ (new Map());
  for (const file of files.filter((name) => !GENERATED.includes(name)).sort()) {
    const room = dirname(file);
    rooms.set(room, [...(rooms.get(room) ?? []), file]);
  }
  return new Map([...rooms].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param {string} file */
function lineOf(file) {
  const text = readFileSync(join(ROOT, file), "utf8");
  const [, line = ""] = /^\/\/ ([A-Z].*\.)\n/.exec(text) ?? [];
  const sentence = line.length > MAX_CHARACTERS ? "" : line || doorSentence(text);
  if (sentence === "")
    wrong.push(
      `${file} must begin with one sentence, of at most ${MAX_CHARACTERS} characters, that says its job.`,
    );
  return `- \`${file.slice(dirname(file).length + 1)}\`: ${sentence}`;
}

/**
 * The first sentence of a door's package comment, which its page of docs/api begins with as well.
 *
 * @param {string} text
 */
function doorSentence(text) {
  const [, comment = ""] = /^\/\*\*\n([\s\S]*?)@packageDocumentation/.exec(text) ?? [];
  const words = comment
    .replaceAll(/^ \* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /^.*?\.(?= |$)/.exec(words)?.[0] ?? "";
}
