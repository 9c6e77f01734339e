// The faults of docs/guides/on-call.md that only PostgreSQL has, each walked by the page's own commands.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { started } from "../../test/kit/local-server.js";
import { describeWith } from "../../test/kit/needs.js";
import { emptyDatabase, ownPostgres, testPool } from "../../test/kit/postgres.js";
import { receiverServer, SECRET } from "../../test/kit/receiver-server.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { AT_POSTGRESQL, machine } from "./kit/on-call.js";

const postgres = await ownPostgres();
afterAll(() => postgres?.stop());
beforeAll(requireBuild);

describeWith("postgresql and curl", postgres)("on call, at PostgreSQL", () => {
  /** A database with an outbox in which one event waits. */
  async function stored() {
    const { url } = (await started(receiverServer())) as Awaited<ReturnType<typeof receiverServer>>;
    const database = await emptyDatabase(postgres?.url ?? "", "shop");
    const pool = testPool({ connectionString: database });
    const store = postgresStore({ pool });
    const outbox = createOutbox({
      store,
      listeners: { right: { url, signer: hmacSigner({ secret: SECRET }) } },
    });
    const put = () => outbox.enqueue({ listener: "right", payload: {} });
    await put();
    onTestFinished(async () => {
      await store.close();
      await pool.end();
    });
    return { url, database, pool, put };
  }

  const delivered = async (pool: pg.Pool) =>
    (await pool.query("SELECT FROM hookproof.event WHERE state = 'delivered'")).rowCount;

  it("a role without a right: the worker has the database's own words", async () => {
    const { url, database, pool } = await stored();
    await pool.query(
      "CREATE ROLE looks LOGIN; GRANT USAGE ON SCHEMA hookproof TO looks; GRANT SELECT ON ALL TABLES IN SCHEMA hookproof TO looks",
    );
    const { worker, fires, walk } = await machine(database.replace("postgres@", "looks@"), { right: url });
    await worker();
    await fires("HookproofStoreUnavailable");
    await walk("HookproofStoreUnavailable", {}, [
      ["curl -s http://127.0.0.1:9464/readyz", /permission denied for table event/],
      [`psql "$HOOKPROOF_OUTBOX" -c 'SELECT pg_is_in_recovery()'`, /^ f$/m],
    ]);
  });

  it("a role that may not count: events are delivered, and the worker tells that its upkeep fails", async () => {
    const { url, database, pool } = await stored();
    await pool.query(
      "CREATE ROLE works LOGIN; GRANT USAGE ON SCHEMA hookproof TO works; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hookproof TO works; REVOKE SELECT ON hookproof.tally FROM works",
    );
    const { worker, fires, walk } = await machine(database.replace("postgres@", "works@"), { right: url });
    const { said } = await worker();
    await fires("HookproofUpkeepFails");
    const words =
      /upkeep fails \(stats\); events are delivered all the same.*permission denied for table tally/;
    await expect.poll(said).toMatch(words);
    await expect.poll(() => delivered(pool)).toBe(1);
    await walk("HookproofUpkeepFails", {}, [
      ["hookproof outbox status", /permission denied for table tally/],
    ]);
  });

  it("a network that swallows connections: the worker says that nothing answers, and goes on after it", async () => {
    const { url, database, pool, put } = await stored();
    const target = new URL(database);
    const sockets: Socket[] = [];
    let isWell = true;
    const server = createServer((socket) => {
      sockets.push(socket.on("error", () => {}));
      if (!isWell) return; // accepted, and never answered
      const upstream = connect(Number(target.port), target.hostname);
      sockets.push(upstream.on("error", () => {}));
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const cut = () => {
      for (const socket of sockets.splice(0)) socket.destroy();
    };
    onTestFinished(() => {
      cut();
      server.close();
    });
    const far = Object.assign(new URL(database), { port: (server.address() as AddressInfo).port });
    const { worker, fires, walk } = await machine(far.href, { right: url });
    await worker();
    await expect.poll(() => delivered(pool)).toBe(1);
    isWell = false;
    for (const socket of sockets) socket.unpipe(); // not ended: that would be the reason
    await fires("HookproofStoreUnavailable");
    await walk("HookproofStoreUnavailable", {}, [
      ["curl -s http://127.0.0.1:9464/readyz", /cannot be used: .*(?:gave no connection|did not answer)/],
    ]);
    isWell = true;
    cut();
    await put();
    await expect.poll(() => delivered(pool)).toBe(2);
  });

  it("a schema that was dropped: the worker names it", async () => {
    const { url, database, pool } = await stored();
    const { worker, fires, walk } = await machine(database, { right: url });
    await worker();
    await expect.poll(() => delivered(pool)).toBe(1); // it has looked at the tables
    await pool.query("DROP SCHEMA hookproof CASCADE");
    await fires("HookproofStoreUnavailable");
    await walk("HookproofStoreUnavailable", {}, [
      // A call that was under way waits for the tables, and finds them gone by their numbers.
      [
        "curl -s http://127.0.0.1:9464/readyz",
        /(?:schema|relation|function) .*hookproof.* does not exist|could not open relation/,
      ],
    ]);
  });

  it("a server without a connection for the worker: the worker has its words, and goes on after it", async () => {
    const { url, database, pool, put } = await stored();
    await pool.query(
      "CREATE ROLE crowded LOGIN; GRANT USAGE ON SCHEMA hookproof TO crowded; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hookproof TO crowded",
    );
    const { worker, fires, walk } = await machine(database.replace("postgres@", "crowded@"), { right: url });
    const { said } = await worker();
    await expect.poll(() => delivered(pool)).toBe(1);
    await pool.query("ALTER ROLE crowded CONNECTION LIMIT 0");
    await pool.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'crowded'");
    await fires("HookproofStoreUnavailable");
    // First are the words with which its connections were ended, and these within seconds.
    const words = /too many connections for role \W*crowded/;
    await expect.poll(said).toMatch(words);
    await walk("HookproofStoreUnavailable", {}, [
      ["curl -s http://127.0.0.1:9464/readyz", words],
      [
        "hookproof outbox status",
        /the server has no connection left .*too many connections for role \\?"crowded/,
      ],
    ]);
    await pool.query("ALTER ROLE crowded CONNECTION LIMIT -1");
    await put();
    await expect.poll(() => delivered(pool)).toBe(2);
  });

  it("tables of a version to come: a drain and a worker name both versions", async () => {
    const { url, database, pool } = await stored();
    await pool.query("UPDATE hookproof.version SET version = 99");
    const { worker, fires, walk, start } = await machine(database, { right: url });
    const words = /made by a newer version. They have version 99, and this program knows \d+/;
    expect(await start("hookproof outbox work --drain")).toMatch(words);
    await worker();
    await fires("HookproofStoreUnavailable");
    await walk("HookproofStoreUnavailable", {}, [
      ["curl -s http://127.0.0.1:9464/readyz", words],
      ["hookproof outbox status", words],
    ]);
  });

  it("a database that is not UTF-8: a worker ends at once, and says why", async () => {
    const { url, database, pool } = await stored();
    await pool.query(
      "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    );
    const latin = Object.assign(new URL(database), { pathname: "/latin" });
    const { start } = await machine(latin.href, { right: url });
    expect(await start("hookproof outbox work --drain")).toMatch(/hookproof outbox create/);
    expect(await start("hookproof outbox create")).toMatch(/encoded in UTF8. It is LATIN1/);
  });

  it("a held snapshot: who holds it, until it is ended", async () => {
    const { url, database, pool, put } = await stored();
    const holder = new pg.Client({ connectionString: database, application_name: "the nightly report" });
    holder.on("error", () => {});
    await holder.connect();
    await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1");
    await pool.query(`
      INSERT INTO hookproof.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), 'right', 'waiting', 'bulk', now() - interval '1 min' FROM generate_series(1, 20000);
      UPDATE hookproof.event SET state = 'leased', token = id, leased_until = now() - interval '1 s' WHERE digest = 'bulk';
      UPDATE hookproof.event SET state = 'delivered', token = NULL, leased_until = NULL, ended_at = now() WHERE digest = 'bulk'`);
    const { worker, fires, walk, start } = await machine(database, { right: url });
    await worker();
    /** As events go on: how many listeners have a floor. */
    const floors = async () => {
      await put();
      return (await pool.query("SELECT FROM hookproof.floor WHERE due_from > '-infinity'")).rowCount;
    };
    await expect.poll(floors).toBe(1);
    await pool.query("UPDATE hookproof.floor SET noted_at = noted_at - interval '11 min'");
    await fires("HookproofSnapshotHeld");
    const statements = AT_POSTGRESQL.filter((command) => !command.startsWith("psql "));
    expect(statements).toHaveLength(4);
    const [asked = "", vacuumed = "", vacuum = "", floor = ""] = statements;
    await walk("HookproofSnapshotHeld", {}, [
      ["hookproof outbox status", /right +claims slowed for 11m/],
      [asked, /the nightly report/],
      [vacuumed, /n_dead_tup/],
      [vacuum, /VACUUM/],
      [floor, /right/],
    ]);
    await start(
      `psql "$HOOKPROOF_OUTBOX" -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'the nightly report'"`,
    );
    await pool.query("VACUUM hookproof.event");
    await expect.poll(floors).toBe(0);
  });
});
