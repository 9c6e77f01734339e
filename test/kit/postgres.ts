import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { heldPort } from "./held-port.mjs";
import { dataFolder, startOwnServer } from "./own-server.js";

/** A PostgreSQL server for tests: the one of TEST_DATABASE_URL, or one of its own. */
export interface TestPostgres {
  readonly url: string;
  /** A pool whose tables live in a schema of their own; `drop` removes it and ends the pool. */
  schema(): Promise<{ name: string; pool: pg.Pool; drop(): Promise<void> }>;
  stop(): Promise<void>;
}

const VERSIONS = "/usr/lib/postgresql";

/** A pool whose `end()` returns before its connections are closed: the server may stop first, which is no failure then. */
export function testPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ connectionTimeoutMillis: 10_000, ...options });
  pool.on("error", () => {}); // the next query fails with it
  return pool;
}

/** Finds or starts a PostgreSQL server, one of its own with `settings`; `undefined` where there is none (see `itWith`). */
export async function testPostgres(settings: readonly string[] = []): Promise<TestPostgres | undefined> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return handle(url, async () => {});
  const own = await ownPostgres(settings);
  return own && handle(own.url, own.stop);
}

/** A cluster of a test's own, which may be killed. */
export interface OwnPostgres {
  readonly url: string;
  /** Kills the server, as a machine that loses its power does. */
  kill(): Promise<void>;
  /** Starts it again after `kill`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a cluster of its own; `undefined` where PostgreSQL is not installed (see `itWith`). */
export async function ownPostgres(more: readonly string[] = []): Promise<OwnPostgres | undefined> {
  const bin = debianBinaries();
  if (!bin) return undefined;
  const folder = await dataFolder("postgres");
  const port = await heldPort();
  const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? postgresUser() : {}; // PostgreSQL refuses to run as root.
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  const made = spawnSync(join(bin, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-N"], {
    cwd: folder,
    encoding: "utf8",
    ...owner,
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);

  // Without fsync a killed server loses nothing: what it wrote is with the operating system.
  const settings = ["listen_addresses=127.0.0.1", `unix_socket_directories=${folder}`, "fsync=off", ...more];
  const options = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const command = [join(bin, "postgres"), ...options] as const;
  const start = () => startOwnServer(command, folder, () => answers(ownUrl(port)), owner);
  let server = await start();
  return {
    url: ownUrl(port),
    kill: () => server.kill(),
    async restart() {
      server = await start();
    },
    stop: () => server.stop(),
  };
}

function ownUrl(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

/** The user that Debian made for PostgreSQL. */
export function postgresUser(): { uid: number; gid: number } {
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** Where Debian has the newest PostgreSQL's programs. */
export function debianBinaries(): string | undefined {
  const [newest] = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a)) : [];
  return newest && join(VERSIONS, newest, "bin");
}

/** Whether a server takes a connection. */
export async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

/** An empty database of that name, so that a test which is tried again finds nothing of its first try. */
export async function emptyDatabase(server: string, name: string): Promise<string> {
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  return Object.assign(new URL(server), { pathname: name }).href;
}

function handle(url: string, stop: () => Promise<void>): TestPostgres {
  return {
    url,
    stop,
    async schema() {
      const name = `hookproof_${randomUUID().replaceAll("-", "")}`;
      const pool = testPool({ connectionString: url, options: `-c search_path=${name}` });
      await pool.query(`CREATE SCHEMA ${name}`);
      return {
        name,
        pool,
        async drop() {
          await pool.query(`DROP SCHEMA ${name} CASCADE`);
          await pool.end();
        },
      };
    },
  };
}
