import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReplayStore, Reservation } from "hookproof/receiver";
import { postgresReplayStore, redisReplayStore, sqliteReplayStore } from "hookproof/replay";
import { Redis } from "ioredis";
import { afterAll, expect } from "vitest";
import { betterSqlite3 } from "../kit/better-sqlite3.js";
import { itWith } from "../kit/needs.js";
import { TIMEOUT_MS } from "../kit/open-replay-store.js";
import { testPostgres } from "../kit/postgres.js";
import { testRedis } from "../kit/redis.js";

interface SharedStore {
  readonly store: ReplayStore;
  /** What the other processes need to open the same store. */
  readonly args: readonly string[];
  /** The end of the holder's 60 s. */
  expire(): Promise<unknown>;
  drop(): Promise<unknown>;
}

const Compiled = betterSqlite3();
const [postgres, redis] = await Promise.all([testPostgres(), testRedis()]);
afterAll(async () => {
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

async function sqliteShared(): Promise<SharedStore> {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-processes-"));
  const file = join(folder, "ids.db");
  const db = new (Compiled as NonNullable<typeof Compiled>)(file);
  db.pragma("journal_mode = WAL");
  const store = sqliteReplayStore({ db });
  return {
    store,
    args: ["better-sqlite3", file],
    expire: async () => db.exec("UPDATE hookproof_event_ids SET expires_at = expires_at - 60000"),
    async drop() {
      db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function postgresShared(): Promise<SharedStore> {
  const { name, pool, drop } = await (postgres as NonNullable<typeof postgres>).schema();
  const store = postgresReplayStore({ pool, timeoutMs: TIMEOUT_MS });
  return {
    store,
    args: ["postgres", postgres?.url ?? "", name],
    expire: () => pool.query("UPDATE hookproof_event_ids SET expires_at = expires_at - interval '60 s'"),
    drop,
  };
}

async function redisShared(): Promise<SharedStore> {
  const url = redis?.url ?? "";
  const { prefix, drop } = (redis as NonNullable<typeof redis>).keyPrefix();
  const client = new Redis(url);
  return {
    store: redisReplayStore({ client, keyPrefix: prefix, timeoutMs: TIMEOUT_MS }),
    args: ["redis", url, prefix],
    async expire() {
      for (const key of await client.keys(`${prefix}*`)) await client.pexpire(key, 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async drop() {
      client.disconnect();
      await drop();
    },
  };
}

async function startProcess(args: readonly string[]): Promise<ChildProcess> {
  const script = join(import.meta.dirname, "replay-process.ts");
  const child = fork(script, args, { execArgv: ["--import", "tsx", "--conditions=source"] });
  await once(child, "message");
  return child;
}

async function raceFor(child: ChildProcess, eventId: string): Promise<Reservation[]> {
  child.send(eventId);
  const [won] = await once(child, "message");
  return won;
}

const stores: [name: string, needed: string, isThere: unknown, () => Promise<SharedStore>][] = [
  ["SQLite", "better-sqlite3", Compiled, sqliteShared],
  ["PostgreSQL", "postgresql", postgres, postgresShared],
  ["Redis", "redis-server", redis, redisShared],
];

for (const [name, needed, isThere, open] of stores) {
  itWith(needed, isThere)(
    `${name}: of 200 in two processes one reserves; killed, it leaves the id usable`,
    async () => {
      const { store, args, expire, drop } = await open();
      const children = await Promise.all([startProcess(args), startProcess(args)]);
      try {
        const won = (await Promise.all(children.map((child) => raceFor(child, "id-1")))).flat();
        expect(won).toHaveLength(1);

        for (const child of children) child.kill("SIGKILL");
        await Promise.all(children.map((child) => once(child, "exit")));
        expect((await store.reserve("lst_1", "id-1")).state).toBe("in-flight");
        await expire();
        expect((await store.reserve("lst_1", "id-1")).state).toBe("reserved");
        await expect(store.commit(won[0] as Reservation)).rejects.toMatchObject({ code: "RESERVATION_LOST" });
      } finally {
        for (const child of children) child.kill("SIGKILL");
        await drop();
      }
    },
  );
}
