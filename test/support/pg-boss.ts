import { randomUUID } from "node:crypto";
import type { PGlite } from "@electric-sql/pglite";
import { pgBossStore } from "hookproof/outbox";
import type { OutboxStoreSubject } from "hookproof/testing";
import pg from "pg";
import { type Db, fromPglite, PgBoss } from "pg-boss";
import { outboxEvent } from "./outbox-event.js";

/** pg-boss in a schema of its own. */
export interface TestBoss {
  readonly boss: PgBoss;
  /** Of pg-boss's tables. */
  readonly schema: string;
  query(sql: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
  /** An outbox whose tables live in a schema of their own; `drop` removes it and its queues. */
  outbox(): TestOutbox;
  drop(): Promise<void>;
}

export interface TestOutbox {
  readonly schema: string;
  readonly subject: OutboxStoreSubject<TestClient>;
  drop(): Promise<void>;
}

interface TestClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

interface Connection {
  readonly options: { connectionString: string } | { db: Db; backend: "pglite" };
  readonly query: TestBoss["query"];
  readonly transaction: NonNullable<TestOutbox["subject"]["transaction"]>;
  close(): Promise<void>;
}

/** On a PostgreSQL server. */
export function bossOnPostgres(connectionString: string): Promise<TestBoss> {
  const pool = new pg.Pool({ connectionString });
  pool.on("error", () => {}); // a server that is killed, in the tests that do so
  return startBoss({
    options: { connectionString },
    query: (sql, values) => pool.query(sql, values),
    async transaction(end, work) {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        await work(client);
        await client.query(end);
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  });
}

/** On PGlite: PostgreSQL in this process, with one connection. */
export function bossOnPglite(db: PGlite): Promise<TestBoss> {
  return startBoss({
    options: { db: pgliteDatabase(db), backend: "pglite" },
    async query(sql, values) {
      const result = values ? await db.query(sql, values) : (await db.exec(sql)).at(-1);
      return { rows: (result?.rows ?? []) as Record<string, unknown>[] };
    },
    transaction: (end, work) =>
      db.transaction(async (tx) => {
        await work({ query: (text, values) => tx.query(text, values) });
        if (end === "rollback") await tx.rollback();
      }),
    close: () => db.close(),
  });
}

/** pg-boss's adapter for PGlite, with the transactions it leaves out. */
function pgliteDatabase(db: PGlite): Db {
  return {
    ...fromPglite(db),
    async beginTransaction() {
      let end = (_: "commit" | "rollback") => {};
      const ended = new Promise<"commit" | "rollback">((resolve) => {
        end = resolve;
      });
      let done: Promise<unknown> = Promise.resolve();
      const tx = await new Promise<Parameters<Parameters<PGlite["transaction"]>[0]>[0]>((resolve, reject) => {
        done = db.transaction(async (own) => {
          resolve(own);
          if ((await ended) === "rollback") await own.rollback();
        });
        done.catch(reject);
      });
      const finish = async (how: "commit" | "rollback") => {
        end(how);
        await done;
      };
      return {
        db: {
          executeSql: async (text, values) =>
            values?.length
              ? tx.query(text, values)
              : { rows: (await tx.exec(text)).flatMap(({ rows }) => rows) },
        },
        commit: () => finish("commit"),
        rollback: () => finish("rollback").catch(() => {}),
      };
    },
  };
}

async function startBoss({ options, query, transaction, close }: Connection): Promise<TestBoss> {
  const schema = `jobs_${randomUUID().replaceAll("-", "")}`;
  const boss = new PgBoss({ ...options, schema, supervise: false, schedule: false });
  boss.on("error", () => {});
  await boss.start();
  return {
    boss,
    schema,
    query,
    outbox: () => testOutbox(boss, schema, query, transaction),
    async drop() {
      await boss.stop({ graceful: false });
      await query(`DROP SCHEMA ${schema} CASCADE`);
      await close();
    },
  };
}

function testOutbox(
  boss: PgBoss,
  jobs: string,
  query: TestBoss["query"],
  transaction: Connection["transaction"],
): TestOutbox {
  const schema = `outbox_${randomUUID().replaceAll("-", "")}`;
  const isMine = `name LIKE '${schema}/%'`;
  return {
    schema,
    subject: {
      async open() {
        const store = pgBossStore({ boss, schema });
        // PGlite's one connection cannot make tables and queues while a caller's transaction has it.
        const first = outboxEvent("first", { listener: "lst_contract" });
        await store.enqueue([first]);
        await query(`DELETE FROM ${schema}.event WHERE id = '${first.id}'`);
        await query(`DELETE FROM ${jobs}.job WHERE ${isMine} AND data ->> 'id' = '${first.id}'`);
        return store;
      },
      async passTime(ms) {
        const earlier = (columns: string[]) =>
          columns.map((column) => `${column} = ${column} - ${ms} * interval '1 ms'`).join();
        const times = [
          "enqueued_at",
          "due_at",
          "leased_until",
          "first_attempt_at",
          "window_from",
          "ended_at",
        ];
        await query(`UPDATE ${schema}.event SET ${earlier(times)}`);
        await query(
          `UPDATE ${jobs}.job SET ${earlier(["start_after", "created_on", "started_on"])} WHERE ${isMine}`,
        );
      },
      transaction,
    },
    async drop() {
      await query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      const { rows } = await query(`SELECT name FROM ${jobs}.queue WHERE ${isMine}`);
      for (const { name } of rows) await boss.deleteQueue(String(name));
    },
  };
}
