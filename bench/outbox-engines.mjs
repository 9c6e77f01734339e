// The engines of the outbox bench: our store over each, and the bare engine with the least it needs to do the same.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "hookproof/node";
import { postgresStore } from "hookproof/outbox/postgres";
import { sqliteStore } from "hookproof/outbox/sqlite";
import pg from "pg";
import { everything, inHalves, outboxByHandInPostgres, outboxByHandInSqlite } from "./outbox-by-hand.mjs";
import { barePgBoss } from "./outbox-pgboss.mjs";
import { batchesByHand, queueByHand } from "./queue-by-hand.mjs";
import { tenantsByHand, transactionsOf } from "./tenants-by-hand.mjs";

/** better-sqlite3 where it is installed (`npm ci --prefix bench`), else libsql. */
function sqliteOpener(file) {
  try {
    openSqlite(file, { driver: "better-sqlite3", from: import.meta.url }).close();
    return {
      driver: "better-sqlite3",
      open: () => openSqlite(file, { driver: "better-sqlite3", from: import.meta.url }),
    };
  } catch {
    return { driver: "libsql", open: () => openSqlite(file, { driver: "libsql" }) };
  }
}

export function sqliteEngine() {
  const folder = mkdtempSync(join(tmpdir(), "outbox-bench-"));
  const { driver, open } = sqliteOpener(join(folder, "outbox.db"));
  const bare = bareSqlite(sqliteOpener(join(folder, "bare.db")).open());
  const promised = outboxByHandInSqlite(sqliteOpener(join(folder, "promised.db")).open());
  return {
    name: `SQLite (${driver})`,
    store: sqliteStore({ open }),
    bare,
    promised,
    async close() {
      await bare.close();
      await promised.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What many tenants cost by hand, on a file of its own. */
export function tenantsByHandEngine() {
  const folder = mkdtempSync(join(tmpdir(), "outbox-bench-"));
  const store = tenantsByHand(sqliteOpener(join(folder, "hand.db")).open());
  return { store, close: async () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * A queue in a table: insert, take a batch, mark it done, each in a transaction that reaches the disk. Ids are
 * unique, as an outbox has to refuse an id that comes twice.
 */
function bareSqlite(db) {
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec(
    "CREATE TABLE job (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB, state INTEGER NOT NULL DEFAULT 0)",
  );
  db.exec("CREATE INDEX job_state ON job (state, seq)");
  const insert = db.prepare("INSERT INTO job (id, body) VALUES (?, ?)");
  const take = db.prepare("SELECT seq, body FROM job WHERE state = 0 ORDER BY seq LIMIT ?");
  const mark = db.prepare("UPDATE job SET state = ? WHERE seq = ?");
  const transaction = transactionsOf(db);
  return {
    async enqueue(payload) {
      transaction(() => insert.run(randomUUID(), Buffer.from(JSON.stringify(payload))));
    },
    async enqueueMany(payloads) {
      transaction(() => {
        for (const payload of payloads) insert.run(randomUUID(), Buffer.from(JSON.stringify(payload)));
      });
    },
    /** Takes and ends so many at most; resolves to how many there were. */
    async turn(handle, size) {
      const jobs = transaction(() => {
        const rows = take.all(size);
        for (const { seq } of rows) mark.run(1, seq);
        return rows;
      });
      await Promise.all(jobs.map(({ body }) => handle(JSON.parse(Buffer.from(body).toString()))));
      transaction(() => {
        for (const { seq } of jobs) mark.run(2, seq);
      });
      return jobs.length;
    },
    consume(handle, size = 100) {
      return everything(() => this.turn(handle, size));
    },
    close: async () => db.close(),
  };
}

/**
 * Our tables on the PostgreSQL of DATABASE_URL, beside bare pg-boss on the same server; `undefined` without one.
 *
 * @param {{ beside?: boolean }} [options] whether the bare engine is wanted
 */
export async function postgresEngine({ beside = true } = {}) {
  const connectionString = process.env.DATABASE_URL;
  if (!connectionString) return undefined;
  const suffix = randomUUID().slice(0, 8);
  const pool = new pg.Pool({ connectionTimeoutMillis: 10_000, connectionString });
  pool.on("error", (error) => console.error(error.message));
  const boss = beside ? await startedBoss(connectionString, `boss_${suffix}`) : undefined;
  const byHand = beside ? await loopByHand() : undefined;
  const promised = beside ? await outboxByHandInPostgres(pool) : undefined;
  return {
    name: "PostgreSQL",
    schema: `outbox_${suffix}`,
    store: postgresStore({ pool, schema: `outbox_${suffix}` }),
    bare: boss && (await barePgBoss(boss)),
    byHand,
    promised,
    /** What autovacuum does by itself within a minute of a large change. */
    analyze: () => pool.query("ANALYZE"),
    async close() {
      await boss?.stop({ graceful: false });
      await byHand?.close();
      await promised?.close();
      for (const schema of [`outbox_${suffix}`, `boss_${suffix}`])
        await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await pool.end();
    },
  };
}

/** The least that PostgreSQL can do for a delivery: two statements for a batch. */
async function loopByHand() {
  const queue = await queueByHand();
  return {
    enqueueMany: (payloads) =>
      queue.enqueue(
        payloads.map(() => randomUUID()),
        payloads.map((payload) => Buffer.from(JSON.stringify(payload))),
      ),
    async turn(handle, size) {
      const { take, done } = batchesByHand(queue.pool, queue.schema, size);
      const rows = await take();
      await Promise.all(rows.map(({ body }) => handle(JSON.parse(body.toString()))));
      await done(rows);
      return rows.length;
    },
    consume(handle, size = 100) {
      return inHalves((half) => this.turn(handle, half), size);
    },
    close: queue.close,
  };
}

async function startedBoss(connectionString, schema) {
  const { PgBoss } = await import("pg-boss");
  const boss = new PgBoss({ connectionString, schema });
  boss.on("error", (error) => console.error(error.message));
  await boss.start();
  return boss;
}
