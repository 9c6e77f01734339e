// @ts-check
// Runs Stryker room by room: node test/mutation/run.mjs [room ...] [--mutate src/schemes/access-governance/hmac.ts]
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { rooms } from "./rooms.mjs";

const here = import.meta.dirname;
const given = process.argv.slice(2);
const firstOption = given.findIndex((argument) => argument.startsWith("-"));
const named = firstOption < 0 ? given : given.slice(0, firstOption);
const options = firstOption < 0 ? [] : given.slice(firstOption);
const unknown = named.find((name) => !Object.hasOwn(rooms, name));
if (unknown !== undefined) {
  console.error(`No room ${unknown}. There are: ${Object.keys(rooms).join(", ")}`);
  process.exit(2);
}
if (!existsSync(`${here}/node_modules`)) {
  const { status } = spawnSync("npm", ["ci", "--prefix", here, "--ignore-scripts"], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
const stryker = `${here}/node_modules/@stryker-mutator/core/bin/stryker.js`;
for (const name of named.length > 0 ? named : Object.keys(rooms)) {
  const server = rooms[name]?.database ? await databaseServer() : undefined;
  const { status } = spawnSync(process.execPath, [stryker, "run", `${here}/stryker.config.mjs`, ...options], {
    stdio: "inherit",
    cwd: `${here}/../..`,
    env: { ...process.env, MUTATION_ROOM: name, ...(server && { TEST_DATABASE_URL: server.url }) },
  });
  await server?.stop();
  if (status !== 0) process.exit(status ?? 1);
  const unread = unreadTests(name);
  if (unread.length > 0) {
    console.error(
      `These tests of ${name} could not be loaded, so its figures say nothing: ${unread.join(", ")}`,
    );
    process.exit(1);
  }
  console.log(summary(name));
}

/** How many mutants were noticed. Stryker counts one as survived whose test files cannot even be loaded. @param {string} name */
function summary(name) {
  const { files } = JSON.parse(readFileSync(`${here}/report/${name}.json`, "utf8"));
  /** @type {{ status: string, testsCompleted?: number }[]} */
  const mutants = Object.values(files)
    .flatMap((file) => file.mutants)
    .filter(({ status }) => status !== "Ignored");
  /** @param {string} status */
  const of = (status) => mutants.filter((one) => one.status === status);
  const atLoad = of("Survived").filter(({ testsCompleted }) => testsCompleted === 0).length;
  const noticed = of("Killed").length + of("Timeout").length + atLoad;
  const share = ((100 * noticed) / mutants.length).toFixed(2);
  return `${name}: ${noticed} of ${mutants.length} mutants noticed (${share} %), ${of("Timeout").length} of them by the time limit, ${atLoad} as a test file could not be loaded`;
}

/** The room's test files of which Stryker ran nothing: it passes over one that cannot be loaded, without a word. @param {string} name */
function unreadTests(name) {
  const vitest = `${here}/../../node_modules/vitest/vitest.mjs`;
  const list = ["list", "--filesOnly", "--json", "--config", `${here}/vitest.config.ts`];
  const { stdout } = spawnSync(process.execPath, [vitest, ...list], {
    cwd: `${here}/../..`,
    env: { ...process.env, MUTATION_ROOM: name },
    encoding: "utf8",
  });
  /** @type {{ file: string }[]} */
  const listed = JSON.parse(stdout.slice(stdout.indexOf("[")));
  const { testFiles } = JSON.parse(readFileSync(`${here}/report/${name}.json`, "utf8"));
  return listed
    .map(({ file }) => relative(`${here}/../..`, file))
    .filter((file) => !(testFiles[file]?.tests.length > 0));
}

/** One PostgreSQL server for all runs of a room's tests. */
async function databaseServer() {
  const { tsImport } = await import("tsx/esm/api");
  const { ownPostgres } = await tsImport("../kit/postgres.ts", import.meta.url);
  return ownPostgres();
}
