// @ts-check
// Which tests a change touches: by the folders it lies in, and cut to what is quick.
import { basename, dirname, join } from "node:path/posix";

/**
 * @typedef {{ file: string, project: string }} TestFile from the root, with the project of vitest.config.ts it is in
 * @typedef {{ files: string[], stories: string[], left: Map<string, string[]>, roomless: string[] }} Choice
 *   `left`: what was left out, by the command that runs it; `roomless`: changed files that no folder of tests is for
 */

/** The projects of vitest.config.ts that need Node alone, by the command that runs each; what is heavy has a name of its own. */
const LIGHT = "main";
/** @type {Readonly<Record<string, string>>} */
const COMMANDS = { main: "npm test", thorough: "npm run test:thorough", alone: "npm run test:thorough" };

/** How long the chosen files may have taken when they were run last, and how long the transcripts, by their commands. */
const MAX_SECONDS = 16;
const MAX_COMMANDS = 40;

/** Where the stories of the command line are, each a test of one file. */
const STORIES = "cli/test/transcripts/";
const STORY_FILE = "cli/test/transcripts.test.ts";

/** Words of paths that say nothing about what is in them. */
const PLAIN = new Set([
  "src",
  "service",
  "cli",
  "test",
  "commands",
  "api",
  "routes",
  "index",
  "node",
  "main",
]);

/**
 * @param {{
 *   changed: readonly string[], all: readonly TestFile[], stories: readonly string[],
 *   read: (path: string) => string, seconds: (file: string) => number,
 * }} given paths from the root; `stories` are the names of the transcripts, `seconds` what a file took when run last
 * @returns {Choice}
 */
export function chooseTests({ changed, all, stories, read, seconds }) {
  const folders = new Set(all.flatMap(({ file }) => ancestors(file)));
  /** @type {Map<string, number>} How near a test file is to what has changed: 0 is the changed file itself. */
  const nearness = new Map();
  const roomless = [];
  for (const path of changed) {
    const near = testsFor(path, all, folders, read);
    if (near.size === 0 && !path.startsWith(STORIES)) roomless.push(path);
    for (const [file, distance] of near) {
      nearness.set(file, Math.min(distance, nearness.get(file) ?? distance));
    }
  }
  const told = storiesFor(changed, stories, read);

  /** @type {Map<string, string[]>} */
  const left = new Map();
  /** @param {string} command @param {string} name */
  const leave = (command, name) => left.set(command, [...(left.get(command) ?? []), name]);
  const projects = new Map(all.map(({ file, project }) => [file, project]));
  const sorted = [...nearness].sort(
    ([a, nearA], [b, nearB]) => nearA - nearB || seconds(a) - seconds(b) || (a < b ? -1 : 1),
  );
  const files = [];
  let spent = 0;
  for (const [file, distance] of sorted) {
    const project = projects.get(file) ?? "";
    if (file === STORY_FILE && distance > 0) continue; // its stories are chosen one by one
    const command = COMMANDS[project];
    const isTooMuch = project !== LIGHT || spent + seconds(file) > MAX_SECONDS;
    if (!command || (distance > 0 && isTooMuch)) leave(command ?? `npm run test:${project}`, file);
    else {
      files.push(file);
      spent += seconds(file);
    }
  }
  for (const story of told.left) leave("npm run test:thorough", `${STORIES}${story}.txt`);
  return { files, stories: files.includes(STORY_FILE) ? [] : told.chosen, left, roomless };
}

/**
 * @param {string} path
 * @param {readonly TestFile[]} all
 * @param {ReadonlySet<string>} folders those that have tests, in them or below
 * @param {(path: string) => string} read
 * @returns {Map<string, number>}
 */
function testsFor(path, all, folders, read) {
  const rooms = roomsOf(path, folders);
  const words = wordsOf(path);
  // Helpers of tests and files that are run by them serve other folders too.
  const isNamedAnywhere = /^(?:test|cli\/test|examples|vectors)\//.test(path);
  /** @type {Map<string, number>} */
  const near = new Map();
  for (const { file } of all) {
    const isInRoom = rooms.some((room) => file.startsWith(`${room}/`));
    if (file === path) near.set(file, 0);
    else if ((isInRoom || isNamedAnywhere) && names(read(file), file, path)) near.set(file, 1);
    else if (isInRoom) near.set(file, wordsOf(basename(file)).some((word) => words.includes(word)) ? 2 : 3);
    else if (
      file === "test/architecture.test.ts" &&
      /^(?:src|cli\/src|service\/src|service\/inspector)\/.*\.tsx?$/.test(path)
    ) {
      near.set(file, 1);
    }
  }
  return near;
}

/**
 * The folders of tests that are for a path: the same folder below `test`, or the nearest one above it.
 *
 * @param {string} path
 * @param {ReadonlySet<string>} folders
 * @returns {string[]}
 */
function roomsOf(path, folders) {
  const [top = "", second = ""] = path.split("/");
  if (top === "src") return nearest(`test/${dirname(path).slice("src/".length)}`, folders);
  if (top === "test") return nearest(dirname(path), folders);
  if (top === "cli") return nearest(second === "test" ? dirname(path) : "cli/test", folders);
  if (path.startsWith("service/inspector/outbox/") || path.startsWith("service/src/outbox/"))
    return ["test/outbox-page"];
  if (/^service\/(?:src\/)?inspector\//.test(path)) return ["test/inspector"];
  if (/\.md$|^llms\.txt$|^bench\//.test(path)) return ["test/docs"];
  if (/^(?:\.ci|\.github)\/|^(?:action\.yml|Dockerfile|compose\.yaml)$/.test(path))
    return ["test/packaging", "test/image"];
  return nearest(`test/${top}`, folders);
}

/**
 * @param {string} folder
 * @param {ReadonlySet<string>} folders
 * @returns {string[]}
 */
function nearest(folder, folders) {
  if (["test", "cli", "."].includes(folder)) return [];
  return folders.has(folder) ? [folder] : nearest(dirname(folder), folders);
}

/** @param {string} file @returns {string[]} */
function ancestors(file) {
  const folder = dirname(file);
  return folder === "." ? [] : [folder, ...ancestors(folder)];
}

/** @param {string} path @returns {string[]} */
function wordsOf(path) {
  return path
    .replace(/(?:\.test)?\.\w+$/, "")
    .split(/[/.-]/)
    .map((word) => word.replace(/s$/, ""))
    .filter((word) => word.length > 1 && !PLAIN.has(word));
}

/**
 * Whether a test imports a path, or names it as a file.
 *
 * @param {string} text of the test
 * @param {string} file
 * @param {string} path
 */
function names(text, file, path) {
  if (!/\.tsx?$/.test(path)) return text.includes(basename(path));
  const bare = path.replace(/\.tsx?$/, "");
  return [...text.matchAll(/"(\.{1,2}\/[^"]+)\.[jt]sx?"/g)].some(
    ([, target = ""]) => join(dirname(file), target) === bare,
  );
}

/**
 * The transcripts that name a command that has changed, the ones about it first, as many as are quick.
 *
 * @param {readonly string[]} changed
 * @param {readonly string[]} stories
 * @param {(path: string) => string} read
 * @returns {{ chosen: string[], left: string[] }}
 */
function storiesFor(changed, stories, read) {
  const commands = changed.flatMap((path) => {
    const [, command] = /^cli\/src\/(?:commands\/([\w-]+)\.ts$)?/.exec(path) ?? [];
    const [, folder] = /^cli\/src\/(\w+)\/[^/]+\.ts$/.exec(path) ?? [];
    return command ?? (folder && folder !== "commands" ? folder : []);
  });
  const texts = new Map(stories.map((story) => [story, read(`${STORIES}${story}.txt`)]));
  /** @param {string} story */
  const isChanged = (story) => changed.includes(`${STORIES}${story}.txt`);
  /** @param {string} story */
  const isAbout = (story) => commands.some((command) => wordsOf(story).includes(wordsOf(command)[0] ?? ""));
  /** @param {string} story */
  const length = (story) => texts.get(story)?.match(/^\s*\$ /gm)?.length ?? 0;
  const told = stories
    .filter(
      (story) =>
        isChanged(story) ||
        commands.some((command) =>
          new RegExp(`\\bhookproof ${command.replaceAll("-", " ")}\\b`).test(texts.get(story) ?? ""),
        ),
    )
    .sort(
      (a, b) =>
        Number(isChanged(b)) - Number(isChanged(a)) ||
        Number(isAbout(b)) - Number(isAbout(a)) ||
        length(a) - length(b),
    );
  /** @type {{ chosen: string[], left: string[] }} */
  const result = { chosen: [], left: [] };
  let spent = 0;
  for (const story of told) {
    const isQuick = isChanged(story) || spent + length(story) <= MAX_COMMANDS;
    if (isQuick) spent += length(story);
    result[isQuick ? "chosen" : "left"].push(story);
  }
  return result;
}
