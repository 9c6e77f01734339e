import { execFile } from "node:child_process";
import { appendFileSync, chownSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { heldPort } from "./held-port.mjs";
import { dataFolder, type OwnServer, startOwnServer } from "./own-server.js";
import { answers, debianBinaries, postgresUser } from "./postgres.js";
import { type TcpProxy, tcpProxy } from "./tcp-proxy.js";

/** A primary that streams to a standby, behind one address. */
export interface PostgresPair {
  /** The address that programs have: a name or a virtual address, which leads to the primary until `failOver`. */
  readonly url: string;
  /** The way of the log from primary to standby. */
  readonly replication: TcpProxy;
  /** Runs SQL on one of the two, whatever the address leads to. */
  on(server: "primary" | "standby", sql: string): Promise<unknown[]>;
  /** Kills the primary as a machine that loses its power; the address leads nowhere. */
  killPrimary(): Promise<void>;
  /** The address leads to the standby, which can be read only until it is promoted. */
  pointToStandby(): void;
  /** The standby becomes the primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL twice (pg_basebackup, streaming); `undefined` where it is not installed (see `itWith`). A commit
 * waits for the standby with `isSynchronous`, and not otherwise.
 */
export async function postgresPair(isSynchronous: boolean): Promise<PostgresPair | undefined> {
  const bin = debianBinaries();
  if (!bin) return undefined;
  const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? postgresUser() : {};
  const ports = { primary: await heldPort(), standby: await heldPort() };
  const folders = { primary: await dataFolder("primary"), standby: await dataFolder("standby") };
  for (const folder of Object.values(folders))
    if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = (name: keyof typeof ports) => join(folders[name], "data");
  const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;
  // Not spawnSync: the proxy that a copy comes through is in this process.
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(join(bin, program), args, { cwd: folders.primary, ...owner });
  const start = (name: keyof typeof ports): Promise<OwnServer> => {
    // Without fsync: what a killed server wrote is with the operating system.
    const settings = ["listen_addresses=127.0.0.1", `unix_socket_directories=${folders[name]}`, "fsync=off"];
    const options = ["-D", data(name), "-p", String(ports[name]), ...settings.flatMap((one) => ["-c", one])];
    return startOwnServer(
      [join(bin, "postgres"), ...options],
      folders[name],
      () => answers(urlOf(ports[name])),
      owner,
    );
  };
  const on: PostgresPair["on"] = async (name, sql) => {
    const client = new pg.Client({ connectionString: urlOf(ports[name]) });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };

  await run("initdb", "-D", data("primary"), "-U", "postgres", "-A", "trust", "-N");
  const primary = await start("primary");
  const replication = await tcpProxy({ port: ports.primary });
  // -R writes where the standby streams from: the address that it is copied from.
  const from = ["-h", "127.0.0.1", "-p", String(replication.port), "-U", "postgres"];
  await run("pg_basebackup", ...from, "-D", data("standby"), "-R", "-X", "stream", "-c", "fast");
  appendFileSync(join(data("standby"), "postgresql.auto.conf"), "synchronous_standby_names = ''\n");
  const standby = await start("standby");
  if (isSynchronous) {
    await on("primary", "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await on("primary", "SELECT pg_reload_conf()");
  }
  const target = { port: ports.primary };
  const address = await tcpProxy(target);
  let isPrimaryThere = true;
  return {
    url: urlOf(address.port),
    replication,
    on,
    async killPrimary() {
      isPrimaryThere = false;
      await primary.kill();
    },
    pointToStandby() {
      target.port = ports.standby;
    },
    async promote() {
      await on("standby", "SELECT pg_promote(true, 30)");
    },
    async stop() {
      await address.stop();
      await replication.stop();
      await standby.stop();
      if (isPrimaryThere) await primary.stop();
      else await rm(folders.primary, { recursive: true, force: true });
    },
  };
}
