// An outbox in a database in which a transaction holds its snapshot, and what statements read there.
import type { QueryResult } from "pg";
import { expect, vi } from "vitest";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";

/** What a transaction has read: blocks, and rows of tables that it went through and entries of indexes. */
export interface Cost {
  readonly blocks: number;
  readonly rows: number;
  /** Whether it held the lock that keeps the order of ordering keys, which all settling waits for. */
  readonly isLocked: boolean;
  /** The server's setting `jit`: whether it compiles statements, which takes seconds where they seem dear. */
  readonly jit: string;
}

export interface HeldOutbox {
  readonly outbox: TestOutbox;
  readonly store: ReturnType<TestOutbox["store"]>;
  /** Runs a statement in which `hookproof.` stands for the outbox's schema. */
  query(sql: string): Promise<QueryResult>;
  /** How many blocks a statement reads, when the connection has read what its plans are made from; `before` prepares it. */
  blocks(sql: string, before?: string): Promise<number>;
  /** The texts that statements of the store have in common with a pattern from now on, until mocks are restored. */
  asked(pattern: RegExp): string[];
  /** What each transaction of the store has read of the outbox from now on, until mocks are restored. */
  costs(): Cost[];
  /** Ends the transaction. */
  end(): Promise<void>;
  drop(): Promise<void>;
}

export async function heldOutbox(url: string): Promise<HeldOutbox> {
  const outbox = testOutbox(url);
  const store = outbox.store();
  await store.stats(); // makes the tables
  // What statistics a plan is made from must not depend on how long a test takes.
  await outbox.pool.query(`ALTER TABLE ${outbox.schema}.event SET (autovacuum_enabled = off)`);
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
  /** Has `through` ask what the store asks. */
  function spy(through: (text: string, ask: (text: string) => Promise<QueryResult>) => Promise<QueryResult>) {
    const connect = outbox.pool.connect.bind(outbox.pool);
    vi.spyOn(outbox.pool, "connect").mockImplementation((async (callback?: never) => {
      if (callback) return connect(callback); // of the pool's own query
      const client = await connect();
      if (vi.isMockFunction(client.query)) return client;
      const ask = client.query.bind(client);
      vi.spyOn(client, "query").mockImplementation(((text: string, ...more: never[]) =>
        typeof text === "string" ? through(text, (own) => ask(own, ...more)) : ask(text, ...more)) as never);
      return client;
    }) as never);
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
      spy((text, ask) => {
        texts.push(...(text.match(pattern) ?? []));
        return ask(text);
      });
      return texts;
    },
    costs() {
      const costs: Cost[] = [];
      const counted = `SELECT current_setting('jit') AS jit, sum(pg_stat_get_xact_blocks_fetched(c.oid))::int AS blocks,
          sum(pg_stat_get_xact_tuples_returned(c.oid))::int AS rows
        FROM pg_class c WHERE c.relnamespace = '${outbox.schema}'::regnamespace`;
      spy(async (text, ask) => {
        const whole = text.match(/^BEGIN[\s\S]*COMMIT$/)
          ? `${counted};\n${text.slice(0, -6)}${counted};\nCOMMIT`
          : text;
        const results = (await ask(whole)) as unknown as { rows: Cost[] }[];
        if (whole === text) return results as never;
        const [before, after] = [results.shift()?.rows[0], results.at(-2)?.rows[0]];
        if (before && after)
          costs.push({
            blocks: after.blocks - before.blocks,
            rows: after.rows - before.rows,
            isLocked: text.includes("SELECT pg_advisory_xact_lock("),
            jit: after.jit,
          });
        return results as never;
      });
      return costs;
    },
    end,
    async drop() {
      await end();
      await outbox.drop();
    },
  };
}
