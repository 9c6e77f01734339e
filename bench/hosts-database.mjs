// PostgreSQL of the hosts bench: a primary on one machine, and a standby on another that every commit waits for.
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

const VERSIONS = "/usr/lib/postgresql";

/** Where Debian has the newest PostgreSQL's programs. */
export function postgresPrograms() {
  const [newest] = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => b - a) : [];
  return newest && join(VERSIONS, newest, "bin");
}

/** A folder that PostgreSQL's user owns, for a server's data and its socket. */
function serverFolder(inside, name) {
  const folder = join(inside, name);
  const idOf = (flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  mkdirSync(folder);
  chownSync(folder, idOf("-u"), idOf("-g"));
  return folder;
}

/**
 * Starts both, in a folder that the caller removes.
 *
 * @param {Awaited<ReturnType<typeof import("./hosts-machines.mjs").startMachines>>} machines
 */
export async function startDatabase(machines, { primary, standby, primaryAddress, network, folder }) {
  const bin = postgresPrograms();
  chmodSync(folder, 0o755);
  const folders = { primary: serverFolder(folder, "primary"), standby: serverFolder(folder, "standby") };
  const data = (server) => join(folders[server], "data");
  const asPostgres = (...command) => [
    "setpriv",
    "--reuid=postgres",
    "--regid=postgres",
    "--init-groups",
    ...command,
  ];
  /** Over the file system, which no network namespace divides. */
  const on = async (server, sql) => {
    const client = new pg.Client({ host: folders[server], user: "postgres", database: "postgres" });
    client.on("error", () => {}); // the server is killed
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const start = async (machine, server) => {
    const settings = ["listen_addresses=*", `unix_socket_directories=${folders[server]}`];
    const command = [join(bin, "postgres"), "-D", data(server), ...settings.flatMap((one) => ["-c", one])];
    const child = machines.start(machine, asPostgres(...command), { stdio: "ignore" });
    for (;;) {
      if (child.exitCode !== null) throw new Error(`the ${server} did not start`);
      if (await on(server, "SELECT 1").catch(() => false)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  const [setpriv, ...initdb] = asPostgres(
    join(bin, "initdb"),
    "-D",
    data("primary"),
    "-U",
    "postgres",
    "-A",
    "trust",
  );
  execFileSync(setpriv, initdb, { cwd: folders.primary, stdio: "ignore" });
  const trusted = ["all", "replication"].map((what) => `host ${what} all ${network} trust\n`);
  appendFileSync(join(data("primary"), "pg_hba.conf"), trusted.join(""));
  await start(primary, "primary");
  const from = [
    "-h",
    primaryAddress,
    "-U",
    "postgres",
    "-D",
    data("standby"),
    "-R",
    "-X",
    "stream",
    "-c",
    "fast",
  ];
  const copying = machines.start(standby, asPostgres(join(bin, "pg_basebackup"), ...from), {
    stdio: "ignore",
  });
  const [status] = await new Promise((resolve) => copying.once("close", (...all) => resolve(all)));
  if (status !== 0) throw new Error("pg_basebackup failed");
  await start(standby, "standby");
  // After the copy, as the standby has none itself once it is the primary.
  await on("primary", "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await on("primary", "SELECT pg_reload_conf()");
  return { on, promote: () => on("standby", "SELECT pg_promote(true, 30)") };
}
