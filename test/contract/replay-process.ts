// One process among several: opens the store it is told of, asks for one id many times at once when its
// parent says so, and tells how many of them were reserved. Then it lives on with its reservation until killed.
import BetterSqlite3 from "better-sqlite3";
import { postgresReplayStore, redisReplayStore, sqliteReplayStore } from "hookproof/node";
import { Redis } from "ioredis";
import pg from "pg";

const [kind = "", where = "", space = ""] = process.argv.slice(2);

function openStore() {
  if (kind === "postgres")
    return postgresReplayStore(new pg.Pool({ connectionString: where, options: `-c search_path=${space}` }));
  if (kind === "redis") return redisReplayStore(new Redis(where), { keyPrefix: space });
  return sqliteReplayStore(new BetterSqlite3(where));
}

const store = openStore();
await store.reserve("lst_warm_up", String(process.pid));
process.send?.("ready");
process.on("message", async (eventId: string) => {
  const asked = Array.from({ length: 100 }, () => store.reserve("lst_1", eventId));
  const results = await Promise.all(asked);
  process.send?.(results.flatMap((result) => (result.state === "reserved" ? [result.reservation] : [])));
});
