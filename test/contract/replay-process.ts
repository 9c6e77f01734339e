// One process among several: opens the store it is told of, asks for one id many times at once when its
// parent says so, and tells how many of them were reserved. Then it lives on with its reservation until killed.
import { postgresReplayStore, redisReplayStore, sqliteReplayStore } from "hookproof/node";
import { Redis } from "ioredis";
import pg from "pg";
import { betterSqlite3 } from "../support/better-sqlite3.js";

const [kind = "", where = "", space = ""] = process.argv.slice(2);

function openStore() {
  if (kind === "postgres")
    return postgresReplayStore(new pg.Pool({ connectionString: where, options: `-c search_path=${space}` }));
  if (kind === "redis") return redisReplayStore(new Redis(where), { keyPrefix: space });
  const Compiled = betterSqlite3();
  if (!Compiled) throw new Error("better-sqlite3 is not installed");
  return sqliteReplayStore(new Compiled(where));
}

const store = openStore();
await store.reserve("lst_warm_up", String(process.pid));
process.send?.("ready");
process.on("message", async (eventId: string) => {
  const asked = Array.from({ length: 100 }, () => store.reserve("lst_1", eventId));
  const results = await Promise.all(asked);
  process.send?.(results.flatMap((result) => (result.state === "reserved" ? [result.reservation] : [])));
});
