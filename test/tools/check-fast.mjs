// @ts-check
// What is worth running before each commit: npm run check:fast [-- --base REV]
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chooseTests } from "./rooms.mjs";

const HELP = `npm run check:fast [-- --base REV]

Types of all projects and lint, side by side, and the tests of the rooms that the change touches: what differs from HEAD,
or from REV, in the working tree, with what git does not know yet. Heavy tests are left out, and named.

Exit code: 0 all is well, 1 types, lint or tests have failed, 2 a wrong option.
`;

/** @typedef {{ code: number, said: string, seconds: number }} Ended */

const root = resolve(import.meta.dirname, "../..");
// Within a hook git says here which repository it is in: the tests make some of their own.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
const VITEST = "node_modules/vitest/vitest.mjs";

const base = givenBase();
if (!existsSync(join(root, VITEST))) {
  console.error("Nothing is installed here: npm ci");
  process.exit(1);
}
const started = Date.now();
const changed = changedFiles();
console.log(
  changed
    ? `what differs from ${base}: ${count(changed.length, "file")}`
    : "This is no checkout of git: types and lint only.",
);

const lint = run("node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", ".");
const types = Promise.all(
  ["tsconfig.json", "tsconfig.node.json", "service/inspector/tsconfig.json"].map(typesOf),
);
const listed = changed && changed.length > 0 ? await run(VITEST, "list", "--filesOnly", "--json") : undefined;
const choice =
  changed &&
  listed &&
  chooseTests({
    changed,
    all: testFiles(listed),
    stories: names("cli/test/transcripts").map((name) => name.replace(".txt", "")),
    read: (path) => readFileSync(join(root, path), "utf8"),
    seconds: measuredSeconds(),
  });
const hasTests = choice && choice.files.length + choice.stories.length > 0;
const bundle = hasTests && isStale() ? npm("run", "--silent", "bundle") : undefined;

/** @type {string[]} */
const failed = [];
for (const [index, ended] of (await types).entries())
  say(["types", "types of Node", "types of the inspector"][index] ?? "", ended);
say("lint", await lint);
if (bundle) say("bundle", await bundle);
if (choice) await runTests(choice);

console.log(
  `\n${failed.length > 0 ? `FAILED: ${failed.join(", ")}` : "all is well"} (${seconds(started)} s)`,
);
process.exit(failed.length > 0 ? 1 : 0);

/** @param {import("./rooms.mjs").Choice} choice */
async function runTests({ files, stories, left, roomless }) {
  const quick = ["run", ...["main", "thorough", "alone"].flatMap((project) => ["--project", project])];
  if (files.length > 0)
    say(
      `tests of ${foldersOf(files)}`,
      await run(VITEST, ...quick, ...files.map((file) => join(root, file))),
    );
  if (stories.length > 0) {
    const pattern = ` (${stories.join("|")})( \\[with|$)`;
    const files = ["first-stories", "transcripts"].map((name) => join(root, `cli/test/${name}.test.ts`));
    say(`transcripts ${stories.join(", ")}`, await run(VITEST, ...quick, ...files, "-t", pattern));
  }
  for (const [command, names] of left) console.log(`left out: ${foldersOf(names)} (${command})`);
  if (roomless.length > 0) console.log(`no tests are only for: ${roomless.join(", ")} (npm test)`);
}

/** @returns {string} */
function givenBase() {
  try {
    const { values } = parseArgs({
      options: { base: { type: "string", default: "HEAD" }, help: { type: "boolean", default: false } },
    });
    if (!values.help) return values.base;
    process.stdout.write(HELP);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    process.exit(2);
  }
  process.exit(0);
}

/**
 * What differs in the working tree, from the root.
 *
 * @returns {string[] | undefined}
 */
function changedFiles() {
  if (!existsSync(join(root, ".git")) || git("rev-parse", "--git-dir").status !== 0) return undefined;
  if (git("rev-parse", "--verify", "--quiet", "--end-of-options", `${base}^{commit}`).status !== 0) {
    console.error(`git knows no commit ${base}`);
    process.exit(2);
  }
  const tracked = git("diff", "--name-only", "--no-renames", "-z", base, "--");
  const others = git("ls-files", "--others", "--exclude-standard", "-z");
  return [tracked, others].flatMap(({ stdout }) => stdout.split("\0").filter(Boolean)).sort();
}

/** @param {string[]} args */
function git(...args) {
  return spawnSync("git", ["--no-optional-locks", ...args], { cwd: root, env, encoding: "utf8" });
}

/** @param {string} project @returns {Promise<Ended>} */
function typesOf(project) {
  const info = `node_modules/.cache/hookproof-types/${project.replaceAll("/", "-")}.tsbuildinfo`;
  const kept = ["--incremental", "--tsBuildInfoFile", info];
  return run("node_modules/typescript-7/bin/tsc", "-p", project, "--noEmit", ...kept);
}

/** @param {string[]} args @returns {Promise<Ended>} */
function run(...args) {
  return ending(spawn(process.execPath, args, { cwd: root, env }));
}

/** @param {string[]} args @returns {Promise<Ended>} */
function npm(...args) {
  return ending(spawn("npm", args, { cwd: root, env, shell: process.platform === "win32" }));
}

/** @param {import("node:child_process").ChildProcessWithoutNullStreams} child @returns {Promise<Ended>} */
function ending(child) {
  const began = Date.now();
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      said += chunk;
    });
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ code: 1, said: error.message, seconds: seconds(began) }));
    child.on("close", (code) => resolve({ code: code ?? 1, said, seconds: seconds(began) }));
  });
}

/** @param {string} what @param {Ended} ended */
function say(what, { code, said, seconds }) {
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${what} (${seconds} s)`);
  if (code === 0) return;
  failed.push(what);
  console.log(`${said.trim()}\n`);
}

/**
 * @param {Ended} listed what `vitest list` has said
 * @returns {import("./rooms.mjs").TestFile[]}
 */
function testFiles({ code, said }) {
  if (code !== 0) {
    console.error(`vitest cannot list its files:\n${said}`);
    process.exit(1);
  }
  /** @type {{ file: string, projectName: string }[]} */
  const files = JSON.parse(said.slice(said.indexOf("["), said.lastIndexOf("]") + 1));
  return files.map(({ file, projectName }) => ({
    file: relative(root, file).replaceAll("\\", "/"),
    project: projectName,
  }));
}

/**
 * How long each test file took when it was run last, by what vitest keeps; a second where it was not yet.
 *
 * @returns {(file: string) => number}
 */
function measuredSeconds() {
  const folder = "node_modules/.vite/vitest";
  /** @type {Map<string, number>} */
  const durations = new Map();
  for (const name of names(folder)) {
    try {
      /** @type {{ results: [string, { duration: number }][] }} */
      const { results } = JSON.parse(readFileSync(join(root, folder, name, "results.json"), "utf8"));
      for (const [key, { duration }] of results)
        durations.set(key.slice(key.indexOf(":") + 1), duration / 1000);
    } catch {
      // no results in it
    }
  }
  return (file) => durations.get(file) || 1;
}

/** Whether a source is newer than what tests start of it. */
function isStale() {
  const built = Math.min(...["dist/index.js", "cli/dist/main.cjs", "service/dist/index.js"].map(changedAt));
  return ["src", "cli/src", "service/src"].some((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).some(
      (name) => changedAt(`${folder}/${name}`) > built,
    ),
  );
}

/** @param {string} path */
function changedAt(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** @param {string} folder @returns {string[]} */
function names(folder) {
  return existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [];
}

/** Files by their folders, each with how many: "test/jwt (15), cli/test (2)". @param {readonly string[]} files */
function foldersOf(files) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const file of files) {
    const folder = file.slice(0, Math.max(file.lastIndexOf("/"), 0));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].map(([folder, number]) => `${folder} (${count(number, "file")})`).join(", ");
}

/** @param {number} number @param {string} word */
function count(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

/** @param {number} since */
function seconds(since) {
  return Math.round((Date.now() - since) / 100) / 10;
}
