import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { dataFolder } from "../kit/own-server.js";

const VERSIONS = "/usr/lib/postgresql";

/** Whether Debian's PostgreSQL is there. */
export const hasPostgres = existsSync(VERSIONS);

/** PostgreSQL on its usual port with a password and a database, as the official image makes them of its variables. */
export async function composePostgres(
  name: string,
  password: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const [newest = ""] = readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a));
  const bin = (program: string) => join(VERSIONS, newest, "bin", program);
  const folder = await dataFolder("compose-postgres");
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  // PostgreSQL refuses to run as root.
  const owner = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined;
  const file = join(folder, "password");
  writeFileSync(file, password, { mode: 0o600 });
  if (owner) for (const path of [folder, file]) chownSync(path, owner.uid, owner.gid);
  const data = join(folder, "data");
  const made = spawnSync(
    bin("initdb"),
    ["-D", data, "-U", "postgres", "-A", "scram-sha-256", "--pwfile", file, "-N"],
    { cwd: folder, encoding: "utf8", ...owner },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const server = spawn(bin("postgres"), ["-D", data, "-h", "127.0.0.1", "-k", folder, "-F"], {
    cwd: folder,
    stdio: "ignore",
    ...owner,
  });
  const ended = new Promise<void>((resolve) => server.once("close", () => resolve()));
  const url = (database: string) => `postgres://postgres:${password}@127.0.0.1:5432/${database}`;
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: url("postgres") });
    try {
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      break;
    } catch (error) {
      if (tries === 200) throw error;
      await wait(100);
    }
  }
  return {
    url: url(name),
    async stop() {
      server.kill("SIGQUIT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
