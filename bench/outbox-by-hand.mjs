// The outbox by hand, with Node, SQL and nothing else: the least statements that keep the same promises for each event.
// One id is one body; the events of a key in order; a lease that only its holder ends; held listeners; when it is due;
// the body's digest checked before it is sent; a record of each attempt; counts of each listener.
import { createHash, randomUUID } from "node:crypto";
import { transactionsOf } from "./tenants-by-hand.mjs";

const [WAITING, LEASED, DONE] = [0, 1, 2];
const LISTENER = "a";
const LEASE_MS = 60_000;

/** Its tables in SQLite, and what the bench asks of a queue. */
export function outboxByHandInSqlite(db) {
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec(`
    CREATE TABLE event (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, listener TEXT NOT NULL, ordering_key TEXT, digest TEXT NOT NULL,
      state INTEGER NOT NULL, due_at INTEGER NOT NULL, token TEXT, attempt INTEGER NOT NULL DEFAULT 0, first_at INTEGER,
      attempts TEXT, ended_at INTEGER, UNIQUE (id, listener));
    CREATE TABLE body (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);
    CREATE INDEX event_due ON event (listener, due_at, seq) WHERE state < ${DONE};
    CREATE INDEX event_key ON event (listener, ordering_key, seq) WHERE state < ${DONE} AND ordering_key IS NOT NULL;
    CREATE TABLE held (listener TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE counts (listener TEXT, state INTEGER, events INTEGER NOT NULL, PRIMARY KEY (listener, state)) WITHOUT ROWID;`);
  const insert = db.prepare(
    `INSERT INTO event (id, listener, digest, state, due_at) VALUES (?, ?, ?, ${WAITING}, ?) ON CONFLICT DO NOTHING RETURNING seq`,
  );
  const known = db.prepare("SELECT digest FROM event WHERE id = ? AND listener = ?");
  const insertBody = db.prepare("INSERT INTO body VALUES (?, ?)");
  const count = db.prepare(
    "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET events = events + excluded.events",
  );
  const due = db.prepare(`SELECT seq, id, digest, body, attempt, first_at FROM event JOIN body USING (seq)
    WHERE state < ${DONE} AND listener = ? AND due_at <= ? AND NOT EXISTS (SELECT 1 FROM held WHERE held.listener = event.listener)
      AND (ordering_key IS NULL OR NOT EXISTS (SELECT 1 FROM event AS e WHERE e.state < ${DONE} AND e.listener = event.listener
        AND e.ordering_key = event.ordering_key AND e.seq < event.seq))
    ORDER BY due_at, seq LIMIT ?`);
  const lease = db.prepare(
    `UPDATE event SET state = ${LEASED}, token = ?, due_at = ?, attempt = attempt + 1, first_at = coalesce(first_at, ?) WHERE seq = ?`,
  );
  const end = db.prepare(
    `UPDATE event SET state = ${DONE}, token = NULL, attempts = ?, ended_at = ? WHERE seq = ? AND token = ?`,
  );
  const dropBody = db.prepare("DELETE FROM body WHERE seq = ?");
  const transaction = transactionsOf(db);
  return asQueue({
    store: async (events) =>
      transaction(() => {
        const now = Date.now();
        let added = 0;
        for (const { id, body, digest } of events) {
          const row = insert.get(id, LISTENER, digest, now);
          if (row) insertBody.run(row.seq, body);
          else if (known.get(id, LISTENER).digest !== digest) throw new Error("another body under one id");
          if (row) added++;
        }
        count.run(LISTENER, WAITING, added);
      }),
    claim: async (size) =>
      transaction(() => {
        const now = Date.now();
        const rows = due.all(LISTENER, now, size);
        for (const row of rows) {
          row.token = randomUUID();
          lease.run(row.token, now + LEASE_MS, now, row.seq);
        }
        return rows;
      }),
    complete: async (ended) =>
      transaction(() => {
        const now = Date.now();
        let done = 0;
        for (const { seq, token, attempts } of ended) {
          if (end.run(JSON.stringify(attempts), now, seq, token).changes === 0) continue;
          dropBody.run(seq);
          done++;
        }
        count.run(LISTENER, WAITING, -done);
        count.run(LISTENER, DONE, done);
      }),
    close: async () => db.close(),
  });
}

/** The same in PostgreSQL, in a schema of its own: one statement for each step of a batch. */
export async function outboxByHandInPostgres(pool) {
  const schema = `promised_${randomUUID().slice(0, 8)}`;
  await pool.query(`
    CREATE SCHEMA ${schema};
    CREATE TABLE ${schema}.event (seq bigserial PRIMARY KEY, id uuid NOT NULL, listener text NOT NULL, ordering_key text,
      digest text NOT NULL, body bytea, state int NOT NULL, due_at timestamptz NOT NULL, token uuid,
      attempt int NOT NULL DEFAULT 0, first_at timestamptz, attempts jsonb, ended_at timestamptz, UNIQUE (id, listener));
    CREATE INDEX ON ${schema}.event (listener, due_at, seq) WHERE state < ${DONE};
    CREATE INDEX ON ${schema}.event (listener, ordering_key, seq) WHERE state < ${DONE} AND ordering_key IS NOT NULL;
    CREATE TABLE ${schema}.held (listener text PRIMARY KEY);
    CREATE TABLE ${schema}.counts (listener text, state int, events bigint NOT NULL, PRIMARY KEY (listener, state));`);
  const counting = (rows) =>
    `INSERT INTO ${schema}.counts AS c ${rows} ON CONFLICT (listener, state) DO UPDATE SET events = c.events + excluded.events`;
  const insert = `WITH given AS (SELECT * FROM unnest($1::uuid[], $2::text[], $3::bytea[]) AS g (id, digest, body)),
    added AS (INSERT INTO ${schema}.event (id, listener, digest, body, state, due_at)
      SELECT id, '${LISTENER}', digest, body, ${WAITING}, now() FROM given ON CONFLICT DO NOTHING RETURNING id),
    counted AS (${counting(`SELECT '${LISTENER}', ${WAITING}, count(*) FROM added`)})
    SELECT count(*) AS other FROM given JOIN ${schema}.event AS e USING (id) WHERE e.digest <> given.digest`;
  const take = `WITH found AS (SELECT seq FROM ${schema}.event AS e WHERE state < ${DONE} AND listener = '${LISTENER}' AND due_at <= now()
      AND NOT EXISTS (SELECT 1 FROM ${schema}.held AS h WHERE h.listener = e.listener)
      AND (ordering_key IS NULL OR NOT EXISTS (SELECT 1 FROM ${schema}.event AS o WHERE o.state < ${DONE} AND o.listener = e.listener
        AND o.ordering_key = e.ordering_key AND o.seq < e.seq))
      ORDER BY due_at, seq LIMIT $1 FOR UPDATE SKIP LOCKED)
    UPDATE ${schema}.event AS e SET state = ${LEASED}, token = gen_random_uuid(), due_at = now() + interval '1 minute',
      attempt = attempt + 1, first_at = coalesce(first_at, now())
    FROM found WHERE e.seq = found.seq RETURNING e.seq, e.id, e.digest, e.body, e.token, e.attempt, e.first_at`;
  const end = `WITH done AS (UPDATE ${schema}.event AS e SET state = ${DONE}, token = NULL, body = NULL, ended_at = now(),
      attempts = g.attempts FROM unnest($1::bigint[], $2::uuid[], $3::jsonb[]) AS g (seq, token, attempts)
      WHERE e.seq = g.seq AND e.token = g.token RETURNING e.seq)
    ${counting(`SELECT '${LISTENER}', state, sign * (SELECT count(*) FROM done) FROM (VALUES (${WAITING}, -1), (${DONE}, 1)) AS v (state, sign)`)}`;
  const column = (rows, name) => rows.map((row) => row[name]);
  return asQueue({
    async store(events) {
      const values = ["id", "digest", "body"].map((name) => column(events, name));
      const { rows } = await pool.query({ name: "by-hand-insert", text: insert, values });
      if (rows[0].other > 0) throw new Error("another body under one id");
    },
    // Planned each time: a plan of when the table was empty would read all of it.
    claim: async (size) => (await pool.query(take, [size])).rows,
    async complete(ended) {
      const attempts = ended.map((row) => JSON.stringify(row.attempts));
      const values = [column(ended, "seq"), column(ended, "token"), attempts];
      await pool.query({ name: "by-hand-end", text: end, values });
    },
    close: () => pool.query(`DROP SCHEMA ${schema} CASCADE`),
    halves: true,
  });
}

/** What a queue of the bench does, by three steps. With `halves` one half is taken while the other one is sent. */
function asQueue({ store, claim, complete, close, halves = false }) {
  const enqueueMany = (payloads) =>
    store(
      payloads.map((payload) => {
        const body = Buffer.from(JSON.stringify(payload));
        return { id: randomUUID(), body, digest: digestOf(body) };
      }),
    );
  const attempted = async (row, send) => {
    if (digestOf(row.body) !== row.digest) throw new Error("the stored body is another one");
    const startedAt = Date.now();
    const begun = performance.now();
    const { attempts } = await send(row);
    const durationMs = performance.now() - begun;
    return {
      ...row,
      attempts: [{ number: row.attempt, startedAt, durationMs, status: attempts.at(-1).status }],
    };
  };
  const turn = async (send, size) => {
    const rows = await claim(size);
    if (rows.length > 0) await complete(await Promise.all(rows.map((row) => attempted(row, send))));
    return rows.length;
  };
  return {
    enqueue: (payload) => enqueueMany([payload]),
    enqueueMany,
    async consume(send, size = 100) {
      if (!halves) return everything(() => turn(send, size));
      return inHalves((half) => turn(send, half), size);
    },
    close,
  };
}

/** Takes turns until nothing is left; resolves to how many there were. */
export async function everything(turn) {
  for (let done = 0; ; ) {
    const count = await turn();
    if (count === 0) return done;
    done += count;
  }
}

/** The same, where the next half of the events is taken while the other one is sent. */
export async function inHalves(turn, size) {
  const half = () => everything(() => turn(size / 2));
  const [first, second] = await Promise.all([half(), half()]);
  return first + second;
}

function digestOf(body) {
  return createHash("sha256").update(body).digest("base64url");
}
