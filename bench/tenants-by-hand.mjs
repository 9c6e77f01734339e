// A queue with tenants in SQLite as one writes it by hand: each tenant's events in order, a lease that only its holder ends,
// how many there are of each tenant, and events for later kept apart. What is left is the least that many tenants cost.
import { randomUUID } from "node:crypto";

const [WAITING, LATER, DONE] = [0, 1, 2];

/** What the bench of tenants asks of a store; on a database of its own. */
export function tenantsByHand(db) {
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec(`
    CREATE TABLE job (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, state INTEGER NOT NULL,
      due_at INTEGER NOT NULL, token TEXT, ended_at INTEGER);
    CREATE TABLE body (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);
    CREATE INDEX job_due ON job (tenant, due_at, seq) WHERE state = ${WAITING};
    CREATE INDEX job_later ON job (due_at) WHERE state = ${LATER};
    CREATE INDEX job_ended ON job (ended_at) WHERE state = ${DONE};
    CREATE TABLE counts (tenant TEXT, state INTEGER, jobs INTEGER NOT NULL, PRIMARY KEY (tenant, state)) WITHOUT ROWID;
  `);
  const insert = db.prepare("INSERT INTO job (id, tenant, state, due_at) VALUES (?, ?, ?, ?) RETURNING seq");
  const insertBody = db.prepare("INSERT INTO body VALUES (?, ?)");
  const count = db.prepare(
    "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET jobs = jobs + excluded.jobs",
  );
  const nextTenant = db.prepare(
    `SELECT tenant FROM job WHERE state = ${WAITING} AND tenant > ? ORDER BY tenant LIMIT 1`,
  );
  const due = db.prepare(`SELECT seq, id, body FROM job JOIN body USING (seq)
    WHERE state = ${WAITING} AND tenant = ? AND due_at <= ? ORDER BY due_at, seq LIMIT ?`);
  const lease = db.prepare("UPDATE job SET token = ?, due_at = ? WHERE seq = ?");
  const end = db.prepare(
    `UPDATE job SET state = ${DONE}, token = NULL, ended_at = ? WHERE seq = ? AND token = ?`,
  );
  const dropBody = db.prepare("DELETE FROM body WHERE seq = ?");
  const transaction = transactionsOf(db);
  return {
    async enqueue(events) {
      transaction(() => {
        for (const { id, listener, body, deliverAt } of events) {
          const state = deliverAt === undefined ? WAITING : LATER;
          const { seq } = insert.get(id, listener, state, deliverAt ?? Date.now());
          insertBody.run(seq, body);
          count.run(listener, state, 1);
        }
      });
    },
    /** The next tenants that have events, from behind the last of those before; round and round. */
    async due(after = "", limit) {
      const listeners = [];
      let next = after;
      while (listeners.length < limit) {
        const { tenant } = nextTenant.get(next) ?? {};
        if (tenant === undefined) return { listeners, next: undefined };
        listeners.push({ listener: tenant });
        next = tenant;
      }
      return { listeners, next };
    },
    async claim({ limit, leaseMs, listeners }) {
      const now = Date.now();
      return transaction(() => {
        const claimed = [];
        for (const [listener, { most }] of listeners)
          for (const { seq, id, body } of due.all(listener, now, Math.min(most, limit - claimed.length))) {
            const token = randomUUID();
            lease.run(token, now + leaseMs, seq);
            claimed.push({ lease: { seq, token, listener }, event: { id, listener, body } });
          }
        return claimed;
      });
    },
    async markDelivered(deliveries) {
      const now = Date.now();
      transaction(() => {
        for (const { lease: held } of deliveries) {
          if (end.run(now, held.seq, held.token).changes === 0) continue;
          dropBody.run(held.seq);
          count.run(held.listener, WAITING, -1);
          count.run(held.listener, DONE, 1);
        }
      });
    },
    close: async () => db.close(),
  };
}

/** Does a work in a transaction of a database that reaches the disk. */
export function transactionsOf(db) {
  return (work) => {
    db.exec("BEGIN IMMEDIATE");
    const value = work();
    db.exec("COMMIT");
    return value;
  };
}
