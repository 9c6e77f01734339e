// One replay store of the replay bench, filled to a size, in a process of its own:
// node --expose-gc replay-case.mjs <store> <size> <file>
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import { memoryReplayStore } from "hookproof/receiver";
import { postgresReplayStore, sqliteReplayStore } from "hookproof/replay";
import pg from "pg";
import { postgresCost } from "./postgres-cost.mjs";

const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const [kind, sizeText, file] = process.argv.slice(2);
const size = Number(sizeText);
let time = 0;
const clock = { now: () => time };

/** What opens a store of each kind, empty, under a name of its own. */
const kinds = {
  async memory() {
    const empty = await bytesUsed();
    const store = memoryReplayStore({ clock, maxIds: 2 ** 24 });
    return { store, inFlight: 1, bytes: async () => (await bytesUsed()) - empty };
  },
  sqlite(name) {
    const path = `${file}-${name}`;
    const db = new BetterSqlite3(path);
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = NORMAL");
    const store = sqliteReplayStore({ db, clock });
    const bytes = () => {
      db.pragma("wal_checkpoint(TRUNCATE)");
      return statSync(path).size;
    };
    return { store, inFlight: 50, bytes };
  },
  async postgres(name) {
    const pool = new pg.Pool({
      connectionTimeoutMillis: 10_000,
      connectionString: process.env.DATABASE_URL,
      max: 10,
    });
    const table = `hookproof_bench_${process.pid}_${name}`;
    const store = postgresReplayStore({ pool, table, timeoutMs: 60_000 });
    const ask = async (sql) => (await pool.query(sql)).rows[0];
    const cost = await postgresCost();
    return {
      serverMicros: async () => (await cost.now()).micros,
      store,
      inFlight: 50,
      bytes: async () => Number((await ask(`SELECT pg_total_relation_size('${table}') AS bytes`)).bytes),
      /** Its clock is the database's, so the rows are made older; a call removes 500 of them. */
      async removal() {
        const old = Math.min(size, 20_000);
        await ask(
          `UPDATE ${table} SET expires_at = now() WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} LIMIT ${old}))`,
        );
        const fresh = postgresReplayStore({ pool, table, timeoutMs: 60_000 });
        const start = performance.now();
        for (let left = old; left > 0; left -= 500) await fresh.reserve("lst_bench", randomUUID());
        return ((performance.now() - start) * 1000) / old;
      },
      async close() {
        await ask(`DROP TABLE ${table}`);
        await pool.end();
        await cost.end();
      },
    };
  },
};

/** Twice, as what the first collection lets go of frees its buffers afterwards. */
async function bytesUsed() {
  for (let n = 0; n < 2; n++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Remembers so many new ids, one each millisecond by the store's clock; the microseconds each one took. */
async function remember({ store, inFlight }, count) {
  let left = count;
  const start = performance.now();
  const worker = async () => {
    while (left-- > 0) {
      time++;
      const { reservation } = await store.reserve("lst_bench", randomUUID());
      await store.commit(reservation);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return ((performance.now() - start) * 1000) / count;
}

/** Few ids would be remembered by code that is not compiled yet, which costs several times as much. */
async function warmUp() {
  const first = await kinds[kind]("first");
  await remember(first, 10_000);
  await first.close?.();
}

await warmUp();
const opened = await kinds[kind]("measured");
const { bytes, serverMicros, removal, close } = opened;
const measured = Math.min(size / 2, 100_000);
await remember(opened, size - measured);
const before = { own: process.cpuUsage(), server: await serverMicros?.() };
const insert = await remember(opened, measured);
const { user, system } = process.cpuUsage(before.own);
const result = { insert, bytesPerId: (await bytes()) / size };
if (serverMicros) result.processor = (user + system + (await serverMicros()) - before.server) / measured;
if (removal) result.removal = await removal();
else {
  // From here on, for each id that comes another one's week ends.
  time = KEPT_MS;
  result.steady = await remember(opened, Math.min(size, 120_000));
}
await close?.();
process.send(result);
process.disconnect();
