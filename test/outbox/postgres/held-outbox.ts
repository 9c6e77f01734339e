// An outbox in a database in which a transaction holds its snapshot, and what statements read there.
import type { QueryResult } from "pg";
import { expect, vi } from "vitest";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";

export interface HeldOutbox {
  readonly outbox: TestOutbox;
  readonly store: ReturnType<TestOutbox["store"]>;
  /** Runs a statement in which `hookproof.` stands for the outbox's schema. */
  query(sql: string): Promise<QueryResult>;
  /** How many blocks a statement reads, when the connection has read what its plans are made from; `before` prepares it. */
  blocks(sql: string, before?: string): Promise<number>;
  /** The texts that statements of the store have in common with a pattern from now on, until mocks are restored. */
  asked(pattern: RegExp): string[];
  /** Ends the transaction. */
  end(): Promise<void>;
  drop(): Promise<void>;
}

export async function heldOutbox(url: string): Promise<HeldOutbox> {
  const outbox = testOutbox(url);
  const store = outbox.store();
  await store.stats(); // makes the tables
  const holder = await outbox.pool.connect();
  await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1");
  const own = (sql: string) => sql.replaceAll(/hookproof\.(?!keys)/g, `${outbox.schema}.`);
  let isHeld = true;
  async function end() {
    if (!isHeld) return;
    isHeld = false;
    await holder.query("ROLLBACK");
    holder.release();
  }
  return {
    outbox,
    store,
    query: (sql) => outbox.pool.query(own(sql)),
    async blocks(sql, before = "SELECT 1") {
      const client = await outbox.pool.connect();
      const explain = `${own(before)}; EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${own(sql)}`;
      await client.query(
        `SET enable_seqscan = off; SET enable_bitmapscan = off; BEGIN; ${explain}; ROLLBACK`,
      );
      const results = (await client.query(`BEGIN; ${explain}; ROLLBACK`)) as unknown as {
        rows: { "QUERY PLAN": [{ Plan: Record<string, number> }] }[];
      }[];
      await client.query("RESET ALL");
      client.release();
      const plan = results[2]?.rows[0]?.["QUERY PLAN"][0].Plan ?? expect.fail("no plan");
      return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
    },
    asked(pattern) {
      const texts: string[] = [];
      const connect = outbox.pool.connect.bind(outbox.pool);
      vi.spyOn(outbox.pool, "connect").mockImplementation((async (callback?: never) => {
        if (callback) return connect(callback); // of the pool's own query
        const client = await connect();
        if (vi.isMockFunction(client.query)) return client;
        const ask = client.query.bind(client);
        vi.spyOn(client, "query").mockImplementation(((text: string, ...more: never[]) => {
          if (typeof text === "string") texts.push(...(text.match(pattern) ?? []));
          return ask(text, ...more);
        }) as never);
        return client;
      }) as never);
      return texts;
    },
    end,
    async drop() {
      await end();
      await outbox.drop();
    },
  };
}
