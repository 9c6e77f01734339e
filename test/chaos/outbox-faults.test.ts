import { execFileSync } from "node:child_process";
import { postgresStore } from "hookproof/outbox/postgres";
import { waitFor } from "hookproof/testing";
import pg from "pg";
import { afterAll, expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasPgBouncer, pgBouncer } from "../kit/pgbouncer.js";
import { ownPostgres, testPool } from "../kit/postgres.js";
import { smallDisk } from "../kit/small-disk.js";
import { tcpProxy } from "../kit/tcp-proxy.js";
import { type ChaosEngine, outboxChaos } from "./outbox-chaos.js";

const SIZE = process.env.HOOKPROOF_LONG
  ? { events: 5_000, disturbances: 16 }
  : { events: 400, disturbances: 4 };
const UNKNOWN = [{ listener: "", pending: 1, inFlight: 0, delivered: 0, dead: 0, oldestAgeMs: 0 }];
const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const postgres = await ownPostgres();
const disk = postgres && smallDisk(96);
afterAll(async () => {
  await postgres?.stop();
  disk?.remove(); // nothing of it may be open
});

/** A run over a database of its own; `url` is how the processes reach it, and the test does without detours. */
async function expectKept(
  database: string,
  { settings = [], url, cutStore }: Pick<ChaosEngine, "cutStore"> & { settings?: string[]; url: string },
): Promise<void> {
  if (!postgres) return;
  const admin = new pg.Client({ connectionString: postgres.url });
  admin.on("error", () => {});
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`); // of a try that failed
  await admin.query(`CREATE DATABASE ${database}`);
  for (const setting of settings) await admin.query(`ALTER DATABASE ${database} SET ${setting}`);
  await admin.end();
  const at = (place: string) => Object.assign(new URL(place), { pathname: `/${database}` }).href;
  const pool = testPool({ connectionString: at(postgres.url) });
  pool.on("connect", (client) => client.on("error", () => {}));
  await pool.query("CREATE TABLE orders (id text)");
  const store = postgresStore({ pool });
  await store.stats(); // the tables are there before anything goes wrong
  try {
    const { broken, summary } = await outboxChaos(
      {
        ...{ name: "postgres", place: { url: at(url) }, speed: 1, leaseMs: 10_000, cutStore },
        open: async () => ({ ...store, stats: () => store.stats().catch(() => UNKNOWN) }),
      },
      SIZE,
    );
    console.info(database, summary);
    expect(broken.slice(0, 20)).toEqual([]);
    expect(summary["cut-store"]).toBeGreaterThan(0);
  } finally {
    await pool.end();
  }
}

itWith("postgresql", postgres)(
  "PostgreSQL, serializable: connections are cut while a commit is on its way",
  async () => {
    if (!postgres) return;
    const proxy = await tcpProxy({ port: Number(new URL(postgres.url).port) });
    const url = Object.assign(new URL(postgres.url), { port: String(proxy.port) }).href;
    const cutStore = async () => {
      for (let cuts = 0; cuts < 8; cuts++) {
        proxy.cutAfter("COMMIT");
        await pass(50);
      }
      proxy.losesAnswers = true;
      await pass(300);
      proxy.losesAnswers = false;
    };
    try {
      const settings = ["default_transaction_isolation = 'serializable'"];
      await expectKept("cut", { url, settings, cutStore });
    } finally {
      await proxy.stop();
    }
  },
);

itWith("postgresql and pgbouncer", postgres && hasPgBouncer)(
  "PostgreSQL behind PgBouncer in transaction mode: the server is killed",
  async () => {
    if (!postgres) return;
    const bouncer = await pgBouncer(postgres.url);
    const database = "pooled";
    const through = Object.assign(new URL(bouncer.url), { pathname: `/${database}` }).href;
    const cutStore = async () => {
      await postgres.kill();
      await postgres.restart();
      // A pool that was refused while the server was away waits before it asks again: until then the store is away.
      const pool = testPool({ connectionString: through, max: 1 });
      const answers = () =>
        pool.query("SELECT 1").then(
          () => true,
          () => false,
        );
      await waitFor(answers, { timeoutMs: 60_000, intervalMs: 50 });
      await pool.end();
    };
    try {
      await expectKept(database, { url: bouncer.url, cutStore });
    } finally {
      await bouncer.stop();
    }
  },
);

itWith("postgresql and mount", postgres && disk)("PostgreSQL: the disk of its tables is full", async () => {
  if (!postgres || !disk) return;
  execFileSync("chown", ["postgres", disk.folder]);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query("DROP DATABASE IF EXISTS small WITH (FORCE)"); // of a try that failed
  await admin.query("DROP TABLESPACE IF EXISTS small");
  await admin.query(`CREATE TABLESPACE small LOCATION '${disk.folder}'`);
  await admin.end();
  const cutStore = async () => {
    disk.fill();
    await pass(900);
    disk.free();
  };
  await expectKept("small", { url: postgres.url, settings: ["default_tablespace = 'small'"], cutStore });
});
