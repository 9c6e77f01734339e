// Runs Stryker room by room: node test/mutation/run.mjs [room ...] [--mutate src/hmac/verify.ts]
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
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
  const server = rooms[name].database ? await databaseServer() : undefined;
  const { status } = spawnSync(process.execPath, [stryker, "run", `${here}/stryker.config.mjs`, ...options], {
    stdio: "inherit",
    cwd: `${here}/../..`,
    env: { ...process.env, MUTATION_ROOM: name, ...(server && { TEST_DATABASE_URL: server.url }) },
  });
  await server?.stop();
  if (status !== 0) process.exit(status ?? 1);
}

/** One PostgreSQL server for all runs of a room's tests. */
async function databaseServer() {
  const { tsImport } = await import("tsx/esm/api");
  const { ownPostgres } = await tsImport("../support/postgres.ts", import.meta.url);
  return ownPostgres();
}
