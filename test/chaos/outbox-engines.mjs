// How the processes of the chaos run open an outbox's store, one entry for each engine. `place` is what the engine's
// set-up in outbox-chaos.ts gave.
import { openSqlite } from "hookproof/node";
import { postgresStore } from "hookproof/outbox/postgres";
import { sqliteStore } from "hookproof/outbox/sqlite";
import pg from "pg";

export const ENGINES = {
  async sqlite({ file, driver, from }, clock) {
    const open = () => openSqlite(file, { driver, from });
    const store = sqliteStore({ open, clock, patienceMs: 200 });
    const db = open();
    db.exec(
      "PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000; CREATE TABLE IF NOT EXISTS orders (id TEXT)",
    );
    const addOrder = db.prepare("INSERT INTO orders VALUES (?) RETURNING 1");
    return {
      store,
      /** One of the application's own transactions: an order, and what `work` enqueues with it. */
      async transaction(order, end, work) {
        db.exec("BEGIN IMMEDIATE");
        try {
          addOrder.all(order);
          work(db);
          db.exec(end);
        } catch (error) {
          db.exec("ROLLBACK");
          throw error;
        }
      },
    };
  },
  async postgres({ url }) {
    const pool = new pg.Pool({
      connectionTimeoutMillis: 10_000,
      connectionString: url,
      application_name: "worker",
      query_timeout: 10_000, // the application's own transactions end, too, where the network has forgotten them
    });
    pool.on("error", () => {}); // the server is killed, too
    pool.on("connect", (client) => client.on("error", () => {}));
    return {
      store: postgresStore({ pool }),
      async transaction(order, end, work) {
        const client = await pool.connect();
        let failure;
        try {
          await client.query("BEGIN");
          await client.query("INSERT INTO orders VALUES ($1)", [order]);
          await work(client);
          await client.query(end);
        } catch (error) {
          failure = error;
          throw error;
        } finally {
          client.release(failure);
        }
      },
    };
  },
};
